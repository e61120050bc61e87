"""Closed chains against Pinocchio and MuJoCo, all called from Python in one run: ``python -m benchmarks.closed_chain``.

Forward dynamics of two, four and eight Pandas that hold a box by rigid grasps: a prepared call of
``multiarm.compiled(model)`` against ``constraintDynamics``, ``lcaba`` and ``mj_forward``, at the same states on the
constraints, which take turns. Ours writes into an array it is given, Pinocchio returns a new one, MuJoCo leaves the
answer in its data. `closed_peers` says how each peer was made as fast as it goes. Answers are held against the dense
solver, and everybody's error stands beside the time, relative to the largest acceleration: a peer is exact where its
error is at most 1e-9, and ratios are taken against the fastest exact one and against the fastest of all.

Then, not judged, the same with the first grasp kept in the tree, which suits programs that solve for one matrix of all
constraints: one loop fewer, but the box has no coordinates and its first grasp no force in the answer. Then RCCFD1 to
RCCFD3 beside the structured solver, and the growth with the number of arms and with the number of joints.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import multiarm as ma
from benchmarks import teams
from benchmarks.closed_peers import AGREEMENT, PeerRoute, mujoco, mujoco_routes, pinocchio_routes
from benchmarks.peers import pinocchio
from benchmarks.teams import Team
from benchmarks.timing import Block, Route, best_times, cpu_name, growth_exponent

__all__ = ["DisagreementError", "failures", "growth", "main", "measure", "our_routes"]

ARMS = (2, 4, 8)
GROWTH_ARMS = (4, 8, 16, 32, 64)
GROWTH_JOINTS = (8, 16, 32, 64, 128)  # of each of two chains
GROWTH_LCABA = ((1e-5, 3),)
STATES, GROWTH_STATES = 16, 4
MAIN = "structured"
RCCFD = ("rccfd1", "rccfd2", "rccfd3")
EXACT = 1e-9

# What --check asks for.
RATIOS = {2: 1.8, 4: 2.2, 8: 2.2}  # by the number of arms, against the fastest exact peer
EXPONENT = 1.05
RCCFD_RATIO, RCCFD_ARMS = 2.0, 2

UNITS = {
    "us": "microseconds per call",
    "max_error": "largest difference to the dense solver over all states, relative to its largest acceleration",
    "ratio": "time of the peer / time of ours",
    "exponents": "p of time ~ size^p, least squares over the sizes given",
}


class DisagreementError(ArithmeticError):
    """An answer is not that of the dense solver, so that its time means nothing."""


# ---------------------------------------------------------------------- measuring


def our_routes(team: Team, solvers: Iterable[str] = (MAIN,)) -> list[PeerRoute]:
    """Prepared calls with the loops closed, by solver."""
    calls: Any = ma.compiled(team.model)
    out = np.empty(team.model.nv)
    arguments = [(q, v, tau, out) for q, v, tau in zip(team.q, team.v, team.tau, strict=True)]
    chosen = {name: calls.forward_dynamics if name == MAIN else calls.forward_dynamics_by(name) for name in solvers}
    return [PeerRoute(name, call, arguments, program="multiarm", limit=AGREEMENT) for name, call in chosen.items()]


def largest_error(team: Team, route: Route, limit: float) -> float:
    """Largest difference to the dense solver over all states, relative to the largest acceleration of each.

    Raises
    ------
    DisagreementError
        It is more than `limit`, or not a number.
    """
    pairs = zip(route.answers(), team.expected, strict=True)
    error = float(np.max([np.abs(a - b).max() / np.abs(b).max() for a, b in pairs]))
    if not error <= limit:
        raise DisagreementError(f"{team.name}: {route.name} is off by {error:.2g}: nothing to time")
    return error


def measure(
    team: Team, ours: Sequence[PeerRoute], peers: Sequence[PeerRoute], rounds: int, ms: float
) -> dict[str, Any]:
    """Times [us] and errors of all routes, and ours against the fastest peers; `ms` is how long a block runs."""
    routes = [*ours, *peers]
    errors = [largest_error(team, route, route.limit) for route in routes]
    blocks: dict[str, Block] = {route.name: route.block() for route in routes}
    times = best_times(blocks, len(team.q), rounds, 1e-3 * ms)
    entries = [
        {"name": route.name, "program": route.program, "us": 1e6 * times[route.name], "max_error": error}
        for route, error in zip(routes, errors, strict=True)
    ]
    row = {"case": team.name, "arms": team.arms, "nv": team.model.nv, "rows": team.rows, "routes": entries}
    return row | verdict(entries)


def verdict(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The structured solver against the fastest exact peer and against the fastest of all."""
    ours = next(entry for entry in entries if entry["name"] == MAIN)
    peers = [entry for entry in entries if entry["program"] != "multiarm"]
    found = {"ours_us": ours["us"], "ours_max_error": ours["max_error"]}
    for key, choice in (("exact", [e for e in peers if e["max_error"] <= EXACT]), ("fastest", peers)):
        best = min(choice, key=lambda entry: entry["us"], default=None)
        if best is not None:
            found |= {
                f"{key}_peer": best["name"],
                f"{key}_peer_us": best["us"],
                f"{key}_ratio": best["us"] / ours["us"],
            }
    return found


def growth(
    make: Callable[[int, int], Team], sizes: Sequence[int], rounds: int, ms: float, states: int
) -> dict[str, Any]:
    """Rows over the sizes for the structured solver and Pinocchio, and the exponents of their times."""
    rows = []
    for size in sizes:
        team = make(size, states)
        rows.append({"size": size} | measure(team, our_routes(team), pinocchio_routes(team, GROWTH_LCABA), rounds, ms))
        print(f"{size:5d} {rows[-1]['nv']:5d}" + "".join(f"  {e['us']:20.2f}" for e in rows[-1]["routes"]), flush=True)
    exponents = {
        entry["name"]: growth_exponent(sizes, [row["routes"][i]["us"] for row in rows])
        for i, entry in enumerate(rows[0]["routes"])
    }
    print(f"{'exponent':11}" + "".join(f"  {p:20.3f}" for p in exponents.values()))
    return {"sizes": list(sizes), "rows": rows, "exponents": exponents}


# ---------------------------------------------------------------------- judging


def failures(report: dict[str, Any]) -> list[str]:
    """What in a report falls short of what --check asks for, one line each."""
    found = []
    for row in report["comparison"]:
        asked, ratio = RATIOS[row["arms"]], row.get("exact_ratio", np.nan)
        if not ratio >= asked:
            found.append(f"{row['arms']} arms: ratio {ratio:.2f} to the fastest exact peer, below {asked}")
        for entry in row["routes"]:
            if entry["program"] != "multiarm":
                continue
            if not entry["max_error"] <= EXACT:
                found.append(
                    f"{row['arms']} arms: {entry['name']} is off by {entry['max_error']:.1e}, above {EXACT:.0e}"
                )
            slower = entry["us"] / row["ours_us"]
            if row["arms"] == RCCFD_ARMS and not slower <= RCCFD_RATIO:
                found.append(
                    f"{row['arms']} arms: {entry['name']} takes {slower:.2f} times {MAIN}, above {RCCFD_RATIO}"
                )
    for what in ("arms", "joints"):
        exponent = report["growth"][what]["exponents"][MAIN]
        if not exponent <= EXPONENT:
            found.append(f"time grows as ({what})^{exponent:.3f}, above {EXPONENT}")
    return found


# ---------------------------------------------------------------------- the program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.closed_chain", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it runs, not for figures")
    parser.add_argument("--check", action="store_true", help="exit with 1 and a list where the figures fall short")
    options = parser.parse_args(arguments)
    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    report = header()
    report |= run(*(2, 0.1) if options.quick else (200, 1.0))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    short = failures(report) if options.check else []
    if short:
        print("\nfalls short:", *short, sep="\n- ")
    return 1 if short else 0


def header() -> dict[str, Any]:
    """What ran where; printed too."""
    versions = {
        "multiarm": ma.__version__,
        "pinocchio": pinocchio().__version__,
        "mujoco": mujoco().__version__,
        "numba": version("numba"),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    machine = {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}
    print(", ".join(f"{name} {number}" for name, number in versions.items()))
    print(f"{machine['cpu']}, {machine['cores']} cores")
    return {"benchmark": "closed_chain", "versions": versions, "machine": machine, "units": UNITS}


def run(rounds: int, ms: float) -> dict[str, Any]:
    """All tables, printed on the way."""
    comparison, carried = [], []
    for arms in ARMS:
        team = teams.pandas(arms, STATES)
        peers = [*pinocchio_routes(team), *mujoco_routes(team)]
        comparison.append(measure(team, our_routes(team, (MAIN, *RCCFD)), peers, rounds, ms))
        print_row(comparison[-1], f"{arms} Pandas, one box")
    print("\nthe box in the first hand: its grasp is no constraint, its motion not in the answer; not judged")
    for arms in ARMS:
        team = teams.pandas(arms, STATES, carried=True)
        carried.append(measure(team, our_routes(team), [*pinocchio_routes(team), *mujoco_routes(team)], rounds, ms))
        print_row(carried[-1], f"{arms} Pandas, the box in the first hand")
    print_rccfd(comparison)
    report: dict[str, Any] = {"comparison": comparison, "carried": carried, "growth": {}}
    columns = [MAIN, "constraintDynamics", *(f"lcaba, mu {mu:.0e}, {n}x" for mu, n in GROWTH_LCABA)]
    makers: dict[str, tuple[str, Callable[[int, int], Team], Sequence[int]]] = {
        "arms": ("Pandas", teams.pandas, GROWTH_ARMS),
        "joints": ("joints in each of two chains", teams.chains, GROWTH_JOINTS),
    }
    for what, (title, make, sizes) in makers.items():
        print(f"\ngrowth with the number of {title} [us]")
        print(f"{what:>6}   nv" + "".join(f"  {name:>20}" for name in columns))
        report["growth"][what] = growth(make, sizes, max(1, rounds // 2), ms, GROWTH_STATES)
    return report


def print_row(row: dict[str, Any], title: str) -> None:
    """One comparison: a line per route, and the verdict."""
    print("\n" + f"{title} (nv {row['nv']}, {row['rows']} rows)".ljust(52) + "     [us]  ratio  max error")
    for entry in row["routes"]:
        ratio = "" if entry["program"] == "multiarm" else f"{entry['us'] / row['ours_us']:.2f}"
        print(f"  {entry['name']:28} {entry['program']:20} {entry['us']:9.2f}  {ratio:>5}  {entry['max_error']:9.1e}")
    for key, title in (("exact", f"fastest exact peer (error up to {EXACT:.0e})"), ("fastest", "fastest of all peers")):
        if f"{key}_peer" in row:
            print(f"  {title}: {row[f'{key}_peer']}, ratio {row[f'{key}_ratio']:.2f}")
    sys.stdout.flush()


def print_rccfd(rows: Sequence[dict[str, Any]]) -> None:
    """The sources' algorithms beside the structured solver."""
    print("\nRCCFD1 to RCCFD3 beside the structured solver [us] (times as long)")
    print("  arms  " + "  ".join(f"{name:>15}" for name in (MAIN, *RCCFD)))
    for row in rows:
        ours = [entry["us"] for entry in row["routes"] if entry["program"] == "multiarm"]
        print(f"  {row['arms']:4d}  " + "  ".join(f"{us:8.2f} ({us / ours[0]:.2f})" for us in ours))


if __name__ == "__main__":
    sys.exit(main())
