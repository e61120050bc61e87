"""Runs that end by force, on a full disk, or late: other processes record, this one reads what they left."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from recorded_blocks import PLAIN, assert_plain, joined, plain_block

from multiarm.trajectory import SegmentReader, SegmentWriter, assemble, load_trajectory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

TESTS = Path(__file__).parent
START = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
import errno, os, resource, signal
import numpy as np
from multiarm.trajectory import *
from recorded_blocks import PLAIN, plain_block
folder = sys.argv[1]
"""


def python(program, *arguments, **options):
    command = [sys.executable, "-c", START + program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def finished(program, *arguments):
    with python(program, *arguments) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out.split()


@pytest.mark.parametrize("patience", [0.0, 0.02, 0.1])
def test_a_hard_kill_loses_nothing_that_was_written(tmp_path, patience):
    program = """
writer, start = SegmentWriter(folder, PLAIN), 0
while True:
    writer.append(plain_block(start, start + 20_000))
    start += 20_000
    print(start, flush=True)
    if start % 100_000 == 0:
        writer.event({"time": 0.25 * start, "kind": "mark"})
        writer.checkpoint({"start": start})
"""
    folder = tmp_path / "run"
    with python(program, folder) as process:
        told = [int(process.stdout.readline()) for _ in range(12)]
        time.sleep(patience)
        process.kill()
        told += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    reader = SegmentReader(folder)
    assert reader.samples >= told[-1] >= 240_000
    assert_plain(joined(reader.layout, list(reader.blocks())), 0, reader.samples)
    assert reader.checkpoint.samples == reader.checkpoint.data["start"] >= 200_000
    assert len(reader.events) >= reader.checkpoint.events >= 2
    with SegmentWriter.resume(folder, reader.checkpoint.samples) as writer:
        assert writer.events == reader.checkpoint.events
        writer.append(plain_block(writer.samples, writer.samples + 10))
        expected = writer.samples
    again = SegmentReader(folder)
    assert_plain(joined(again.layout, list(again.blocks())), 0, expected)
    assert len(load_trajectory(assemble(folder, tmp_path / "run.nc"))) == expected


def test_a_kill_within_a_write_leaves_a_torn_end(tmp_path):
    program = """
writer = SegmentWriter(folder, PLAIN)
writer.append(plain_block(0, 100))
write = os.write
def half(handle, data):
    write(handle, bytes(data)[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
os.write = half
writer.append(plain_block(100, 200))
"""
    with python(program, tmp_path / "run") as process:
        process.wait(60)
    reader = SegmentReader(tmp_path / "run")
    assert reader.torn is not None
    assert_plain(joined(reader.layout, list(reader.blocks())), 0, 100)
    assert len(load_trajectory(tmp_path / "run")) == 100
    with SegmentWriter.resume(tmp_path / "run") as writer:
        writer.append(plain_block(100, 130))
    reader = SegmentReader(tmp_path / "run")
    assert reader.torn is None
    assert_plain(joined(reader.layout, list(reader.blocks())), 0, 130)


def test_a_limit_of_the_file_system_loses_nothing(tmp_path):
    program = """
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
writer, start = SegmentWriter(folder, PLAIN), 0
try:
    while True:
        writer.append(plain_block(start, start + 1000))
        start += 1000
except RecordingError as error:
    assert error.__cause__.errno == errno.EFBIG
    assert error.samples == start == writer.samples
assert len(SegmentReader(folder)) == start
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append(plain_block(start, start + 1000))  # the disk has room again
writer.close()
print(start + 1000)
"""
    (samples,) = map(int, finished(program, tmp_path / "run"))
    assert samples == 7000  # 32 bytes each: six records of a thousand fit
    reader = SegmentReader(tmp_path / "run")
    assert_plain(joined(reader.layout, list(reader.blocks())), 0, samples)


def test_a_disk_too_full_for_the_file_leaves_segments_and_older_file_alone(tmp_path):
    with SegmentWriter(tmp_path / "run", PLAIN) as writer:
        writer.append(plain_block(0, 50_000))
    (tmp_path / "run.nc").write_text("an older result")
    program = """
for limit in (0, 100, 3_000, 10_000, 30_000, 200_000, 400_000, 1_000_000, 1_300_000, 1_600_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for compress in (False, True):
        try:
            assemble(folder, sys.argv[2], compress and limit < 200_000)
        except RecordingError as error:
            assert "File too large. The samples are still in" in str(error), error
            print("told")
"""
    assert finished(program, tmp_path / "run", tmp_path / "run.nc") == ["told"] * 20
    assert (tmp_path / "run.nc").read_text() == "an older result"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run.nc"]
    assert len(load_trajectory(assemble(tmp_path / "run", tmp_path / "run.nc"))) == 50_000


def test_a_million_samples_need_bounded_memory(tmp_path):
    """160 MB of samples are written, read, assembled, opened, saved and sampled within 64 MB more than an empty run."""
    program = """
import xarray, h5netcdf
channels = Channel("q", ("joint",), "rad"), Channel("step", (), "1", "", "int64")
layout = Layout(channels, {"joint": map(str, range(18))})
def block(start, count):
    number = np.arange(start, start + count)
    return {"time": 1e-3 * number, "q": number[:, None] + np.arange(18.0), "step": number}

def run(folder, samples, each):
    with SegmentWriter(folder, layout) as writer:
        for start in range(0, samples, each):
            writer.append(block(start, each))
    assert sum(len(piece["time"]) for piece in SegmentReader(folder).blocks()) == samples
    with load_trajectory(assemble(folder, folder + ".nc")) as stored, load_trajectory(folder) as trajectory:
        trajectory.save(folder + ".again.nc")
        for opened in (stored, trajectory):
            assert len(opened) == samples
            assert opened["q"].isel(time=samples // 2, joint=3).item() == samples // 2 + 3
            assert opened["step"].isel(time=slice(0, None, 100)).values[-1] == samples - 100

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "linux" else 1024)

run(folder + "-short", 5000, 5000)
before = most()
run(folder + "-long", 1_000_000, 5000)
print(most() - before)
"""
    (kilobytes,) = map(int, finished(program, tmp_path / "run"))
    assert kilobytes < 64_000
    size = sum(path.stat().st_size for path in (tmp_path / "run-long").iterdir())
    assert size > 1_000_000 * 20 * 8 > 2 * 1000 * kilobytes
    assert np.array_equal(load_trajectory(tmp_path / "run-long")["step"].values, np.arange(1_000_000))
