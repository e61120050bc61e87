"""Errors shared by the three packages.

The root class lives in the lowest package, so that ``graphs``, ``contacts`` and ``multiarm`` can all raise subclasses
of it while imports keep pointing one way.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = ["GraphError", "MultiArmError", "UnknownNameError"]


class MultiArmError(Exception):
    """Root of every error a user of the toolkit can cause; survives the way back from a worker process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[MultiArmError], args: tuple[Any, ...], evidence: dict[str, Any]) -> MultiArmError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(evidence)
    return error


class GraphError(MultiArmError, ValueError):
    """The graph cannot be analysed as asked; ``names`` lists the bodies or joints concerned."""

    def __init__(self, message: str, names: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


class UnknownNameError(MultiArmError, KeyError, ValueError):
    """A name that does not exist, with the valid ones.

    Both a ``KeyError`` (a look-up failed) and a ``ValueError`` (an argument was none of the choices).

    Examples
    --------
    >>> raise UnknownNameError("strategy", "shalow", ["grasps", "shallow"])
    Traceback (most recent call last):
        ...
    graphs.errors.UnknownNameError: no strategy 'shalow'; did you mean 'shallow'? Valid: 'grasps', 'shallow'
    """

    def __init__(self, what: str, name: object, choices: Iterable[str], hint: str = "") -> None:
        self.what, self.name, self.choices = what, name, tuple(choices)
        near = get_close_matches(str(name), self.choices, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ";"
        shown = ", ".join(repr(choice) for choice in self.choices[:40])
        more = f", ... ({len(self.choices)} in all)" if len(self.choices) > 40 else ""
        self.message = f"no {what} {name!r}{guess} Valid: {shown or 'none'}{more}" + (f". {hint}" if hint else "")
        super().__init__(self.message)

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return self.message
