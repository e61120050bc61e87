"""The benchmarks run, compare right answers, and measure calls that allocate nothing. No times are asserted here."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import multiarm as ma
from benchmarks import open_chain, peers, timing

STEPS = 1000


# --- the open-chain benchmark against Pinocchio -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    pytest.importorskip("pinocchio")
    file = tmp_path_factory.mktemp("benchmark") / "open_chain.json"
    assert open_chain.main(["--quick", "--json", str(file)]) == 0
    return json.loads(file.read_text(encoding="utf-8"))


def test_rows_cover_every_case_and_quantity(report):
    cases = {"panda", "chain8", "chain16", "chain32", "chain64", "chain128", "talos"}
    for quantity in ("forward dynamics", "inverse dynamics", "mass matrix", "Lambda at the tip"):
        assert cases <= {row["case"] for row in report["rows"] if row["quantity"] == quantity}


def test_rows_have_their_keys_and_units(report):
    for row in report["rows"]:
        assert {"case", "ours_us", "peer", "peer_us", "ratio"} <= set(row)
        assert row["peer"] == "pinocchio"
        assert all(np.isfinite(row[key]) and row[key] > 0 for key in ("ours_us", "loop_us", "peer_us", "ratio"))
        assert row["ratio"] == pytest.approx(row["peer_us"] / row["ours_us"])
        assert row["peer_us"] == min(row["peer_routes_us"].values()) == row["peer_routes_us"][row["peer_call"]]


def test_both_programs_give_the_same_answers(report):
    assert all(0 < row["max_error"] < 1e-9 for row in report["rows"])  # 0 would mean that one answer was read twice


def test_report_names_machine_versions_growth_and_starts(report):
    assert report["benchmark"] == "open_chain" and report["cpu"]
    assert report["versions"]["multiarm"] == ma.__version__
    assert {"pinocchio", "numba", "numpy", "python"} <= set(report["versions"])
    for sides in report["exponents"].values():
        assert set(sides) == {"ours", "loop", "peer"} and all(map(np.isfinite, sides.values()))
    assert 0 < report["import_s"] < report["second_start_s"] and report["second_start_prepared_s"] > 0


def test_unaligned_axes_and_fixed_bodies_are_the_same_mechanism_in_the_peer():
    pytest.importorskip("pinocchio")
    robot = ma.robots.chain(5)
    tilted = replace(robot.joints[2], axis=np.array([0.6, 0.0, 0.8]))
    welded = replace(robot.joints[3], kind="fixed")
    case = open_chain.arm_case("odd", replace(robot, joints=(*robot.joints[:2], tilted, welded, robot.joints[4])))
    assert case.model.nv == 4
    for compare in open_chain.QUANTITIES.values():
        comparison = compare(case)
        assert all(open_chain.largest_difference(comparison.ours, peer) < 1e-12 for peer in comparison.peers)


def test_a_wrong_answer_is_not_timed():
    pytest.importorskip("pinocchio")
    case = open_chain.CASES["panda"]()
    comparison = open_chain.forward_dynamics(case)
    peer = comparison.peers[0]
    for wrong in (1.0 + 1e-7, np.nan):
        spoilt = replace(peer, in_our_terms=lambda i, a, wrong=wrong: wrong * peer.in_our_terms(i, a))
        with pytest.raises(open_chain.DisagreementError, match="aba"):
            open_chain.largest_difference(comparison.ours, spoilt)


def test_missing_pinocchio_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(SystemExit, match=r"Pinocchio.*multiarm\[test\]"):
        open_chain.main(["--quick"])
    with pytest.raises(SystemExit, match=r"nobody\.urdf.*multiarm\[test\]"):
        peers.robot_file("nobody.urdf")


def test_folder_for_the_results_must_exist(tmp_path, capsys):
    with pytest.raises(SystemExit):
        open_chain.main(["--json", str(tmp_path / "nowhere" / "file.json")])
    assert "nowhere" in capsys.readouterr().err


def made_up_report(ratio: float = 3.0, exponent: float = 1.0, second_start: float = 1.0) -> dict:
    sizes = {"panda": 7, "chain8": 8, "chain32": 32, "chain128": 128}
    rows = [
        {"case": case, "nv": nv, "quantity": quantity, "ratio": ratio if quantity == "forward dynamics" else 0.5}
        for case, nv in sizes.items()
        for quantity in ("forward dynamics", "mass matrix")
    ]
    sides = {"ours": exponent, "loop": 1.0, "peer": 2.0}
    return {"rows": rows, "exponents": {"forward dynamics": sides}, "second_start_s": second_start}


def test_check_lists_what_falls_short():
    assert open_chain.failures(made_up_report()) == []
    cases = [line.split(":")[0] for line in open_chain.failures(made_up_report(ratio=2.4))]
    assert cases == ["forward dynamics, chain32", "forward dynamics, chain128"]
    assert "panda: ratio 1.79, below 1.8" in open_chain.failures(made_up_report(ratio=1.79))[0]
    (line,) = open_chain.failures(made_up_report(exponent=1.06))
    assert "N^1.060" in line and "ours" in line
    (line,) = open_chain.failures(made_up_report(second_start=1.6))
    assert "1.60 s" in line


@pytest.mark.parametrize(("ratio", "code"), [(3.0, 0), (1.0, 1)])
def test_check_sets_the_exit_code(monkeypatch, capsys, ratio, code):
    pytest.importorskip("pinocchio")

    def measure(quantity: str, case: open_chain.Case, rounds: int, seconds: float) -> dict:
        row = {"case": case.name, "quantity": quantity, "nv": case.model.nv, "ratio": ratio, "peer_call": "none"}
        return row | dict.fromkeys(("ours_us", "loop_us", "peer_us"), float(case.model.nv)) | {"max_error": 0.0}

    monkeypatch.setattr(open_chain, "measure", measure)
    monkeypatch.setattr(open_chain, "start_times", lambda first, repeats: (0.1, 0.2))
    assert open_chain.main(["--check"]) == code
    assert ("falls short" in capsys.readouterr().out) == bool(code)


# --- the clock --------------------------------------------------------------------------------------------------------


def test_growth_exponent_is_the_slope_in_logarithms():
    sizes = [16, 32, 64, 128]
    assert timing.growth_exponent(sizes, [3e-6 * n**1.25 for n in sizes]) == pytest.approx(1.25)


def test_every_block_runs_in_every_round():
    passes: dict[str, list[int]] = {"a": [], "b": []}
    times = timing.best_times({name: seen.append for name, seen in passes.items()}, calls=2, rounds=5, seconds=0.0)
    assert set(times) == {"a", "b"} and all(0 <= time < np.inf for time in times.values())
    assert passes == {"a": [1] * 7, "b": [1] * 7}  # warm-up, calibration, five rounds


# --- nothing is allocated ---------------------------------------------------------------------------------------------


N = 100  # so many joints that an array of the model's size is large beside what a call from Python takes


@pytest.fixture
def arm() -> tuple[ma.Compiled, np.ndarray, np.ndarray, np.ndarray]:
    """Prepared calls of an arm with N joints, and 16 states q, v, x."""
    mechanism = ma.Mechanism()
    mechanism.add_arm("arm", ma.robots.chain(N))
    random = np.random.default_rng(3)
    q, v, x = random.normal(size=(3, 16, N))
    return ma.compiled(mechanism.compile()), q, v, x


@pytest.fixture
def count_allocations() -> Iterator[Callable[..., int]]:
    """How many blocks compiled code asks Numba's runtime for while a function runs."""

    def count(function: Callable[..., object], *arguments: object) -> int:
        before = rtsys.get_allocation_stats()
        function(*arguments)
        after = rtsys.get_allocation_stats()
        return after.alloc - before.alloc

    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield count
    if not enabled:
        _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize("loop", open_chain.LOOPS, ids=lambda loop: loop.__name__)
def test_compiled_loop_allocates_nothing(arm, count_allocations, loop):
    calls, q, v, x = arm
    rest, frames = np.zeros(N), calls.frames("arm/tip")
    arguments = {
        open_chain.forward_loop: (v, x, np.empty(N)),
        open_chain.inverse_loop: (v, x, np.empty(N)),
        open_chain.mass_loop: (rest, np.empty((N, N))),
        open_chain.compliance_loop: (rest, frames, np.empty((6, 6))),
    }[loop]
    run = open_chain.LOOPS[loop]
    assert run(calls.tree, calls.link, q, *arguments, 1) == 0
    # handing the arrays over from Python costs the same few blocks whether there are no steps or a thousand
    entry = count_allocations(run, calls.tree, calls.link, q, *arguments, 0)
    passes = -(-STEPS // len(q))
    assert count_allocations(run, calls.tree, calls.link, q, *arguments, passes) == entry


def test_allocations_are_seen_where_there_are_some(count_allocations):
    """Without this the test above could pass by a counter that stands still."""

    @njit
    def wasteful(steps: int) -> float:
        total = 0.0
        for i in range(steps):
            total += np.full(3 + i % 2, 1.0).sum()
        return total

    wasteful(1)
    assert count_allocations(wasteful, STEPS) >= STEPS


def traced_growth(block: Callable[[int], object], passes: int) -> tuple[int, int]:
    """Growth of Python's traced memory (NumPy's arrays included) over some passes, and its peak on the way [bytes].

    The smallest of a few trials: other threads of the test runner make objects too.
    """
    trials = []
    for _ in range(5):
        tracemalloc.start()
        try:
            block(1)
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            block(passes)
            after, peak = tracemalloc.get_traced_memory()
            trials.append((after - before, peak - before))
        finally:
            tracemalloc.stop()
    growths, peaks = zip(*trials, strict=True)
    return min(growths), min(peaks)


@njit
def nothing(tree, link, a, b, c, d, e):
    return 0


def test_prepared_call_allocates_only_what_handing_arrays_to_compiled_code_takes(arm, count_allocations):
    calls, q, v, x = arm
    out = np.empty(N)
    nothing(calls.tree, calls.link, q[0], v[0], x[0], out, out)
    calls.forward_dynamics(q[0], v[0], x[0], out)
    passed = count_allocations(nothing, calls.tree, calls.link, q[0], v[0], x[0], out, out)
    assert count_allocations(calls.forward_dynamics, q[0], v[0], x[0], out) == passed - 1  # one array fewer


@pytest.mark.parametrize(
    "name", ["forward_dynamics", "inverse_dynamics", "hybrid_dynamics", "mass_matrix", "jacobian", "compliance"]
)
def test_prepared_call_allocates_nothing_in_python(arm, name):
    calls, q, v, x = arm
    out, square, frame, frames = np.empty(N), np.empty((N, N)), calls.frame("arm/tip"), calls.frames("arm/tip")
    prescribed, strip, six = np.arange(N) % 2 == 0, np.empty((6, N)), np.empty((6, 6))
    call, arguments = {
        "forward_dynamics": (calls.forward_dynamics, [(q[i], v[i], x[i], out) for i in range(16)]),
        "inverse_dynamics": (calls.inverse_dynamics, [(q[i], v[i], x[i], out) for i in range(16)]),
        "hybrid_dynamics": (calls.hybrid_dynamics, [(q[i], v[i], prescribed, x[i], out) for i in range(16)]),
        "mass_matrix": (calls.mass_matrix, [(q[i], square) for i in range(16)]),
        "jacobian": (calls.jacobian, [(q[i], frame, strip) for i in range(16)]),
        "compliance": (calls.operational_compliance, [(q[i], frames, six) for i in range(16)]),
    }[name]
    block = timing.Route(name, call, arguments).block()
    passes = -(-STEPS // len(q))
    block(1)
    growth, peak = traced_growth(block, passes)
    assert growth == traced_growth(block, 0)[0]  # the measurement itself makes objects
    # Numba packs the arguments of every call into a tuple that is gone after it; beyond that there is nothing
    control = timing.Route("nothing", nothing, [(calls.tree, calls.link, *[out] * 5)] * len(q)).block()
    control(1)
    assert peak <= traced_growth(control, passes)[1]


def test_traced_memory_shows_one_small_array():
    block = timing.Route("empty", np.empty, [(1,)]).block()
    assert traced_growth(block, 1)[1] > traced_growth(block, 0)[1]
    kept: list[np.ndarray] = []
    keep = timing.Route("keep", lambda n: kept.append(np.empty(n)), [(1,)]).block()
    assert traced_growth(keep, 100)[0] > traced_growth(keep, 0)[0]
