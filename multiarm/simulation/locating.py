"""The moment within a step at which a margin is gone."""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq

__all__ = ["first_moment"]

SHARP = 1e-11  # s


def first_moment(after: Callable[[float], None], margin: Callable[[], float], h: float) -> float:
    """Go to the time s in (0, h] after which `margin` is negative, less than a tenth of a nanosecond past it.

    `after(s)` goes to the time s after the start of the step. The margin is negative at h.
    """

    def left(s: float) -> float:
        after(s)
        return margin()

    s = 0.0
    if left(0.0) >= 0.0:
        s = float(brentq(left, 0.0, h, xtol=SHARP, rtol=1e-15)) if left(h) < 0.0 else h
        while not left(s) < 0.0 and s < h:
            s = min(h, s + SHARP)
    after(s)
    return s
