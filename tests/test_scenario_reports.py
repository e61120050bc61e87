"""The summary and the picture of a run, from datasets whose numbers are known."""

import json

import numpy as np
import pytest
import xarray as xr

from multiarm.cli.closing import closing_rows
from multiarm.scenario import summary as summaries
from multiarm.scenario.figures import PANELS, draw_run
from multiarm.scenario.summary import TrackingError, energy_drift, summarise

T = np.linspace(0.0, 2.0, 401)


def dataset():
    """Two arms of one joint hold a box: torques sin and 2 cos, forces 1 and 3 upwards, a squeeze of 5 N."""
    n = len(T)
    wrench, internal = np.zeros((n, 2, 6)), np.zeros((n, 2, 6))
    wrench[:, 0, 5], wrench[:, 1, 5] = 1.0, 3.0
    wrench[:, 0, 3], wrench[:, 1, 3] = 5.0, -5.0
    internal[:, 0, 3], internal[:, 1, 3] = 5.0, -5.0
    tau = np.zeros((n, 8))
    tau[:, 0], tau[:, 1] = np.sin(T), 2.0 * np.cos(T)
    velocity = ["left/j", "right/j", *(f"box.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz"))]
    return xr.Dataset(
        {
            "step": ("time", np.arange(n)),
            "q": (("time", "coordinate"), np.zeros((n, 9))),
            "v": (("time", "velocity"), np.outer(T, np.ones(8))),
            "a": (("time", "velocity"), np.zeros((n, 8))),
            "tau": (("time", "velocity"), tau),
            "power": (("time", "velocity"), np.zeros((n, 8))),
            "wrench": (("time", "grasp", "axis"), wrench),
            "internal": (("time", "grasp", "axis"), internal),
            "share": (("time", "grasp"), np.tile([0.25, 0.75], (n, 1))),
            "slip_margin": (("time", "grasp"), np.column_stack([np.full(n, np.nan), 0.5 - 0.3 * T])),
            "kinetic_energy": ("time", T**2),
            "potential_energy": ("time", 3.0 - T),
            "work": ("time", T**2 - T + 1e-3 * T),
            "dissipated": ("time", np.zeros(n)),
            "closure_error": ("time", 1e-12 * np.sin(T)),
        },
        {
            "time": T,
            "velocity": velocity,
            "velocity_part": ("velocity", ["left", "right", *["box"] * 6]),
            "tau_unit": ("velocity", ["N m", "N m", *["N m"] * 3, *["N"] * 3]),
            "grasp": ["left", "right"],
            "grasp_body": ("grasp", ["box", "box"]),
            "axis": ["nx", "ny", "nz", "fx", "fy", "fz"],
        },
        {"title": "made up"},
    )


LIMITS = [4.0, 4.0, *[np.inf] * 6]


@pytest.mark.parametrize("block", [20_000, 37])
def test_the_summary_says_what_the_samples_say(monkeypatch, block):
    monkeypatch.setattr(summaries, "SAMPLES", block)
    found = summarise(dataset(), LIMITS, {"box": TrackingError(1e-3, 0.0, 0.1, 0.0)})
    assert (found.time, found.samples, found.steps) == (2.0, 401, 400)
    assert found.arms["left"].torque == pytest.approx(np.sin(T).max())
    assert found.arms["left"].used == pytest.approx(np.sin(T).max() / 4)
    assert (found.arms["right"].torque, found.arms["right"].used) == (2.0, 0.5)
    assert "box" not in found.arms
    assert found.grasps["left"].share == pytest.approx(0.25)
    assert found.grasps["right"].share_range == pytest.approx((0.75, 0.75))
    assert found.grasps["left"].internal_mean == pytest.approx(5.0)
    assert np.isnan(found.grasps["left"].slip_margin)
    assert found.grasps["right"].slip_margin == pytest.approx(-0.1)
    assert found.closure == pytest.approx(1e-12)
    assert found.energy_drift == pytest.approx(2e-3)
    assert found.energy_scale == pytest.approx(4.0)


def test_shares_ignore_moments_without_load():
    data = dataset()
    data["wrench"].values[:200] = 0.0
    data["wrench"].values[:200, 0, 5], data["wrench"].values[:200, 1, 5] = 1.0, -1.0 + 1e-9
    found = summarise(data).grasps["left"]
    assert found.share == pytest.approx(0.25)
    assert found.share_range == pytest.approx((0.25, 0.25))


def test_a_grasp_that_never_held_has_no_numbers():
    data = dataset()
    for name in ("wrench", "internal", "share", "slip_margin"):
        data[name].values[:, 1] = np.nan
    found = summarise(data).grasps
    assert np.isnan(found["right"].share)
    assert np.isnan(found["right"].internal_mean)
    assert found["left"].share == pytest.approx(1.0)


def test_the_balance_of_energy_counts_work_and_losses():
    data = dataset()
    data["work"].values[:] = T**2 - T
    assert energy_drift(data)[0] < 1e-15
    data["dissipated"].values[:] = 0.5 * T
    assert energy_drift(data)[0] == pytest.approx(1.0)


def test_missing_channels_are_left_out():
    found = summarise(dataset()[["q", "v"]])
    assert found.arms == {}
    assert np.isnan(found.closure)
    assert [label for label, _ in closing_rows(found)][-1] == "events"


def test_the_summary_is_json():
    events = [{"time": 1.0, "kind": "slip", "subject": "right", "message": "friction limit reached", "data": {}}]
    text = json.dumps(summarise(dataset(), None, {}, events).to_dict(), allow_nan=False)
    assert json.loads(text)["events"] == [
        {"time": 1.0, "kind": "slip", "subject": "right", "message": "friction limit reached"}
    ]
    assert json.loads(text)["grasps"]["left"]["slip_margin"] is None


def test_the_closing_table_names_what_matters():
    events = [{"time": 1.0, "kind": "slip", "subject": "right", "message": "friction limit reached"}] * 20
    rows = dict(closing_rows(summarise(dataset(), LIMITS, {"box": TrackingError(1e-3, 2e-4, 0.1, 0.0)}, events)))
    assert rows["tracking error of box"].startswith("at most 1 mm")
    assert rows["peak torque of right"] == "2 N m at right/j, 50% of its limit"
    assert rows["load share of left"] == "0.25"
    assert rows["internal force of left"] == "5 N mean, 5 N peak"
    assert rows["slip margin of right"] == "-0.1 at least: it slipped"
    assert rows["events"] == "20"
    assert rows[""] == "and 8 more"


def test_the_picture_has_a_panel_for_everything_recorded(tmp_path):
    tracking = {"box": (T, 1e-3 * np.sin(T) ** 2)}
    figure = draw_run(dataset(), LIMITS, tracking, [{"time": 1.0, "kind": "slip"}])
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["distance from the path [mm]", *PANELS]
    torque = figure.axes[1]
    assert [line.get_label() for line in torque.get_lines()[:2]] == ["left", "right"]
    assert torque.get_lines()[1].get_ydata().max() == pytest.approx(0.5)
    assert figure.axes[0].get_lines()[0].get_ydata().max() == pytest.approx(1.0, rel=1e-3)
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_the_picture_draws_what_there_is():
    data = dataset()
    assert [ax.get_title(loc="left") for ax in draw_run(data[["closure_error"]]).axes] == ["closure error"]
    assert draw_run(data[["q"]].isel(time=slice(0, 0))).axes == []
    assert "part of limit" not in [ax.get_ylabel() for ax in draw_run(data).axes]
