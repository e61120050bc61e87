"""The benchmark of simulations lets the same team fall in all programs, and judges figures. No times are asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import multiarm as ma
from benchmarks import simulate, simulated_peers, teams

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

STEPS = 40


@pytest.fixture(scope="module")
def pandas():
    return teams.pandas(2, 1)


@pytest.fixture(scope="module")
def falls(pandas):
    """Where everybody is after a short fall by RK4."""
    found = {}
    for run in simulated_peers.runs(pandas, "rk4", simulate.H):
        run.reset()
        run.go(STEPS)
        found[run.name] = run.state()
    return found


def test_everybody_falls_alike(pandas, falls):
    q, v = falls["rollout"]
    fallen = ma.energy(pandas.model, pandas.model.state(q=q, v=v))
    assert fallen.kinetic > 1.0
    for name, (other_q, other_v) in falls.items():
        soft = name.startswith("mj_step")
        assert np.abs(other_q - q).max() < (1e-5 if soft else 1e-8)
        assert np.abs(other_v - v).max() < (1e-3 if soft else 1e-6)


def test_single_steps_and_rollout_agree_to_the_bit(falls):
    for one, other in zip(falls["rollout"], falls["Simulation.step"], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("method", simulated_peers.METHODS)
def test_a_run_can_be_reset(pandas, method):
    for run in simulated_peers.runs(pandas, method, simulate.H):
        ends = []
        for _ in range(2):
            run.reset()
            run.go(3)
            ends.append(run.state())
        for one, other in zip(*ends, strict=True):
            assert np.array_equal(one, other)


def test_loop_over_pinocchio_converges(pandas):
    """Of half the step the error is a quarter or less: the turn of the free body is of order 2, the rest of 4."""
    ends = []
    for division in (1, 2, 4):
        run = simulated_peers.pinocchio_run(pandas, "rk4", 8 * simulate.H / division)
        run.reset()
        run.go(25 * division)
        ends.append(np.concatenate(run.state()))
    assert np.abs(ends[1] - ends[2]).max() < 0.3 * np.abs(ends[0] - ends[1]).max()


def test_physics_of_a_fall(pandas):
    """Hard constraints stay closed and energy is kept; an oracle with a wrong velocity is found out."""
    ours = simulated_peers.our_run(pandas, "rk4", simulate.H)
    found = simulate.physics(pandas, ours, STEPS, 5)
    assert found["closure"] < 1e-12 and found["energy_error"] < 1e-9
    wrong = simulated_peers.Run(
        "", "", "rk4", ours.reset, ours.go, lambda: (ours.state()[0], 1.01 * ours.state()[1])
    )  # fmt: skip
    assert simulate.physics(pandas, wrong, STEPS, 5)["energy_error"] == pytest.approx(1.01**2 - 1.0, rel=0.05)


# --- the program ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Report and output of a small run."""
    file = tmp_path_factory.mktemp("benchmark") / "simulate.json"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ARMS": (2,), "FALL": STEPS, "BLOCK": 2, "LIFT": 0.5}.items():
            patch.setattr(simulate, name, value)
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *parts, **_: lines.append(" ".join(map(str, parts))))
        assert simulate.main(["--quick", "--json", str(file)]) == 0
    return json.loads(file.read_text(encoding="utf-8")), "\n".join(lines)


def test_report_has_speeds_errors_and_ratios(report):
    found, output = report
    assert [(row["arms"], row["method"]) for row in found["falls"]] == [(2, "rk4"), (2, "euler")]
    for row in found["falls"]:
        assert [run["program"] for run in row["runs"]] == ["multiarm"] * 2 + ["pinocchio"] + ["mujoco"] * 2
        assert all(run["steps_per_second"] > 0.0 for run in row["runs"])
        assert row["closure"] < 1e-12 < row["mujoco_closure"] < 1e-3
        fastest = max(run["steps_per_second"] for run in row["runs"] if run["program"] == "mujoco")
        assert row["mujoco_ratio"] == pytest.approx(row["runs"][0]["steps_per_second"] / fastest)
        assert row["energy_error"] < (1e-9 if row["method"] == "rk4" else 0.1)
    assert found["benchmark"] == "simulate" and found["machine"]["cpu"] and set(found["units"]) >= {"closure"}
    assert {"multiarm", "pinocchio", "mujoco", "numba", "numpy", "python"} == set(found["versions"])
    assert "2 Pandas fall, euler (nv 20)" in output and "times real time" in output


def test_lift_follows_its_path(report):
    lifted = report[0]["lift"]
    assert lifted["real_times"] > 0.0 and lifted["tracking"] < 1e-3 and lifted["closure"] < 1e-12


# --- judging ----------------------------------------------------------------------------------------------------------


def made_up_report(loop=3.5, mujoco=2.0, closure=1e-14, real_times=30.0):
    """Figures by the speeds of the peers relative to ours."""
    entries = [
        {"name": "rollout", "program": "multiarm", "steps_per_second": 6e4, "closure": closure, "energy_error": 1e-7},
        {"name": "loop", "program": "pinocchio", "steps_per_second": 6e4 / loop, "closure": 1e-5, "energy_error": 1e-5},
        {"name": "dense", "program": "mujoco", "steps_per_second": 6e4 / mujoco, "closure": 1e-4, "energy_error": 1e-4},
        {"name": "slow", "program": "mujoco", "steps_per_second": 10.0, "closure": 0.0, "energy_error": 0.0},
    ]
    row = {"arms": 2, "method": "rk4", "runs": entries} | simulate.verdict(entries)
    return {"falls": [row, row | {"method": "euler", "pinocchio_ratio": 0.1}], "lift": {"real_times": real_times}}


def test_check_asks_for_what_was_promised():
    assert simulate.failures(made_up_report()) == []
    assert simulate.failures(made_up_report(loop=2.9)) == ["2 arms, RK4: 2.90 times the loop over Pinocchio, below 3.0"]
    assert simulate.failures(made_up_report(mujoco=0.9)) == ["2 arms, RK4: 0.90 times MuJoCo, not faster"]
    assert len(simulate.failures(made_up_report(closure=1e-3))) == 1
    assert simulate.failures(made_up_report(real_times=19.0)) == ["lift: 19.0 times real time, below 20.0"]
    assert len(simulate.failures(made_up_report(np.nan, np.nan, np.nan, np.nan))) == 4


@pytest.mark.parametrize(("loop", "code"), [(3.5, 0), (1.0, 1)])
def test_check_sets_the_exit_code(monkeypatch, capsys, loop, code):
    monkeypatch.setattr(simulate, "run_all", lambda rounds, lifts: made_up_report(loop))
    assert simulate.main(["--check"]) == code
    assert ("falls short" in capsys.readouterr().out) == bool(code)
    assert simulate.main([]) == 0


def test_folder_for_the_results_must_exist(tmp_path, capsys):
    with pytest.raises(SystemExit):
        simulate.main(["--json", str(tmp_path / "nowhere" / "file.json")])
    assert "nowhere" in capsys.readouterr().err
