"""Wrenches from outside as functions of time: pushes and tables of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from multiarm.checks import as_bound, as_number
from multiarm.elements.table import ElementTable, FrameLike, frame_name, place_of, pose_numbers
from multiarm.errors import BadInputError, DescriptionError, UnknownNameError
from multiarm.model import Model
from multiarm.state import as_numbers
from multiarm.sweeps import element_layout as el

__all__ = ["Push", "PushTable"]

SHAPES: Mapping[str, int] = {"constant": el.CONSTANT, "half_sine": el.HALF_SINE, "ramp": el.RAMP}
AXES: Mapping[str, bool] = {"world": False, "body": True}


@dataclass(frozen=True, eq=False)
class Push:
    """A wrench [torque; force] at the origin of a body or frame from `start` to `stop`.

    Parameters
    ----------
    frame : str or Frame
        A body or frame by name, or ``Frame(name, body, pose)``.
    wrench : array of 6
        [N m, N].
    start, stop : float
        [s]; a "constant" push acts at `start` and no more at `stop`, which may be infinite.
    shape : str
        "constant"; "half_sine", which swells to the whole wrench half-way and back; "ramp", which grows evenly from
        `start` to the whole wrench at `stop` and stays.
    axes : str
        "world", or "body" for those of the frame, with which the wrench then turns.
    """

    frame: FrameLike
    wrench: ArrayLike
    start: float = 0.0
    stop: float = inf
    shape: str = "constant"
    axes: str = "world"

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"Push({frame_name(self.frame)!r})"
        place, turns = place_of(model, self.frame), _turns(self.axes)
        if self.shape not in SHAPES:
            raise UnknownNameError("shape of a push", self.shape, SHAPES)
        start, stop = as_number(self.start, f"{what}: start"), as_bound(self.stop, f"{what}: stop")
        if not start < stop:
            raise DescriptionError(f"{what}: it must start before it stops, but {start:g} s is not before {stop:g} s")
        if stop == inf and self.shape != "constant":
            raise DescriptionError(f"{what}: a {self.shape} push needs stop=")
        wrench = as_numbers(self.wrench, (6,), f"{what}: wrench [torque; force]")
        numbers: dict[int, ArrayLike] = {
            el.WRENCH: wrench,
            el.START: start,
            el.STOP: stop,
            el.FRAME_A: pose_numbers(place.pose),
        }
        table.add(what, el.PUSH, (place.link, 0), numbers, SHAPES[self.shape], turns)

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which the force is not smooth [s]."""
        return tuple(float(t) for t in (self.start, self.stop) if np.isfinite(t))


@dataclass(frozen=True, eq=False)
class PushTable:
    """Wrenches [torque; force] at the origin of a body or frame, linear between `times`, none before and after.

    Parameters
    ----------
    frame : str or Frame
        A body or frame by name, or ``Frame(name, body, pose)``.
    times : array of n
        Increasing [s].
    wrenches : array of n x 6
        [N m, N].
    axes : str
        "world", or "body" for those of the frame.
    """

    frame: FrameLike
    times: ArrayLike
    wrenches: ArrayLike
    axes: str = "world"

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"PushTable({frame_name(self.frame)!r})"
        place, turns = place_of(model, self.frame), _turns(self.axes)
        times = as_numbers(self.times, (max(np.size(self.times), 2),), f"{what}: times")
        if np.any(np.diff(times) <= 0.0):
            late = int(np.flatnonzero(np.diff(times) <= 0.0)[0])
            raise DescriptionError(f"{what}: times must increase, but {times[late + 1]:g} s follows {times[late]:g} s")
        try:
            wrenches = np.array(self.wrenches, float)
        except (TypeError, ValueError) as error:
            raise BadInputError(f"{what}: wrenches must be an array of {len(times)} x 6") from error
        if wrenches.shape != (len(times), 6) or not np.all(np.isfinite(wrenches)):
            raise BadInputError(
                f"{what}: wrenches must be a finite array of {len(times)} x 6, a row for every time, not one of shape "
                f"{wrenches.shape}"
            )
        samples = np.column_stack([times, wrenches])
        numbers = {el.FRAME_A: pose_numbers(place.pose)}
        table.add(what, el.PUSH_TABLE, (place.link, 0), numbers, turns=turns, samples=samples)

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which the force is not smooth [s]."""
        return tuple(float(t) for t in np.asarray(self.times, float))


def _turns(axes: str) -> bool:
    """Whether a wrench turns with its frame."""
    if axes not in AXES:
        raise UnknownNameError("axes of a push", axes, AXES)
    return AXES[axes]
