"""Simulation against Pinocchio and MuJoCo, all called from Python in one run: ``python -m benchmarks.simulate``.

Two, four and eight Pandas that hold a box by rigid grasps fall from rest without torques, in steps of 1 ms by RK4 and
by semi-implicit Euler. `simulated_peers` says how each program runs. Steps per second are those of the fastest of many
short runs that take turns, all over the same first steps of the fall; then every program falls for 1 s, not timed, and
is asked every few steps where it is: by how much its loops are open at most, and by how much its energy differs at most
from that at the start, relative to the largest kinetic energy of its own fall. Both are found from its q and v by the
same functions for all.

Last, two Pandas lift the box by computed torque in compiled code: how many times faster than real time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import multiarm as ma
from benchmarks import closed_chain, teams
from benchmarks.simulated_peers import METHODS, Run, runs
from benchmarks.teams import BOX, Team
from benchmarks.timing import Block, best_times
from multiarm.constraints import constraints

__all__ = ["failures", "lift", "main", "measure", "physics"]

ARMS = (2, 4, 8)
H = 1e-3  # s
FALL = 1000  # steps
ASKED = 5  # steps between two looks at a fall
BLOCK = 50  # steps of a run that is timed
LIFT, RISE, TURN = 2.0, 0.2, 0.3  # s, m, rad

# What --check asks for.
LOOP_RATIO = 3.0  # RK4, against the loop over Pinocchio
REAL_TIMES = 20.0

UNITS = {
    "steps_per_second": "steps of 1 ms per second, fastest of many short runs",
    "closure": "largest gap of the loops in a fall of 1 s [m or rad]",
    "energy_error": "largest change of energy in the fall, relative to the largest kinetic energy",
    "real_times": "simulated time / time taken",
    "tracking": "largest distance of the box from its path [m]",
}


# ---------------------------------------------------------------------- measuring


def physics(team: Team, run: Run, steps: int, every: int) -> dict[str, float]:
    """Closure and energy of a fall, found from q and v."""
    model, kinetic, total, closure = team.model, [], [], 0.0
    run.reset()
    for done in range(0, steps + 1, every):
        q, v = run.state()
        state = model.state(q=q, v=v)
        energy = ma.energy(model, state)
        kinetic.append(energy.kinetic)
        total.append(energy.total)
        closure = max(closure, float(np.abs(constraints(model, state).gap).max()))
        if done + every <= steps:
            run.go(every)
    error = np.abs(np.array(total) - total[0]).max() / max(kinetic)
    return {"closure": closure, "energy_error": float(error)}


def timed(run: Run, steps: int) -> Block:
    """So many steps from the start, as often as told."""

    def block(passes: int) -> None:
        for _ in range(passes):
            run.reset()
            run.go(steps)

    return block


def measure(team: Team, method: str, rounds: int, steps: int = FALL) -> dict[str, Any]:
    """Speed and physics of everybody by one method."""
    everybody = runs(team, method, H)
    times = best_times({f"{run.program} {run.name}": timed(run, BLOCK) for run in everybody}, BLOCK, rounds, 2e-3)
    entries = [
        {"name": run.name, "program": run.program, "steps_per_second": 1.0 / times[f"{run.program} {run.name}"]}
        | physics(team, run, steps, ASKED)
        for run in everybody
    ]
    row = {"case": team.name, "arms": team.arms, "nv": team.model.nv, "method": method, "runs": entries}
    return row | verdict(entries)


def verdict(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Our rollout against the fastest run of every peer."""
    ours = next(entry for entry in entries if entry["program"] == "multiarm" and entry["name"] == "rollout")
    found: dict[str, Any] = {}
    for program in ("pinocchio", "mujoco"):
        best = max((e for e in entries if e["program"] == program), key=lambda entry: entry["steps_per_second"])
        found |= {
            f"{program}_ratio": ours["steps_per_second"] / best["steps_per_second"],
            f"{program}_closure": best["closure"],
            f"{program}_energy_error": best["energy_error"],
        }
    return found | {"closure": ours["closure"], "energy_error": ours["energy_error"]}


def lift(rounds: int, duration: float = LIFT) -> dict[str, Any]:
    """Two Pandas lift and turn the box by computed torque in compiled code, sampled every 10 ms; set-up included."""
    team = teams.pandas(2, 1)
    model = team.model
    state = model.state(q=team.q[0])
    here = ma.kinematics(model, state).pose(BOX)
    there = ma.pose((0.0, 0.0, RISE)) * here * ma.pose(rpy=(0.0, 0.0, TURN))
    path = ma.paths.quintic([here, there], [0.0, LIFT])
    controller = ma.controllers.ComputedTorque(model, {BOX: path}, posture=state, limits=None)
    best, final = np.inf, state
    for _ in range(rounds + 1):  # the first may have to compile
        began = time.perf_counter()
        run = ma.simulate(model, state, controller, duration=duration, dt=H, sample=1e-2, on_limit="ignore")
        best = min(best, time.perf_counter() - began)
        final = run.final
    off = path(duration)[0].translation - ma.kinematics(model, final).pose(BOX).translation
    closure = float(np.abs(constraints(model, final).gap).max())
    return {
        "duration": duration, "real_times": duration / best, "tracking": float(np.linalg.norm(off)), "closure": closure
    }  # fmt: skip


# ---------------------------------------------------------------------- judging


def failures(report: dict[str, Any]) -> list[str]:
    """What in a report falls short of what --check asks for, one line each."""
    found = []
    for row in report["falls"]:
        if row["method"] != "rk4":
            continue
        case = f"{row['arms']} arms, RK4"
        if not row["pinocchio_ratio"] >= LOOP_RATIO:
            found.append(f"{case}: {row['pinocchio_ratio']:.2f} times the loop over Pinocchio, below {LOOP_RATIO}")
        if not row["mujoco_ratio"] > 1.0:
            found.append(f"{case}: {row['mujoco_ratio']:.2f} times MuJoCo, not faster")
        if not row["closure"] < row["mujoco_closure"]:
            found.append(f"{case}: loops open by {row['closure']:.1e}, MuJoCo's by {row['mujoco_closure']:.1e}")
    if not report["lift"]["real_times"] >= REAL_TIMES:
        found.append(f"lift: {report['lift']['real_times']:.1f} times real time, below {REAL_TIMES}")
    return found


# ---------------------------------------------------------------------- the program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it runs, not for figures")
    parser.add_argument("--check", action="store_true", help="exit with 1 and a list where the figures fall short")
    options = parser.parse_args(arguments)
    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    report = closed_chain.header() | {"benchmark": "simulate", "units": UNITS}
    report |= run_all(2, 2) if options.quick else run_all(150, 10)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    short = failures(report) if options.check else []
    if short:
        print("\nfalls short:", *short, sep="\n- ")
    return 1 if short else 0


def run_all(rounds: int, lifts: int) -> dict[str, Any]:
    """All tables, printed on the way."""
    falls = []
    for arms in ARMS:
        team = teams.pandas(arms, 1)
        for method in METHODS:
            falls.append(measure(team, method, rounds, FALL))
            print_row(falls[-1])
    lifted = lift(lifts)
    print(
        f"\ntwo Pandas lift the box, computed torque, RK4: {lifted['real_times']:.1f} times real time, "
        f"{1e3 * lifted['tracking']:.1e} mm off its path at the end, loops open by {lifted['closure']:.1e}"
    )
    return {"falls": falls, "lift": lifted}


def print_row(row: dict[str, Any]) -> None:
    """One comparison: a line per program, and the ratios."""
    title = f"{row['arms']} Pandas fall, {row['method']} (nv {row['nv']})"
    print(f"\n{title:42}  steps/s    us/step  ratio   closure    energy")
    ours = row["runs"][0]["steps_per_second"]
    for entry in row["runs"]:
        speed = entry["steps_per_second"]
        print(
            f"  {entry['name']:28} {entry['program']:10} {speed:9.0f}  {1e6 / speed:9.2f}  {ours / speed:5.2f}  "
            f"{entry['closure']:8.1e}  {entry['energy_error']:8.1e}"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
