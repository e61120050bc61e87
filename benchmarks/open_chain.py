"""Open chains against Pinocchio, both called from Python in one run: ``python -m benchmarks.open_chain --json FILE``.

Forward dynamics, inverse dynamics, the mass matrix and the operational-space compliance Lambda at the tip, of an arm
with seven joints, of chains with 8 to 128, and of a humanoid on a floating base. Like against like: a prepared call of
``multiarm.compiled(model)`` against the peer's call, at the same states, which take turns so that nothing is known
before it is computed. Ours writes into an array it is given, the peer returns a new one. Both first have to give the
same answer. The peer gets its best: joint types aligned with the axes, and of several ways to the same answer the one
that is fastest in that case (all are in the JSON file):

- forward dynamics and mass matrix: ``aba`` and ``crba``, by the local convention (its default) or by the world one;
- inverse dynamics: ``rnea``;
- Lambda: ``computeDelassusMatrix`` of a six-dimensional contact at the tip, which is O(N) like ours and is left in tip
  axes, or ``computeMinverse`` and the tip's Jacobian, multiplied by NumPy.

"Loop" is our kernel called from compiled code, the way a simulation calls it: the same work without a call from
Python. It is not part of the comparison.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import multiarm as ma
from benchmarks.peers import PinocchioRobot, pinocchio, pinocchio_arm, pinocchio_file, quiet_load, robot_file
from benchmarks.timing import Block, Route, best_times, cpu_name, growth_exponent, start_times
from multiarm import kernels

__all__ = ["CASES", "QUANTITIES", "DisagreementError", "Route", "failures", "largest_difference", "main", "measure"]

SIZES = (8, 16, 32, 64, 127, 128)
GROWTH_SIZES = (16, 32, 64, 128)  # below 16 joints the call itself still shows
# Pinocchio's mass matrix takes three times as long with 128 joints as with 127 or 129: presumably because its columns
# then lie a power of two apart. 127 joints show what it takes otherwise, and growth is judged by those.
BESIDE = {"mass matrix": {128: 127}}
BESIDE_NOTE = "chain128 is an unlucky size for Pinocchio's matrix (127 and 129 are alike): judge by chain127"
TALOS = "talos_data/robots/talos_full_v2.urdf"
STATES = 16
AGREEMENT = 1e-9  # largest relative difference between two programs' answers

# What --check asks for.
ARM_RATIO = 1.8
LONG_RATIO, LONG = 2.5, 32  # from this number of joints on
EXPONENT = 1.05
SECOND_START = 1.5  # s


class DisagreementError(ArithmeticError):
    """The two programs give different answers, so that their times mean nothing."""


# ---------------------------------------------------------------------- mechanisms


@dataclass
class Case:
    """A mechanism in both programs, and the states at which they are timed; `x` serves as torque or acceleration."""

    name: str
    model: ma.Model
    tip: str
    peer: PinocchioRobot
    calls: ma.Compiled = field(init=False)
    q: np.ndarray = field(init=False)
    v: np.ndarray = field(init=False)
    x: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(7)
        model = self.model
        self.calls = ma.compiled(model)
        self.q = random.uniform(-np.pi, np.pi, (STATES, model.nq))
        for place in model.joints.values():
            if place.joint.kind == "free":
                quaternions = self.q[:, place.q.start : place.q.start + 4]
                quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        self.v, self.x = random.normal(size=(2, STATES, model.nv))


def arm_case(name: str, robot: ma.Robot) -> Case:
    mechanism = ma.Mechanism(name)
    mechanism.add_arm("arm", robot)
    model = mechanism.compile()
    return Case(name, model, "arm/tip", pinocchio_arm(robot, "arm", model))


def chain_case(n: int) -> Case:
    return arm_case(f"chain{n}", ma.robots.chain(n))


def humanoid_case() -> Case:
    path, tip = robot_file(TALOS), "wrist_left_ft_tool_link"
    mechanism = ma.Mechanism("talos")
    mechanism.add_arm("talos", quiet_load(path, tip=tip, floating=True))
    model = mechanism.compile()
    return Case("talos", model, "talos/tip", pinocchio_file(path, tip, "talos", model))


CASES: dict[str, Callable[[], Case]] = {
    "panda": lambda: arm_case("panda", ma.robots.panda()),
    **{f"chain{n}": partial(chain_case, n) for n in SIZES},
    "talos": humanoid_case,
}


# ---------------------------------------------------------------------- ways to an answer


@dataclass(frozen=True)
class Comparison:
    """Our prepared call, our kernel in a compiled loop, and the peer's ways to the same answer."""

    ours: Route
    loop: Block
    peers: Sequence[Route]


def forward_loop(
    tree: np.ndarray, link: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray, passes: int
) -> int:
    status = 0
    for _ in range(passes):
        for i in range(len(q)):
            status |= kernels.fd4(tree, link, q[i], v[i], tau[i], out)
    return status


def inverse_loop(
    tree: np.ndarray, link: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, out: np.ndarray, passes: int
) -> int:
    status = 0
    for _ in range(passes):
        for i in range(len(q)):
            status |= kernels.newton_euler(tree, link, q[i], v[i], a[i], out)
    return status


def mass_loop(tree: np.ndarray, link: np.ndarray, q: np.ndarray, rest: np.ndarray, out: np.ndarray, passes: int) -> int:
    status = 0
    for _ in range(passes):
        for i in range(len(q)):
            status |= kernels.mass_matrix(tree, link, q[i], rest, out)
    return status


def compliance_loop(
    tree: np.ndarray,
    link: np.ndarray,
    q: np.ndarray,
    rest: np.ndarray,
    frames: np.ndarray,
    out: np.ndarray,
    passes: int,
) -> int:
    status = 0
    for _ in range(passes):
        for i in range(len(q)):
            status |= kernels.operational_compliance(tree, link, q[i], rest, frames, out)
    return status


LOOPS = {loop: njit(loop) for loop in (forward_loop, inverse_loop, mass_loop, compliance_loop)}


def compiled_loop(case: Case, loop: Callable[..., int], *arguments: np.ndarray) -> Block:
    """A block that runs `loop`, compiled, over the tables and states of a case."""
    return partial(LOOPS[loop], case.calls.tree, case.calls.link, case.q, *arguments)


def forward_dynamics(case: Case) -> Comparison:
    """Accelerations from torques."""
    pin, peer, out = pinocchio(), case.peer, np.empty(case.model.nv)
    maps = [peer.velocities(q) for q in case.q]
    given = [
        (peer.model, peer.data, peer.positions(q), T @ v, T @ tau)
        for q, v, tau, T in zip(case.q, case.v, case.x, maps, strict=True)
    ]

    def in_our_terms(i: int, a: np.ndarray) -> np.ndarray:
        return maps[i].T @ (a - peer.drift(case.q[i], case.v[i]))

    world = [(*arguments, pin.Convention.WORLD) for arguments in given]
    return Comparison(
        Route("forward_dynamics", case.calls.tree_forward_dynamics, [(*s, out) for s in states(case)]),
        compiled_loop(case, forward_loop, case.v, case.x, out),
        [Route("aba, local", pin.aba, given, in_our_terms), Route("aba, world", pin.aba, world, in_our_terms)],
    )


def inverse_dynamics(case: Case) -> Comparison:
    """Torques from accelerations."""
    pin, peer, out = pinocchio(), case.peer, np.empty(case.model.nv)
    maps = [peer.velocities(q) for q in case.q]
    given = [
        (peer.model, peer.data, peer.positions(q), T @ v, T @ a + peer.drift(q, v))
        for q, v, a, T in zip(case.q, case.v, case.x, maps, strict=True)
    ]
    return Comparison(
        Route("inverse_dynamics", case.calls.inverse_dynamics, [(*s, out) for s in states(case)]),
        compiled_loop(case, inverse_loop, case.v, case.x, out),
        [Route("rnea", pin.rnea, given, lambda i, tau: maps[i].T @ tau)],
    )


def mass_matrix(case: Case) -> Comparison:
    """M, both triangles."""
    pin, peer, out = pinocchio(), case.peer, np.empty((case.model.nv, case.model.nv))
    maps = [peer.velocities(q) for q in case.q]
    given = [(peer.model, peer.data, peer.positions(q)) for q in case.q]

    def in_our_terms(i: int, mass: np.ndarray) -> np.ndarray:
        return maps[i].T @ mass @ maps[i]

    world = [(*arguments, pin.Convention.WORLD) for arguments in given]
    return Comparison(
        Route("mass_matrix", case.calls.mass_matrix, [(q, out) for q in case.q]),
        compiled_loop(case, mass_loop, np.zeros(case.model.nv), out),
        [Route("crba, local", pin.crba, given, in_our_terms), Route("crba, world", pin.crba, world, in_our_terms)],
    )


def tip_compliance(case: Case) -> Comparison:
    """Lambda = J M^-1 J* at the tip."""
    pin, peer, out, frames = pinocchio(), case.peer, np.empty((6, 6)), case.calls.frames(case.tip)
    model, data, tip, aligned = peer.model, peer.data, peer.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    positions = [peer.positions(q) for q in case.q]
    frame, swap = model.frames[tip], np.array([[0.0, 1.0], [1.0, 0.0]])
    contacts = pin.StdVec_RigidConstraintModel()
    contacts.append(
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, pin.ReferenceFrame.LOCAL
        )
    )
    contact_datas = pin.StdVec_RigidConstraintData()
    contact_datas.append(contacts[0].createData())

    def by_inverse(q: np.ndarray) -> np.ndarray:
        inverse = pin.computeMinverse(model, data, q)
        jacobian = pin.computeFrameJacobian(model, data, q, tip, aligned)
        return jacobian @ inverse @ jacobian.T

    def from_tip_axes(i: int, compliance: np.ndarray) -> np.ndarray:
        turn = np.kron(swap, peer.tip_rotation(positions[i]))
        return turn @ compliance @ turn.T

    def from_world_axes(i: int, compliance: np.ndarray) -> np.ndarray:
        turn = np.kron(swap, np.eye(3))
        return turn @ compliance @ turn.T

    alone = [(q,) for q in positions]
    whole = [(model, data, q, contacts, contact_datas) for q in positions]
    return Comparison(
        Route("operational_compliance", case.calls.operational_compliance, [(q, frames, out) for q in case.q]),
        compiled_loop(case, compliance_loop, np.zeros(case.model.nv), frames, out),
        [
            Route("computeDelassusMatrix", pin.computeDelassusMatrix, whole, from_tip_axes),
            Route("computeMinverse, J M^-1 J*", by_inverse, alone, from_world_axes),
        ],
    )


def states(case: Case) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    return zip(case.q, case.v, case.x, strict=True)


QUANTITIES: dict[str, Callable[[Case], Comparison]] = {
    "forward dynamics": forward_dynamics,
    "inverse dynamics": inverse_dynamics,
    "mass matrix": mass_matrix,
    "Lambda at the tip": tip_compliance,
}
MAIN = "forward dynamics"


# ---------------------------------------------------------------------- measuring


def largest_difference(ours: Route, peer: Route) -> float:
    """Largest difference between two answers over all states, relative to the largest entry of each answer.

    Raises
    ------
    DisagreementError
        It is more than `AGREEMENT`, or not a number.
    """
    pairs = zip(ours.answers(), peer.answers(), strict=True)
    error = float(np.max([np.abs(a - b).max() / np.abs(b).max() for a, b in pairs]))
    if not error <= AGREEMENT:
        raise DisagreementError(f"{ours.name} and Pinocchio's {peer.name} differ by {error:.2g}: nothing to time")
    return error


def measure(quantity: str, case: Case, rounds: int, seconds: float) -> dict[str, Any]:
    """One row: our time and the peer's [us], after both have given the same answers."""
    comparison = QUANTITIES[quantity](case)
    errors = {peer.name: largest_difference(comparison.ours, peer) for peer in comparison.peers}
    case.calls.check(comparison.loop(1))
    blocks: dict[str, Block] = {"ours": comparison.ours.block(), "loop": comparison.loop}
    blocks |= {peer.name: peer.block() for peer in comparison.peers}
    times = {name: 1e6 * time for name, time in best_times(blocks, STATES, rounds, seconds).items()}
    routes = {peer.name: times[peer.name] for peer in comparison.peers}
    fastest = min(routes, key=lambda name: routes[name])
    return {
        "case": case.name,
        "quantity": quantity,
        "nv": case.model.nv,
        "ours_us": times["ours"],
        "loop_us": times["loop"],
        "peer": "pinocchio",
        "peer_call": fastest,
        "peer_us": routes[fastest],
        "ratio": routes[fastest] / times["ours"],
        "max_error": max(errors.values()),
        "peer_routes_us": routes,
    }


def exponents(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Growth of the times with the number of joints of a chain, for every quantity."""
    found: dict[str, dict[str, float]] = {}
    for quantity in dict.fromkeys(row["quantity"] for row in rows):
        chains = {row["case"]: row for row in rows if row["quantity"] == quantity}
        sizes = [BESIDE.get(quantity, {}).get(n, n) for n in GROWTH_SIZES]
        found[quantity] = {
            side: growth_exponent(sizes, [chains[f"chain{n}"][f"{side}_us"] for n in sizes])
            for side in ("ours", "loop", "peer")
        }
    return found


def failures(report: dict[str, Any]) -> list[str]:
    """What in a report falls short of what --check asks for, one line each."""
    found = []
    for row in report["rows"]:
        asked = ARM_RATIO if row["case"] == "panda" else LONG_RATIO if row["nv"] >= LONG else 0.0
        if row["quantity"] == MAIN and row["ratio"] < asked:
            found.append(f"{MAIN}, {row['case']}: ratio {row['ratio']:.2f}, below {asked}")
    for side, exponent in report["exponents"][MAIN].items():
        if side != "peer" and exponent > EXPONENT:
            found.append(f"{MAIN}: time ({side}) grows as N^{exponent:.3f}, above {EXPONENT}")
    if report["second_start_s"] > SECOND_START:
        found.append(f"second start: first result after {report['second_start_s']:.2f} s, above {SECOND_START}")
    return found


# ---------------------------------------------------------------------- the program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.open_chain", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it runs, not for figures")
    parser.add_argument("--check", action="store_true", help="exit with 1 and a list where the figures fall short")
    options = parser.parse_args(arguments)
    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    rounds, seconds, starts = (3, 1e-4, 1) if options.quick else (200, 1e-3, 3)

    pin = pinocchio()
    report: dict[str, Any] = {
        "benchmark": "open_chain",
        "versions": {
            "multiarm": ma.__version__,
            "pinocchio": pin.__version__,
            "numba": version("numba"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "cpu": cpu_name(),
    }
    print(", ".join(f"{name} {number}" for name, number in report["versions"].items()))
    print(report["cpu"])
    cases = [make() for make in CASES.values()]
    rows = report["rows"] = []
    for quantity in QUANTITIES:
        print(f"\n{quantity}\n{'':9}  nv  ours [us]  pinocchio [us]  ratio  | loop [us]  max error  pinocchio's call")
        for case in cases:
            if case.name == "chain127" and quantity not in BESIDE:
                continue
            rows.append(measure(quantity, case, rounds, seconds))
            print(ROW.format_map(rows[-1]), flush=True)
        if quantity in BESIDE:
            print(BESIDE_NOTE)
    report["exponents"] = exponents(rows)
    print(f"\ntime ~ N^p for chains of {GROWTH_SIZES[0]} to {GROWTH_SIZES[-1]}:   p ours   pinocchio  | loop")
    for quantity, sides in report["exponents"].items():
        print(f"{quantity:35}  {sides['ours']:7.3f}  {sides['peer']:10.3f}  | {sides['loop']:.3f}")
    report["import_s"], report["second_start_s"] = start_times("tree", starts)
    _, report["second_start_prepared_s"] = start_times("prepared", starts)
    print(STARTS.format_map(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    short = failures(report) if options.check else []
    if short:
        print("\nfalls short:", *short, sep="\n- ")
    return 1 if short else 0


ROW = "{case:9} {nv:3d}  {ours_us:9.3f}  {peer_us:14.3f}  {ratio:5.2f}  | {loop_us:9.3f}  {max_error:9.1e}  {peer_call}"
STARTS = """
import multiarm: {import_s:.2f} s
start of Python to its first result, kernels cached, interpreter and import included:
  {second_start_s:.2f} s by tree_forward_dynamics, {second_start_prepared_s:.2f} s by a prepared call"""


if __name__ == "__main__":
    sys.exit(main())
