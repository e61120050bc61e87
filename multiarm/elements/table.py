"""The rows that force elements become, while they are being collected, and the numbers that users give for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform

from multiarm.description import Frame
from multiarm.errors import BadInputError, DescriptionError
from multiarm.model import Model, Placement
from multiarm.state import as_numbers
from multiarm.sweeps import element_layout as el

__all__ = ["ElementTable", "FrameLike", "frame_name", "not_negative", "place_of", "pose_numbers"]

FrameLike: TypeAlias = str | Frame


class ElementTable:
    """Rows of `sweeps.element_layout`, and for each the element it belongs to, in words."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._whole: list[list[int]] = []
        self._numbers: list[Mapping[int, ArrayLike]] = []
        self._samples: list[np.ndarray] = []

    def add(
        self, label: str, kind: int, places: tuple[int, int], numbers: Mapping[int, ArrayLike],
        shape: int = 0, turns: bool = False, samples: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """One row: `places` are those in q and v, or the links of two frames; `numbers` by their first column."""
        first = sum(len(rows) for rows in self._samples)
        count = 0 if samples is None else len(samples)
        self.labels.append(label)
        self._whole.append([kind, *places, shape, int(turns), first, count])
        self._numbers.append(numbers)
        if samples is not None:
            self._samples.append(samples)

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        """`numbers` and `whole` as the kernels take them."""
        rows = len(self._whole)
        whole = np.array(self._whole, np.int64).reshape(rows, el.WHOLE_COLUMNS)
        whole[:, el.FIRST] += rows
        numbers = np.zeros((rows + sum(len(samples) for samples in self._samples), el.NUMBER_COLUMNS))
        for row, given in zip(numbers, self._numbers, strict=False):
            for column, values in given.items():
                entries = np.atleast_1d(np.asarray(values, float))
                row[column : column + len(entries)] = entries
        start = rows
        for samples in self._samples:
            numbers[start : start + len(samples), : samples.shape[1]] = samples
            start += len(samples)
        return numbers, whole


def frame_name(frame: FrameLike) -> str:
    """What a frame is called in messages."""
    return frame.name if isinstance(frame, Frame) else str(frame)


def place_of(model: Model, frame: FrameLike) -> Placement:
    """Where a named body or frame, or a `Frame` of one's own, sits."""
    if not isinstance(frame, Frame):
        return model.placement(frame)
    carrier = model.placement(frame.body)
    return Placement(carrier.link, carrier.pose * frame.pose, carrier.body)


def pose_numbers(pose: RigidTransform) -> np.ndarray:
    """Rotation, row by row, and origin."""
    return np.concatenate([pose.rotation.as_matrix().ravel(), pose.translation])


def not_negative(value: ArrayLike, count: int, what: str) -> np.ndarray:
    """`count` finite numbers, none negative; one number stands for all."""
    numbers = spread(value, count, what)
    if np.any(numbers < 0.0):
        raise DescriptionError(f"{what} must not be negative, but is {numbers.min():g}")
    return numbers


def spread(value: ArrayLike, count: int, what: str) -> np.ndarray:
    """`count` finite numbers; one number stands for all."""
    if isinstance(value, str) or (isinstance(value, Sequence) and any(isinstance(entry, str) for entry in value)):
        raise BadInputError(f"{what}: expected numbers, not {value!r}")
    if np.ndim(value) == 0:
        value = np.full(count, as_numbers(value, (1,), what)[0])
    return as_numbers(value, (count,), what)
