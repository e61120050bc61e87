"""Timing two programs side by side on a machine that does other things too, and the start of a fresh Python."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

import multiarm

__all__ = ["Block", "Route", "best_times", "cpu_name", "growth_exponent", "start_times"]

Block = Callable[[int], Any]  # takes the number of passes over its states

# What a user's first lines do, in a Python of its own; prints its clock after each stage.
START = """
import time
began = time.time()
import multiarm as ma
imported = time.time()
mechanism = ma.Mechanism()
mechanism.add_arm("arm", ma.robots.panda())
model = mechanism.compile()
state = model.state()
{first_result}
print(repr([began, imported, time.time()]))
"""
FIRST_RESULTS = {
    "tree": "ma.tree_forward_dynamics(model, state, [0.0] * model.nv)",
    "prepared": (
        "import numpy; q = state.q.copy(); v, tau, out = numpy.zeros((3, model.nv))\n"
        "ma.compiled(model).forward_dynamics(q, v, tau, out)"
    ),
}


BLOCK = """
def block(passes):
    for _ in range(passes):
        for {names}, in arguments:
            call({names})
"""


@dataclass(frozen=True)
class Route:
    """One way to an answer: a function, its arguments at every state, and its answer in our conventions."""

    name: str
    call: Callable[..., Any]
    arguments: Sequence[tuple[Any, ...]]
    in_our_terms: Callable[[int, np.ndarray], np.ndarray] = lambda i, answer: answer

    def block(self) -> Block:
        """A function that calls at every state in turn, as often as told.

        Its source is written out, as that of `timeit` is: ``call(*given)`` is not what users write, and it costs
        Python functions and bound methods time that it saves Boost.Python's.
        """
        names = ", ".join(f"given{i}" for i in range(len(self.arguments[0])))
        scope: dict[str, Any] = {"call": self.call, "arguments": self.arguments}
        exec(BLOCK.format(names=names), scope)
        return cast(Block, scope["block"])

    def answers(self) -> list[np.ndarray]:
        """The answers at all states."""
        return [self.in_our_terms(i, np.array(self.call(*given))) for i, given in enumerate(self.arguments)]


def best_times(blocks: Mapping[str, Block], calls: int, rounds: int, seconds: float = 1e-3) -> dict[str, float]:
    """Time per call [s] of every block: its fastest round.

    A block takes a number of passes and makes `calls` calls in each. Blocks run in turn, short ones many times, so
    that a disturbance of the machine meets all of them, and the fastest round is the one it did not meet. The order
    is turned round after each round: nobody always runs on the caches that another one has left.

    Parameters
    ----------
    blocks : mapping
        What to time, by name.
    calls : int
        Calls that a block makes in one pass.
    rounds : int
        How often every block runs.
    seconds : float
        About how long a block runs at a time.
    """
    names = list(blocks)
    passes = {name: _passes(blocks[name], seconds) for name in names}
    best = dict.fromkeys(names, np.inf)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in names:
                block, count = blocks[name], passes[name]
                began = time.perf_counter()
                block(count)
                elapsed = time.perf_counter() - began
                best[name] = min(best[name], elapsed / (count * calls))
            names.reverse()
    finally:
        if collecting:
            gc.enable()
    return best


def _passes(block: Block, seconds: float) -> int:
    """How many passes of a block take about `seconds`; also its warm-up."""
    block(1)
    began = time.perf_counter()
    block(1)
    return max(1, round(seconds / (time.perf_counter() - began)))


def growth_exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Least-squares slope of log time over log size.

    Examples
    --------
    >>> round(growth_exponent([1, 2, 4], [3, 12, 48]), 12)
    2.0
    """
    slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
    return float(slope)


def start_times(first_result: str, repeats: int = 3) -> tuple[float, float]:
    """Import of multiarm [s], and start of Python to its first dynamics result [s]; kernels cached, best of `repeats`.

    `first_result` is "tree" for `tree_forward_dynamics`, "prepared" for a call of `compiled`.
    """
    root = str(Path(multiarm.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    code = START.format(first_result=FIRST_RESULTS[first_result])
    imports, results = [], []
    for repeat in range(repeats + 1):
        began = time.time()
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        awake, imported, done = json.loads(run.stdout)
        if repeat > 0:  # the first may have had to compile
            imports.append(imported - awake)
            results.append(done - began)
    return min(imports), min(results)


def cpu_name() -> str:
    """What the machine says its processor is."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()
