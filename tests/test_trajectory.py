"""Trajectories: the same samples, labels and units in memory, in a file and in a folder."""

import csv
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_blocks import EVENTS, PLAIN, assert_same, blocks_for, joined, layouts, plain_block

import multiarm as ma
from multiarm.joints import JOINT_KINDS
from multiarm.trajectory import (
    Channel,
    Event,
    Label,
    Layout,
    SegmentWriter,
    Trajectory,
    assemble,
    coordinate_labels,
    layout_of,
    load_trajectory,
    velocity_labels,
)


@pytest.fixture(scope="module")
def model():
    m = ma.Mechanism("two arms, one box")
    m.add_arm("left", ma.robots.panda(), base=(-0.5, 0, 0))
    m.add_arm("right", ma.robots.planar(3), base=(0.5, 0, 0))
    m.add_body("box", mass=1.0, inertia=(0.1, 0.1, 0.1), pose=(0, 0, 0.5))
    m.grasp("left", "box", at=(-0.1, 0, 0))
    m.grasp("right", "box", at=(0.1, 0, 0), kind="soft_finger", friction=0.5)
    return m.compile()


@pytest.fixture(scope="module")
def block(model):
    """Two seconds in which every coordinate of the arms follows its own sine."""
    block = layout_of(model).blank(201)
    block["time"] = np.linspace(0.0, 2.0, 201)
    block["step"][:] = np.arange(201)
    block["q"][:] = model.neutral
    rates = np.arange(1.0, 11.0)
    block["q"][:, :10] = np.sin(rates * block["time"][:, None])
    block["v"][:] = 0.0
    block["v"][:, :10] = rates * np.cos(rates * block["time"][:, None])
    block["tau"][:] = np.arange(model.nv) + block["time"][:, None]
    block["wrench"][:, 0] = np.arange(6.0)
    return block


SLIP = Event(0.7, "slip", "right", "friction limit reached", {"margin": -0.01, "at": [1, 2]})


@pytest.fixture
def trajectory(model, block):
    return Trajectory.from_blocks(layout_of(model), [block], [SLIP], model)


# ---------------------------------------------------------------------- labels


def test_every_entry_of_q_and_v_has_its_own_label_and_the_unit_of_its_joint():
    m = ma.Mechanism("one of each")
    settings = {"universal": {"axis2": (1, 0, 0)}, "screw": {"pitch": 0.01}}
    for i, kind in enumerate(kind for kind in JOINT_KINDS if kind != "fixed"):
        m.add_body(f"body{i}", mass=1.0, inertia=(1, 1, 1))
        m.add_joint(f"the {kind}", kind, parent="world", child=f"body{i}", **settings.get(kind, {}))
    m.add_body("free body", mass=1.0, inertia=(1, 1, 1))
    model = m.compile()
    layout = layout_of(model)
    for dim, part, slices, size in (
        ("coordinate", "coordinate_part", model.q_slice, model.nq),
        ("velocity", "velocity_part", model.v_slice, model.nv),
    ):
        labels = layout.coordinates[dim]
        parts = next(label.values for label in layout.labels if label.name == part)
        assert len(set(labels)) == size
        for name in model.joints:
            assert all(label.split(".")[0] == name for label in labels[slices(name)])
            assert set(parts[slices(name)]) == {name}
    units = {
        name: dict(zip(layout.coordinates[layout.channel(name).dims[0]], layout.channel(name).unit, strict=True))
        for name in "qva"
    }
    units["tau"] = dict(zip(layout.coordinates["velocity"], layout.channel("tau").unit, strict=True))
    assert units["q"]["the prismatic"] == "m"
    assert units["q"]["the revolute"] == units["q"]["the screw"] == units["q"]["the planar.angle"] == "rad"
    assert units["q"]["free body.qw"] == units["q"]["the spherical.qx"] == "1"
    assert units["v"]["free body.vx"] == units["v"]["the planar.vy"] == units["v"]["the cylindrical.v"] == "m/s"
    assert units["a"]["free body.wz"] == units["a"]["the cylindrical.w"] == "rad/s2"
    assert units["tau"]["free body.wz"] == units["tau"]["the universal.w2"] == "N m"
    assert units["tau"]["the prismatic"] == "N"
    # a coordinate whose rate is a velocity has that velocity's unit, times seconds
    for name, place in model.joints.items():
        if place.q.stop - place.q.start == place.v.stop - place.v.start:
            q, v = layout.channel("q").unit[place.q], layout.channel("v").unit[place.v]
            assert tuple(f"{unit}/s" for unit in q) == v, name


def test_labels_of_arms_and_free_bodies_read_as_the_names_users_gave(model):
    assert coordinate_labels(model)[:2] == ("left/panda_joint1", "left/panda_joint2")
    assert coordinate_labels(model)[-7:] == ("box.qx", "box.qy", "box.qz", "box.qw", "box.x", "box.y", "box.z")
    assert velocity_labels(model)[-6:] == ("box.wx", "box.wy", "box.wz", "box.vx", "box.vy", "box.vz")
    layout = layout_of(model)
    parts = next(label.values for label in layout.labels if label.name == "velocity_part")
    assert parts[model.v_slice("right")] == ("right",) * 3
    assert layout.coordinates["grasp"] == ("left", "right")
    assert layout.attributes["nq"] == model.nq
    assert layout.attributes["title"] == model.name
    assert layout.attributes["model"] == str(model)


def test_layouts_take_further_channels_grasps_and_attributes(model):
    layout = layout_of(
        model,
        grasps=("left", "right", "later"),
        extra=(
            Channel("reference", ("object", "pose"), ("1", "1", "1", "1", "m", "m", "m"), "where the object should be"),
            Channel("height", ("body",), "m"),
        ),
        coordinates={"object": ("box",)},
        attributes={"scenario": "lift: yes\n", "seeds": [1, 2]},
    )
    assert layout.shape("reference") == (1, 7)
    assert layout.shape("height") == (len(model.bodies) - 1,)
    assert layout.shape("wrench") == (3, 6)
    assert layout.attributes["scenario"] == "lift: yes\n"
    blank = layout.blank(2)
    assert np.isnan(blank["reference"]).all()
    assert (blank["step"] == -1).all()
    with pytest.raises(ma.UnknownNameError, match=r"no dimension 'object'.*coordinates= names the labels"):
        layout_of(model, extra=(Channel("reference", ("object", "pose")),))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Layout((Channel("q"), Channel("q"))), "two channels, dimensions or labels are called 'q'"),
        (lambda: Layout((Channel("time"),)), "are called 'time'"),
        (lambda: Layout((Channel("a/b"),)), "'a/b' cannot name a channel"),
        (lambda: Layout((Channel("q", ("joint",)),)), "no dimension 'joint'"),
        (lambda: Layout((Channel("q", ("x",), ("m", "m")),), {"x": ("a",)}), "2 units for a last dimension of 1"),
        (lambda: Layout((Channel("q", (), ("m",)),)), "1 units for a last dimension of no labels"),
        (lambda: Layout((Channel("q", ("x", "x")),), {"x": ("a",)}), "has a dimension twice"),
        (lambda: Layout((Channel("q", dtype="complex"),)), "'complex'.*Valid: 'float64'"),
        (lambda: Layout((), {"x": ("a", "a")}), "dimension 'x' has two labels 'a'"),
        (lambda: Layout((), {"x": ("a",)}, (Label("y", "x", ()),)), "0 values for 1 labels"),
        (lambda: Layout((), attributes={"events": 1}), "'events' cannot name an attribute"),
        (lambda: Layout((), attributes={"model": object()}), "cannot be stored as JSON: object"),
        (lambda: PLAIN.channel("Q"), "no channel 'Q'.*Valid: 'q', 'step'"),
        (lambda: Layout.from_json("[]"), "not a layout"),
    ],
)
def test_layouts_that_make_no_sense_are_refused(make, message):
    with pytest.raises((ma.BadInputError, ma.UnknownNameError), match=message):
        make()


# ---------------------------------------------------------------------- the same everywhere


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.data())
def test_memory_file_and_folder_hold_the_same(data):
    layout = data.draw(layouts())
    blocks, events = data.draw(blocks_for(layout)), data.draw(EVENTS)
    made = Trajectory.from_blocks(layout, blocks, events)
    assert made.events == events
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with SegmentWriter(place / "run", layout) as writer:
            for block in blocks:
                writer.append(block)
            for event in events:
                writer.event(event)
        made.save(place / "saved.nc", compress=data.draw(st.booleans()))
        assemble(place / "run", place / "assembled.nc")
        for source in ("run", "saved.nc", "assembled.nc"):
            with load_trajectory(place / source) as opened:
                xr.testing.assert_identical(opened.dataset, made.dataset)
                assert opened.events == events
                assert opened.channels == made.channels
                assert_same({n: opened[n].values for n in layout.fields}, joined(layout, blocks))
                assert_same({n: made[n].values for n in layout.fields}, joined(layout, blocks))
                opened.save(place / "again.nc")
            with load_trajectory(place / "again.nc") as again:
                xr.testing.assert_identical(again.dataset, made.dataset)


def test_plain_xarray_shows_dimensions_labels_and_units(trajectory, tmp_path):
    trajectory.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as dataset:
        assert dataset["wrench"].dims == ("time", "grasp", "axis")
        assert dataset["time"].attrs["units"] == "s"
        assert dataset["tau"].attrs == {"units": "N m or N", "long_name": "actuator torques and forces"}
        fz = dataset["wrench"].sel(grasp="left", axis="fz", time=1.0)
        assert fz.item() == 5.0
        assert fz["wrench_unit"].item() == "N"
        assert fz["grasp_kind"].item() == "rigid"
        assert dataset["q"].sel(coordinate="box.z").sel(time=0.5, method="nearest").item() == 0.5
        assert dataset["q"].sel(coordinate="box.z")["q_unit"].item() == "m"
        of_right = dataset["tau"].isel(velocity=dataset["velocity_part"] == "right")
        assert of_right["velocity"].values.tolist() == ["right/joint1", "right/joint2", "right/joint3"]
        assert dataset["event_kind"].values.tolist() == ["slip"]
        assert dataset["event_time"].values.tolist() == [0.7]
        assert '"margin": -0.01' in dataset.attrs["events"]
        assert dataset["step"].dtype == np.int64
        assert dataset.attrs["nv"] == 16
        assert np.isnan(dataset["internal"]).all()


def test_other_programs_read_the_file(trajectory, tmp_path):
    """HDF5 itself, without NetCDF's library, finds the names of the axes attached to the data."""
    import h5py

    with h5py.File(trajectory.save(tmp_path / "run.nc")) as file:
        assert [dim[0].name for dim in file["wrench"].dims] == ["/time", "/grasp", "/axis"]
        assert file["grasp"].asstr()[:].tolist() == ["left", "right"]
        assert file["time"].maxshape == (None,)
        assert np.array_equal(file["q"][:], trajectory.q)


def test_a_folder_is_read_where_it_is_indexed(model, block, tmp_path):
    with SegmentWriter(tmp_path / "run", layout_of(model)) as writer:
        for start in range(0, 201, 17):
            writer.append({name: array[start : start + 17] for name, array in block.items()})
    tau = load_trajectory(tmp_path / "run")["tau"]
    for key in (
        {"time": 5},
        {"time": -1, "velocity": 2},
        {"time": slice(3, 190, 20)},
        {"time": slice(190, 3, -20)},
        {"time": slice(None, None, -1), "velocity": slice(None, None, 3)},
        {"time": [7, 3, 200], "velocity": [1, 0]},
        {"time": slice(10, 10)},
    ):
        expected = xr.DataArray(block["tau"], dims=("time", "velocity")).isel(key)
        assert np.array_equal(tau.isel(key).values, expected.values), key


# ---------------------------------------------------------------------- using it


def test_arrays_states_and_nearest_samples(trajectory, model, block):
    assert len(trajectory) == 201
    for name in ("time", "q", "v", "tau"):
        assert np.array_equal(getattr(trajectory, name), block[name])
    assert np.isnan(trajectory.a).all()
    assert np.array_equal(trajectory.final.q, block["q"][-1])
    assert np.array_equal(trajectory.final.v, block["v"][-1])
    assert np.array_equal(trajectory.state(1.0).q, block["q"][100])
    for time, sample in ((0.0, 0), (0.0049, 0), (0.0051, 1), (0.2, 20), (1.996, 200), (2.0, 200)):
        assert trajectory.at(time)["step"].item() == sample
    assert trajectory.at(1.0)["wrench"].sel(grasp="left", axis="fx").item() == 3.0
    for time in (-0.1, 2.1, np.nan):
        with pytest.raises(ma.BadInputError, match="is outside the trajectory: 0 s to 2 s"):
            trajectory.at(time)


def test_a_final_state_that_is_given_is_kept(model, block):
    final = model.state(v=np.ones(model.nv))
    assert Trajectory.from_blocks(layout_of(model), [block], (), model, final).final is final


def test_unknown_channels_give_the_choices(trajectory, tmp_path):
    for ask in (lambda: trajectory["taus"], lambda: trajectory.to_csv(tmp_path / "run.csv", ["taus"])):
        with pytest.raises(ma.UnknownNameError, match=r"no channel 'taus'; did you mean 'tau'\?"):
            ask()
    plain = Trajectory.from_blocks(PLAIN, [plain_block(0, 3)])
    with pytest.raises(ma.UnknownNameError, match="no channel 'tau'; Valid: 'time', 'q', 'step'"):
        plain.tau  # noqa: B018
    assert not list(tmp_path.iterdir())


def test_states_need_a_model_that_fits(trajectory, model, tmp_path):
    path = trajectory.save(tmp_path / "run.nc")
    with pytest.raises(ma.BadInputError, match=r"states need a model.*load_trajectory\(path, model=model\)"):
        load_trajectory(path).final  # noqa: B018
    assert np.array_equal(load_trajectory(path, model).final.q, trajectory.final.q)
    other = ma.Mechanism("other")
    other.add_arm("left", ma.robots.chain(4))
    with pytest.raises(
        ma.BadInputError, match="not of model 'other': it has 17 entries along 'coordinate', the model 4"
    ):
        load_trajectory(path, other.compile())


def test_an_empty_trajectory_says_so(model):
    empty = Trajectory.from_blocks(layout_of(model), [], (), model)
    assert len(empty) == 0
    assert "no samples" in repr(empty)
    for ask in (lambda: empty.final, lambda: empty.at(0.0)):
        with pytest.raises(ma.BadInputError, match=r"no samples|without samples"):
            ask()


def test_blocks_of_a_trajectory_follow_each_other(model, block):
    with pytest.raises(ma.BadInputError, match="time must increase, but sample 201"):
        Trajectory.from_blocks(layout_of(model), [block, block])


def test_printing_says_what_is_there(trajectory):
    text = repr(trajectory)
    assert text.startswith("Trajectory of 'two arms, one box': 201 samples from 0 s to 2 s\n")
    assert "2 grasp x 6 axis: wrench [N m or N], internal [N m or N]" in text
    assert "0.7 s  slip  right: friction limit reached" in text


def test_a_table_reads_back_exactly(trajectory, block, tmp_path):
    path = trajectory.to_csv(tmp_path / "run.csv", ["q", "wrench", "step"])
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:2] == ["time [s]", "q left/panda_joint1 [rad]"]
    assert head[17:19] == ["q box.z [m]", "wrench left nx [N m]"]
    assert head[-2:] == ["wrench right fz [N]", "step [1]"]
    numbers = np.array(rows, float)
    assert np.array_equal(numbers[:, 0], block["time"])
    assert np.array_equal(numbers[:, 1:18], block["q"])
    assert np.array_equal(numbers[:, 18:30].reshape(-1, 2, 6), block["wrench"], equal_nan=True)
    assert rows[7][-1] == "7"
    everything = trajectory.to_csv(tmp_path / "all.csv").read_text().splitlines()
    assert len(everything) == 202
    assert len(next(csv.reader(everything))) == 1 + sum(np.prod(x.shape[1:], dtype=int) for x in block.values()) - 1


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.data())
def test_every_table_has_a_heading_for_each_number(data):
    layout = data.draw(layouts())
    blocks = data.draw(blocks_for(layout))
    with tempfile.TemporaryDirectory() as name:
        path = Trajectory.from_blocks(layout, blocks).to_csv(Path(name) / "run.csv")
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
    arrays = joined(layout, blocks)
    assert len(rows) == len(arrays["time"])
    flat = [array.reshape(len(rows), np.prod(array.shape[1:], dtype=int)) for array in arrays.values()]
    assert all(len(row) == len(head) == sum(array.shape[1] for array in flat) for row in rows)
    if rows:
        expected = np.hstack([array.astype(float) for array in flat])
        assert np.array_equal(np.array(rows, float), expected, equal_nan=True)


def test_a_changed_dataset_can_be_saved(trajectory, tmp_path):
    dataset = trajectory.dataset.isel(time=slice(50, 101))
    dataset["speed"] = abs(dataset["v"]).max("velocity")
    part = Trajectory(dataset)
    loaded = load_trajectory(part.save(tmp_path / "part.nc"))
    assert len(loaded) == 51
    assert np.array_equal(loaded["speed"].values, abs(trajectory.v[50:101]).max(axis=1))
    assert loaded.events == [SLIP]
    dataset["fit"] = ("coefficient", np.zeros(3))
    with pytest.raises(ma.BadInputError, match=r"variable 'fit'.*to_netcdf"):
        Trajectory(dataset).save(tmp_path / "part.nc")


def test_a_file_is_replaced_while_it_is_open(trajectory, tmp_path):
    path = trajectory.save(tmp_path / "run.nc")
    opened = load_trajectory(path)
    opened.save(path)
    opened.close()
    assert np.array_equal(load_trajectory(path).q, trajectory.q)
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]


def test_places_without_trajectory_are_named(tmp_path):
    (tmp_path / "text.nc").write_text("no file of HDF5")
    xr.Dataset({"x": ("i", np.zeros(3))}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    for name, message in (
        ("nothing.nc", "there is no such file or folder"),
        ("text.nc", "not a NetCDF-4 file"),
        ("other.nc", "not a trajectory: it has no coordinate 'time'"),
        (".", "no recording here"),
    ):
        with pytest.raises(ma.RecordingError, match=message):
            load_trajectory(tmp_path / name)
    with pytest.raises(ma.RecordingError, match=r"cannot write the file: No such file"):
        Trajectory.from_blocks(PLAIN, []).save(tmp_path / "no" / "run.nc")
    with pytest.raises(ma.RecordingError, match=r"cannot write the table: No such file"):
        Trajectory.from_blocks(PLAIN, []).to_csv(tmp_path / "no" / "run.csv")
    with pytest.raises(ma.BadInputError, match="coordinate 'time'"):
        Trajectory(xr.Dataset())


@pytest.mark.parametrize("error", [ma.RecordingError("run", "why", 3), ma.CorruptRecordingError("run", "why", 3)])
def test_errors_of_recordings_travel_with_their_evidence(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.__dict__) == (type(error), "run: why", error.__dict__)
    assert isinstance(back, OSError)
    assert pickle.loads(pickle.dumps(SLIP)) == SLIP
