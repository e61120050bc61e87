"""A path through the tree with its signs, and the loop that a cut joint closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Loop", "Step"]


class Step(NamedTuple):
    """One joint on a path through the tree.

    `joint` is its name, None for a free joint. `sign` is +1 along the declared direction and -1 against it; a free
    joint is declared from the root to its body. `body` is the body that hangs by the joint, so
    ``topology.parent[step.body]`` is the same joint seen from the tree.
    """

    joint: str | None
    sign: int
    body: str


@dataclass(frozen=True)
class Loop:
    """A cut joint and the way back through the tree: the cut, then `path`, is closed.

    `path` leads from the declared child of the cut to its declared parent.

    Examples
    --------
    >>> loop = Loop("hold", (Step(None, -1, "bar"), Step("shoulder", 1, "hand")))
    >>> loop.joints
    ('hold', 'shoulder')
    >>> loop.floating
    ('bar',)
    """

    cut: str
    path: tuple[Step, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """The declared joints of the loop, the cut first."""
        return (self.cut, *(step.joint for step in self.path if step.joint is not None))

    @property
    def floating(self) -> tuple[str, ...]:
        """The bodies through whose free joint the loop runs, at most two."""
        return tuple(step.body for step in self.path if step.joint is None)
