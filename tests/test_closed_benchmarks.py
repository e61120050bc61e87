"""The closed-chain benchmark compares the same mechanisms, makes its tables, and judges figures. No times are asserted.

Its prepared calls are replaced by the dense solver here: what they answer is tested elsewhere.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import multiarm as ma
from benchmarks import closed_chain, closed_peers, teams
from multiarm.constraints import constraints

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

STATES = 2


class DenseCalls:
    """The prepared calls' signatures over the dense solver."""

    def __init__(self, model: ma.Model) -> None:
        self.model = model

    def forward_dynamics(self, q, v, tau, out):
        out[:] = ma.forward_dynamics(self.model, self.model.state(q=q, v=v), tau, solver="dense").a
        return out

    def forward_dynamics_by(self, solver):
        assert solver in closed_chain.RCCFD
        return self.forward_dynamics


@pytest.fixture(scope="module")
def pandas():
    return teams.pandas(2, STATES)


TEAMS = {
    "pandas": lambda: teams.pandas(3, STATES),
    "carried": lambda: teams.pandas(2, STATES, carried=True),
    "chains": lambda: teams.chains(8, STATES),
}


# --- mechanisms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_states_are_closed_and_move(make):
    team = make()
    for q, v in zip(team.q, team.v, strict=True):
        rows = constraints(team.model, team.model.state(q=q, v=v))
        assert len(rows.gap) == team.rows == 6 * len(team.model.cuts)
        assert np.abs(rows.gap).max() < 1e-9 and np.abs(rows.slip).max() < 1e-9
        assert np.abs(v).max() > 0.1
    assert not np.array_equal(team.q[0], team.q[1])


def test_box_in_the_first_hand_moves_like_the_free_one():
    free, carried = teams.pandas(2, STATES), teams.pandas(2, STATES, carried=True)
    assert (free.rows, carried.rows) == (12, 6) and free.model.nv == carried.model.nv + 6
    for a, b in zip(free.expected, carried.expected, strict=True):
        assert np.abs(a[: carried.model.nv] - b).max() < 1e-10 * np.abs(a).max()


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_peers_have_the_same_mechanism(make):
    team = make()
    limits = {"constraintDynamics": 1e-9, "lcaba": 1e-5, "mj_forward": 0.05}  # of soft constraints no more is expected
    routes = [*closed_peers.pinocchio_routes(team), *closed_peers.mujoco_routes(team)]
    assert {route.name.split(",")[0] for route in routes} == set(limits)
    for route in routes:
        assert closed_chain.largest_error(team, route, limits[route.name.split(",")[0]]) > 0.0


def test_mujoco_approaches_the_hard_constraint(pandas):
    """Its error follows the softness (1 - d) / d of its constraints, so softness is all that sets it apart."""
    (route, _), errors = closed_peers.mujoco_routes(pandas), []
    for impedance in (0.999, 0.9999):
        for model, _ in route.arguments:
            model.eq_solimp[:, :2] = impedance
        errors.append(closed_chain.largest_error(pandas, route, 1.0))
    assert 5 < errors[0] / errors[1] < 12


def test_mechanisms_that_the_peers_cannot_have_are_refused():
    mechanism = teams.circle(ma.robots.chain(7), 2, np.full(7, 0.3))
    soft = ma.Mechanism()
    soft.add_arm("arm", ma.robots.chain(7))
    soft.add_body("box", mass=1.0, shape=ma.Box((0.1, 0.1, 0.1)))
    soft.grasp("arm", "box", at=(0, 0, 0), kind="point")
    with pytest.raises(ValueError, match="'arm' is point"):
        closed_peers.pinocchio_team(soft.compile())
    mechanism.add_body("slider", mass=1.0, inertia=(1, 1, 1))
    mechanism.add_joint("rail", "prismatic", parent="world", child="slider")
    with pytest.raises(ValueError, match="'rail' is prismatic"):
        closed_peers.pinocchio_team(mechanism.compile())


def test_a_wrong_answer_is_not_timed(pandas):
    route = closed_peers.pinocchio_routes(pandas, lcaba=())[0]
    for wrong in (1.0 + 1e-5, np.nan):
        spoilt = replace(route, in_our_terms=lambda i, a, wrong=wrong: wrong * route.in_our_terms(i, a))
        with pytest.raises(closed_chain.DisagreementError, match="panda2: constraintDynamics"):
            closed_chain.largest_error(pandas, spoilt, spoilt.limit)


# --- the program ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Report and output of a small run."""
    file = tmp_path_factory.mktemp("benchmark") / "closed_chain.json"
    small = {"ARMS": (2,), "GROWTH_ARMS": (2, 3), "GROWTH_JOINTS": (8, 9), "STATES": STATES, "GROWTH_STATES": 1}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in small.items():
            patch.setattr(closed_chain, name, value)
        patch.setattr(ma, "compiled", DenseCalls)
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *parts, **_: lines.append(" ".join(map(str, parts))))
        assert closed_chain.main(["--quick", "--json", str(file)]) == 0
    return json.loads(file.read_text(encoding="utf-8")), "\n".join(lines)


def test_report_has_times_errors_and_ratios(run):
    report, _ = run
    (row,), (carried,) = report["comparison"], report["carried"]
    assert (row["arms"], row["nv"], row["rows"], carried["nv"], carried["rows"]) == (2, 20, 12, 14, 6)
    names = [entry["name"] for entry in row["routes"]]
    assert names[:5] == ["structured", "rccfd1", "rccfd2", "rccfd3", "constraintDynamics"]
    assert {entry["program"] for entry in row["routes"]} == {"multiarm", "pinocchio", "mujoco"}
    assert all(entry["us"] > 0 and entry["max_error"] >= 0 for entry in row["routes"])
    assert row["exact_ratio"] == pytest.approx(row["exact_peer_us"] / row["ours_us"])
    assert row["fastest_ratio"] <= row["exact_ratio"]
    exact = {entry["name"]: entry["max_error"] <= 1e-9 for entry in row["routes"]}
    assert exact["constraintDynamics"] and exact[row["exact_peer"]] and not exact["mj_forward, dense"]


def test_report_has_growth_versions_machine_and_units(run):
    report, _ = run
    assert report["growth"]["arms"]["sizes"] == [2, 3] and report["growth"]["joints"]["sizes"] == [8, 9]
    for part in report["growth"].values():
        assert [row["size"] for row in part["rows"]] == part["sizes"]
        assert {"structured", "constraintDynamics"} <= set(part["exponents"])
        assert all(map(np.isfinite, part["exponents"].values()))
    assert report["benchmark"] == "closed_chain" and report["machine"]["cpu"] and report["units"]["us"]
    assert {"multiarm", "pinocchio", "mujoco", "numba", "numpy", "python"} == set(report["versions"])


def test_tables_name_everybody(run):
    _, output = run
    for part in ("2 Pandas, one box (nv 20, 12 rows)", "fastest exact peer", "fastest of all peers", "rccfd3", "lcaba"):
        assert part in output
    assert output.count("exponent") == 2 and "mj_forward, sparse" in output


def test_missing_mujoco_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(SystemExit, match=r"MuJoCo.*multiarm\[test\]"):
        closed_chain.main(["--quick"])


def test_folder_for_the_results_must_exist(tmp_path, capsys):
    with pytest.raises(SystemExit):
        closed_chain.main(["--json", str(tmp_path / "nowhere" / "file.json")])
    assert "nowhere" in capsys.readouterr().err


# --- judging ----------------------------------------------------------------------------------------------------------


def made_up_report(exact=5.0, soft=2.0, rccfd=1.5, error=1e-13, in_arms=1.0, in_joints=1.0):
    """Figures in units of our own time: of the exact peer, of a faster one that is not, and of RCCFD2."""
    rows = []
    for arms in (2, 4, 8):
        entries = [
            {"name": "structured", "program": "multiarm", "us": 2.0, "max_error": error},
            {"name": "rccfd2", "program": "multiarm", "us": 2.0 * (rccfd if arms == 2 else 9.0), "max_error": 1e-13},
            {"name": "hard", "program": "pinocchio", "us": 2.0 * exact, "max_error": 1e-10},
            {"name": "slow", "program": "pinocchio", "us": 90.0, "max_error": 1e-14},
            {"name": "soft", "program": "mujoco", "us": 2.0 * soft, "max_error": 1e-3},
        ]
        rows.append({"arms": arms, "routes": entries} | closed_chain.verdict(entries))
    exponents = {"arms": in_arms, "joints": in_joints}
    return {
        "comparison": rows,
        "growth": {what: {"exponents": {"structured": p, "lcaba": 3.0}} for what, p in exponents.items()},
    }


def test_verdict_takes_the_fastest_exact_peer_and_the_fastest_of_all():
    row = made_up_report()["comparison"][0]
    assert (row["exact_peer"], row["exact_ratio"]) == ("hard", 5.0)
    assert (row["fastest_peer"], row["fastest_ratio"]) == ("soft", 2.0)


def test_check_asks_for_ratios_to_exact_peers():
    assert closed_chain.failures(made_up_report()) == []
    assert closed_chain.failures(made_up_report(soft=0.5)) == []
    assert [line[:6] for line in closed_chain.failures(made_up_report(exact=2.1))] == ["4 arms", "8 arms"]
    lines = closed_chain.failures(made_up_report(exact=1.79))
    assert len(lines) == 3 and lines[0] == "2 arms: ratio 1.79 to the fastest exact peer, below 1.8"


def test_check_asks_for_growth_rccfd_and_accuracy():
    (line,) = closed_chain.failures(made_up_report(in_arms=1.06))
    assert "(arms)^1.060" in line
    (line,) = closed_chain.failures(made_up_report(in_joints=1.2))
    assert "(joints)^1.200" in line
    (line,) = closed_chain.failures(made_up_report(rccfd=2.1))
    assert "2 arms: rccfd2 takes 2.10 times structured" in line
    lines = closed_chain.failures(made_up_report(error=1e-8))
    assert len(lines) == 3 and all("structured is off by 1.0e-08" in line for line in lines)
    assert len(closed_chain.failures(made_up_report(in_arms=np.nan, exact=np.nan))) == 4


@pytest.mark.parametrize(("ratio", "code"), [(3.0, 0), (1.0, 1)])
def test_check_sets_the_exit_code(monkeypatch, capsys, ratio, code):
    monkeypatch.setattr(closed_chain, "run", lambda rounds, ms: made_up_report(exact=ratio))
    assert closed_chain.main(["--check"]) == code
    assert ("falls short" in capsys.readouterr().out) == bool(code)
    assert closed_chain.main([]) == 0
