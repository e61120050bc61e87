"""Values as JSON and NetCDF attributes can hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from multiarm.errors import BadInputError

__all__ = ["attribute_value", "clean_text", "from_json", "to_json"]


def _plain(value: object) -> Any:
    """What `json` does not know of itself: arrays as lists, NumPy's numbers as Python's, mappings as dicts."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is neither number, text, list nor mapping")


def to_json(value: object, what: str, indent: int | None = None) -> str:
    """JSON text; floats come back exactly, arrays as lists."""
    try:
        return json.dumps(value, default=_plain, indent=indent, ensure_ascii=True)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what} cannot be stored as JSON: {error}") from error


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError where it is none."""
    return json.loads(text)


def clean_text(text: object) -> str:
    """Text that files can hold: NUL and lone surrogates, which HDF5 refuses, are spelled out."""
    return str(text).replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def attribute_value(value: object) -> Any:
    """Text, a number or an array of numbers as it is; anything else (true, None, a mapping) as JSON text."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]  # NetCDF does not tell a number from an array of one
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, list | tuple) and value and all(type(entry) is float for entry in value):
        return np.array(value, float)
    if isinstance(value, list | tuple) and value and all(type(x) is int and abs(x) < 2**63 for x in value):
        return np.array(value, np.int64)
    return to_json(value, "an attribute")
