"""Poses over time from a CSV file, with the line in every error."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from multiarm.errors import BadInputError

__all__ = ["COLUMNS", "read_poses"]

COLUMNS = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")
UNIT = 1e-3  # how far the length of a quaternion may be from 1: files are rounded


def read_poses(path: Any) -> np.ndarray:
    """Rows (t, x, y, z, qx, qy, qz, qw) of a file with that header; quaternions made unit, times increasing."""
    rows: list[list[float]] = []
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = tuple(name.strip() for name in next(lines, []))
            if header != COLUMNS:
                raise _wrong(path, 1, f"the header must be {','.join(COLUMNS)}, not {','.join(header) or 'empty'}")
            for cells in lines:
                if any(cell.strip() for cell in cells):
                    rows.append(_row(path, lines.line_num, cells))
                    if len(rows) > 1 and not rows[-1][0] > rows[-2][0]:
                        raise _wrong(path, lines.line_num, f"time {rows[-1][0]:g} s is not after {rows[-2][0]:g} s")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"{path}: cannot be read as a path: {error}") from error
    if len(rows) < 2:
        raise BadInputError(f"{path}: a path needs two samples or more, not {len(rows)}")
    samples = np.array(rows)
    samples[:, 4:] /= np.linalg.norm(samples[:, 4:], axis=1, keepdims=True)
    return samples


def _row(path: Any, line: int, cells: list[str]) -> list[float]:
    if len(cells) != len(COLUMNS):
        raise _wrong(path, line, f"expected {len(COLUMNS)} numbers, found {len(cells)}")
    row = []
    for column, cell in zip(COLUMNS, cells, strict=True):
        try:
            row.append(float(cell))
        except ValueError:
            raise _wrong(path, line, f"{column} is {cell.strip()!r}, not a number") from None
        if not np.isfinite(row[-1]):
            raise _wrong(path, line, f"{column} is {cell.strip()}, not finite")
    length = float(np.linalg.norm(row[4:]))
    if abs(length - 1.0) > UNIT:
        raise _wrong(path, line, f"the quaternion (qx, qy, qz, qw) has length {length:.6g}, not 1")
    return row


def _wrong(path: Any, line: int, what: str) -> BadInputError:
    return BadInputError(f"{path}, line {line}: {what}")
