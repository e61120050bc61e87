"""Samples on disk come back as they were given, after any kind of end."""

import errno
import itertools
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_blocks import EVENTS, PLAIN, assert_plain, assert_same, blocks_for, joined, layouts, plain_block

import multiarm as ma
from multiarm.trajectory import Layout, SegmentReader, SegmentWriter, segments
from multiarm.trajectory.reader import regrouped


def record(folder, *lengths, flush=False):
    """A recording with blocks of these lengths; returns where each record ends in its file."""
    ends, start = [], 0
    with SegmentWriter(folder, PLAIN) as writer:
        for length in lengths:
            writer.append(plain_block(start, start + length))
            start += length
            ends.append((folder / "segment-000001.bin").stat().st_size)
            if flush:
                writer.flush()
    return ends


def everything(folder):
    reader = SegmentReader(folder)
    return joined(reader.layout, list(reader.blocks()))


# ---------------------------------------------------------------------- round trips


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_what_is_appended_is_read(data):
    layout = data.draw(layouts())
    blocks, events = data.draw(blocks_for(layout)), data.draw(EVENTS)
    size = data.draw(st.integers(1, 7))
    expected = joined(layout, blocks)
    with tempfile.TemporaryDirectory() as folder:
        with SegmentWriter(folder, layout) as writer:
            for block in blocks:
                writer.append(block)
            for event in events:
                writer.event(event)
            writer.checkpoint({"samples": writer.samples})
        reader = SegmentReader(folder)
        assert reader.layout == layout
        assert reader.events == events
        assert reader.torn is None
        assert reader.samples == reader.checkpoint.samples == reader.checkpoint.data["samples"] == len(expected["time"])
        assert_same(joined(layout, list(reader.blocks())), expected)
        pieces = list(reader.blocks(size))
        assert_same(joined(layout, pieces), expected)
        assert all(len(piece["time"]) == size for piece in pieces[:-1])
        start, step = data.draw(st.integers(0, 12)), data.draw(st.integers(1, 5))
        stop = data.draw(st.none() | st.integers(0, 20))
        assert_same(
            {n: reader.read(n, start, stop, step) for n in expected},
            {n: x[start:stop:step] for n, x in expected.items()},
        )


@given(layouts())
def test_a_layout_is_its_own_json(layout):
    assert Layout.from_json(layout.to_json()) == layout
    assert Layout.from_json(layout.to_json()).digest == layout.digest


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 11))
def test_regrouping_keeps_the_samples(lengths, size):
    starts = list(itertools.accumulate(lengths, initial=0))
    blocks = [plain_block(start, start + length) for start, length in zip(starts, lengths, strict=False)]
    pieces = list(regrouped(blocks, size))
    assert_plain(joined(PLAIN, pieces), 0, sum(lengths))
    assert [len(piece["time"]) for piece in pieces[:-1]] == [size] * (len(pieces) - 1)


def test_full_segments_are_followed_by_new_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 1000)
    monkeypatch.setattr(segments, "RECORD_BYTES", 300)
    with SegmentWriter(tmp_path, PLAIN) as writer:
        for start in range(0, 200, 20):
            writer.append(plain_block(start, start + 20))
    files = sorted(tmp_path.glob("segment-*.bin"))
    assert len(files) > 5
    assert all(file.stat().st_size <= 1000 for file in files[:-1])
    assert_plain(everything(tmp_path), 0, 200)
    reader = SegmentReader(tmp_path)
    assert np.array_equal(reader.read("step", 13, 187, 31), np.arange(13, 187, 31))
    files[3].unlink()
    with pytest.raises(ma.CorruptRecordingError, match="is a segment file missing"):
        SegmentReader(tmp_path)


# ---------------------------------------------------------------------- torn and damaged files


def test_a_file_cut_anywhere_keeps_its_complete_records(tmp_path):
    whole, lengths = tmp_path / "whole", (3, 1, 0, 4)
    ends = record(whole, *lengths)
    segment = whole / "segment-000001.bin"
    content = segment.read_bytes()
    for size in range(len(content) + 1):
        segment.write_bytes(content[:size])
        reader = SegmentReader(whole)
        complete = sum(length for length, end in zip(lengths, ends, strict=True) if end <= size)
        assert reader.samples == complete
        assert_plain(joined(PLAIN, list(reader.blocks())), 0, complete)
        at_an_end = size in (0, *ends, len(content))
        assert (reader.torn is None) == at_an_end
        if not at_an_end:
            assert reader.torn.offset + reader.torn.bytes == size
            assert reader.torn.offset in (0, *ends)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 5))
def test_a_recording_goes_on_after_a_cut_anywhere(where, more):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record(folder, 3, 1, 4)
        segment = folder / "segment-000001.bin"
        content = segment.read_bytes()
        segment.write_bytes(content[: where % (len(content) + 1)])
        with SegmentWriter.resume(folder) as writer:
            kept = writer.samples
            writer.append(plain_block(kept, kept + more))
        assert SegmentReader(folder).torn is None
        assert_plain(everything(folder), 0, kept + more)


def test_any_changed_byte_of_a_finished_recording_is_noticed(tmp_path):
    ends = record(tmp_path, 3, 1, 4)
    segment = tmp_path / "segment-000001.bin"
    content = segment.read_bytes()
    for i in range(ends[-1]):
        damaged = bytearray(content)
        damaged[i] ^= 1 << (i % 8)
        segment.write_bytes(damaged)
        intact = sum(length for length, end in zip((3, 1, 4), ends, strict=True) if end <= i)
        with pytest.raises(ma.CorruptRecordingError, match=f"{intact} samples before it are intact") as caught:
            SegmentReader(tmp_path)
        assert caught.value.samples == intact
    for i in range(ends[-1], len(content)):  # the mark behind the samples: nothing is lost with it
        damaged = bytearray(content)
        damaged[i] ^= 1 << (i % 8)
        segment.write_bytes(damaged)
        assert SegmentReader(tmp_path).samples == 8


def test_the_samples_before_damage_can_be_gone_on_from(tmp_path):
    ends = record(tmp_path, 3, 1, 4)
    segment = tmp_path / "segment-000001.bin"
    content = bytearray(segment.read_bytes())
    content[ends[1] - 1] ^= 1
    segment.write_bytes(content)
    with pytest.raises(ma.CorruptRecordingError):
        SegmentWriter.resume(tmp_path)
    with SegmentWriter.resume(tmp_path, samples=3) as writer:
        writer.append(plain_block(3, 10))
    assert_plain(everything(tmp_path), 0, 10)


def test_unsynced_records_of_a_stopped_run_may_be_in_any_state(tmp_path):
    """After a power cut the system may have kept a later record and lost an earlier one; neither was promised."""
    writer = SegmentWriter(tmp_path, PLAIN)
    writer.append(plain_block(0, 3))
    writer.flush()
    segment = tmp_path / "segment-000001.bin"
    synced = segment.stat().st_size
    writer.append(plain_block(3, 6))
    writer.append(plain_block(6, 9))
    content = bytearray(segment.read_bytes())
    content[synced : synced + 60] = bytes(60)
    segment.write_bytes(content)
    reader = SegmentReader(tmp_path)
    assert reader.samples == 3
    assert reader.torn.bytes == len(content) - synced
    assert "are left out" in str(reader.torn)
    content[synced - 1] ^= 1
    segment.write_bytes(content)
    with pytest.raises(ma.CorruptRecordingError):
        SegmentReader(tmp_path)
    writer.close()


def test_a_checkpoint_tells_that_samples_are_gone(tmp_path):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.append(plain_block(0, 5))
        writer.checkpoint(b"state")
    (tmp_path / "segment-000001.bin").write_bytes(b"")
    with pytest.raises(ma.CorruptRecordingError, match=r"5 samples were safe .* only 0 can be read"):
        SegmentReader(tmp_path)


@pytest.mark.parametrize("cut", range(1, 60))
def test_an_event_cut_short_is_left_out(tmp_path, cut):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.event({"time": 1.0, "kind": "made", "subject": "left"})
        writer.event({"time": 2.0, "kind": "lost", "subject": "left"})
    path = tmp_path / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    assert [event.kind for event in SegmentReader(tmp_path).events] == ["made"]
    with SegmentWriter.resume(tmp_path) as writer:
        assert writer.events == 1
        writer.event({"time": 2.5, "kind": "slip"})
    assert [event.kind for event in SegmentReader(tmp_path).events] == ["made", "slip"]


def test_a_damaged_line_among_the_events_is_an_error(tmp_path):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.event({"time": 1.0, "kind": "made"})
        writer.event({"time": 2.0, "kind": "lost"})
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"#" + path.read_bytes()[1:])
    with pytest.raises(ma.CorruptRecordingError, match="line 1 is damaged"):
        SegmentReader(tmp_path)


def test_a_damaged_checkpoint_is_an_error(tmp_path):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.checkpoint(b"state")
    path = tmp_path / "checkpoint"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ma.CorruptRecordingError, match="checkpoint is damaged"):
        SegmentReader(tmp_path)


def test_segments_of_another_layout_are_refused(tmp_path):
    record(tmp_path, 3)
    other = Layout(PLAIN.channels[:1], PLAIN.coordinates)
    (tmp_path / "layout.json").write_text(other.to_json())
    with pytest.raises(ma.RecordingError, match="another layout"):
        SegmentReader(tmp_path)


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("samples", range(13))
def test_a_recording_is_cut_after_any_sample(tmp_path, monkeypatch, samples):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 250)
    with SegmentWriter(tmp_path, PLAIN) as writer:
        for start, stop in ((0, 5), (5, 6), (6, 12)):
            writer.append(plain_block(start, stop))
            writer.event({"time": 0.25 * (stop - 1), "kind": "late"})
            if stop == 6:
                writer.checkpoint({"q": np.array([0.1, np.nextafter(0.1, 1)])})
                writer.event({"time": 0.25 * 5, "kind": "after the checkpoint"})
    with SegmentWriter.resume(tmp_path, samples) as writer:
        assert writer.samples == writer.durable == samples
        assert writer.last_time == (0.25 * (samples - 1) if samples else None)
        writer.append(plain_block(samples, 20))
    reader = SegmentReader(tmp_path)
    assert_plain(joined(PLAIN, list(reader.blocks())), 0, 20)
    kinds = [event.kind for event in reader.events]
    assert kinds == {5: ["late"], 6: ["late", "late"]}.get(
        samples, [] if samples < 5 else ["late", "late", "after the checkpoint"] + ["late"] * (samples == 12)
    )
    if samples < 6:
        assert reader.checkpoint is None
    else:
        assert reader.checkpoint.data == {"q": [0.1, np.nextafter(0.1, 1)]}
        assert reader.checkpoint.time == 0.25 * 5


def test_a_recording_cannot_go_on_after_more_than_it_has(tmp_path):
    record(tmp_path, 3)
    with pytest.raises(ma.BadInputError, match="after 4 samples, there are 3"):
        SegmentWriter.resume(tmp_path, 4)
    with SegmentWriter.resume(tmp_path) as writer:  # and the failure let go of the folder
        assert writer.samples == 3


def test_two_writers_on_one_folder_are_refused(tmp_path):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        for begin in (lambda: SegmentWriter(tmp_path, PLAIN), lambda: SegmentWriter.resume(tmp_path)):
            with pytest.raises(ma.RecordingError, match=f"another writer .process {os.getpid()}."):
                begin()
        writer.append(plain_block(0, 2))
    assert_plain(everything(tmp_path), 0, 2)


def test_a_recording_is_not_overwritten(tmp_path):
    record(tmp_path, 2)
    with pytest.raises(ma.RecordingError, match="holds a recording already"):
        SegmentWriter(tmp_path, PLAIN)
    assert_plain(everything(tmp_path), 0, 2)


def test_a_folder_without_recording_is_named(tmp_path):
    for begin in (SegmentReader, SegmentWriter.resume):
        with pytest.raises(ma.RecordingError, match=r"no recording here: there is no layout\.json"):
            begin(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_closed_writer_writes_no_more(tmp_path):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        pass
    writer.close()
    with pytest.raises(ma.RecordingError, match="it is closed"):
        writer.append(plain_block(0, 1))


# ---------------------------------------------------------------------- blocks that do not fit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros((3, 3))}, r"channel 'q': expected shape \(3, 2\) \(time first\), not \(3, 3\)"),
        ({"step": np.zeros(2, int)}, r"channel 'step': expected shape \(3,\)"),
        ({"step": np.zeros(3)}, "channel 'step': float64 does not go into int64"),
        ({"q": np.full((3, 2), "a")}, "channel 'q'"),
        ({"torque": np.zeros(3)}, "no channel 'torque'; Valid: 'time', 'q', 'step'"),
        ({"time": np.array([2.0, 3.0, 3.0])}, "time must increase, but sample 2 of the block is at 3.0 s after 3.0 s"),
        ({"time": np.array([0.25, 3.0, 4.0])}, "sample 0 of the block is at 0.25 s after 0.25 s"),
        ({"time": np.array([1.0, np.nan, 4.0])}, "time of sample 1 of the block is nan"),
        ({"step": None}, "the block lacks channel 'step'"),
    ],
)
def test_a_block_that_does_not_fit_is_refused(tmp_path, change, message):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.append(plain_block(0, 2))
        block = {name: array for name, array in {**plain_block(2, 5), **change}.items() if array is not None}
        with pytest.raises((ma.BadInputError, ma.UnknownNameError), match=message):
            writer.append(block)
        writer.append(plain_block(2, 5))
    assert_plain(everything(tmp_path), 0, 5)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"kind": "slip"}, "an event needs its 'time'"),
        ({"time": np.nan, "kind": "slip"}, "not finite"),
        ({"time": "soon", "kind": "slip"}, "'soon' is no time"),
        ({"time": 1.0, "kind": "slip", "who": "left"}, "no field of an event 'who'"),
        ({"time": 1.0, "kind": "slip", "data": {"a": object()}}, "cannot be stored as JSON"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(tmp_path, event, message):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        with pytest.raises((ma.BadInputError, ma.UnknownNameError), match=message):
            writer.event(event)
        with pytest.raises(ma.BadInputError, match="bytes or a dict, not list"):
            writer.checkpoint([1, 2])
    assert SegmentReader(tmp_path).events == []


# ---------------------------------------------------------------------- disks that fail


def failing(monkeypatch, error):
    """From now on, the system takes half of what it is given, then fails."""
    write = os.write

    def half(handle, data):
        if not half.failed:
            half.failed = True
            return write(handle, bytes(data)[: len(data) // 2])
        half.failed = False
        raise error

    half.failed = False
    monkeypatch.setattr(os, "write", half)


def test_a_full_disk_loses_nothing_and_the_writer_can_go_on(tmp_path, monkeypatch):
    writer = SegmentWriter(tmp_path, PLAIN)
    writer.append(plain_block(0, 4))
    writer.event({"time": 0.5, "kind": "made"})
    with monkeypatch.context() as disk:
        failing(disk, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        with pytest.raises(ma.RecordingError, match="No space left on device; 4 samples are safe") as caught:
            writer.append(plain_block(4, 9))
        assert caught.value.samples == 4
        assert caught.value.path == str(tmp_path)
        assert isinstance(caught.value.__cause__, OSError)
        with pytest.raises(ma.RecordingError, match="cannot write an event: No space left"):
            writer.event({"time": 0.75, "kind": "lost"})
        reader = SegmentReader(tmp_path)
        assert reader.torn is None
        assert_plain(joined(PLAIN, list(reader.blocks())), 0, 4)
        assert [event.kind for event in reader.events] == ["made"]
    writer.append(plain_block(4, 9))
    writer.event({"time": 1.0, "kind": "found"})
    writer.close()
    assert_plain(everything(tmp_path), 0, 9)
    assert [event.kind for event in SegmentReader(tmp_path).events] == ["made", "found"]


def test_an_interrupt_within_a_write_leaves_no_half_record(tmp_path, monkeypatch):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.append(plain_block(0, 4))
        with monkeypatch.context() as disk:
            failing(disk, KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                writer.append(plain_block(4, 9))
        writer.append(plain_block(4, 6))
    assert_plain(everything(tmp_path), 0, 6)


def test_after_a_failed_sync_only_what_was_synced_before_is_called_safe(tmp_path, monkeypatch):
    """A system that failed to write forgets it: a second sync would tell that all is well."""
    writer = SegmentWriter(tmp_path, PLAIN)
    writer.append(plain_block(0, 4))
    writer.flush()
    writer.append(plain_block(4, 6))

    def no_sync(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", no_sync)
        with pytest.raises(ma.RecordingError, match="4 samples are safe"):
            writer.flush()
    with pytest.raises(ma.RecordingError, match="a sync failed after sample 4"):
        writer.append(plain_block(6, 7))
    writer.close()
    with SegmentWriter.resume(tmp_path, 4) as writer:
        writer.append(plain_block(4, 6))
    assert_plain(everything(tmp_path), 0, 6)


def test_a_checkpoint_is_replaced_whole(tmp_path, monkeypatch):
    with SegmentWriter(tmp_path, PLAIN) as writer:
        writer.append(plain_block(0, 2))
        writer.checkpoint(b"first")
        writer.append(plain_block(2, 4))

        def no_replace(old, new):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as disk:
            disk.setattr(os, "replace", no_replace)
            with pytest.raises(ma.RecordingError, match="cannot write the checkpoint"):
                writer.checkpoint(b"second")
        reader = SegmentReader(tmp_path)
        assert (reader.checkpoint.data, reader.checkpoint.samples, reader.samples) == (b"first", 2, 4)
        writer.checkpoint(b"third")
    assert SegmentReader(tmp_path).checkpoint.data == b"third"
    assert not list(tmp_path.glob("*.partial"))


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ma.RecordingError, match="cannot begin a recording"):
        SegmentWriter(tmp_path / "file", PLAIN)


def test_a_live_recording_can_be_read_and_copied(tmp_path):
    with SegmentWriter(tmp_path / "run", PLAIN) as writer:
        writer.append(plain_block(0, 4))
        assert_plain(everything(tmp_path / "run"), 0, 4)
        shutil.copytree(tmp_path / "run", tmp_path / "copy")
        writer.append(plain_block(4, 5))
    with SegmentWriter.resume(tmp_path / "copy") as writer:
        assert writer.samples == 4
