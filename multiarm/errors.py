"""Errors that users can cause; each says what is wrong, with which part, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.errors import GraphError, MultiArmError, UnknownNameError

__all__ = [
    "BadInputError",
    "ContradictionError",
    "ControllerError",
    "DescriptionError",
    "GraphError",
    "ImmobileWarning",
    "MissingExtraError",
    "MultiArmError",
    "OpenLoopError",
    "RobotFileError",
    "RobotFileWarning",
    "SimulationError",
    "SingularInertiaError",
    "UnknownNameError",
    "UnphysicalInertiaWarning",
    "UnreachableMotionError",
]


class DescriptionError(MultiArmError, ValueError):
    """A body, joint, arm or grasp that cannot be part of the mechanism; ``names`` lists the parts concerned."""

    def __init__(self, message: str, names: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


class RobotFileError(DescriptionError):
    """A robot file that cannot be read as a tree of bodies; ``path`` is the file."""

    def __init__(self, path: object, message: str, names: Iterable[str] = ()) -> None:
        super().__init__(f"{path}: {message}", names)
        self.path = path


class MissingExtraError(MultiArmError, ImportError):
    """A package that only an optional part needs is not installed; ``extra`` is what brings it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs the package {package!r}: pip install 'multiarm[{extra}]'", name=package)
        self.extra = extra


class BadInputError(MultiArmError, ValueError):
    """Numbers that do not fit the model: wrong length, not finite, a quaternion that is not unit."""


class SingularInertiaError(MultiArmError, ArithmeticError):
    """The articulated inertia D at a joint is not positive, so its acceleration is undefined.

    ``body`` and ``joint`` name the place, ``value`` is D (kg m^2 or kg), ``holders`` the grasps of a body without mass.
    """

    def __init__(self, body: str, joint: str, value: float, holders: Iterable[str] = ()) -> None:
        self.body, self.joint, self.value, self.holders = body, joint, value, tuple(holders)
        super().__init__(
            f"object {body!r}, held by {', '.join(repr(name) for name in self.holders)}, has no mass and no inertia: "
            f"give it inertia= or shape= and mass=, or keep one of its rigid grasps in the tree (cuts=[...])"
            if self.holders
            else f"the articulated inertia D of body {body!r} at joint {joint!r} is {value:.3g}, not positive "
            f"beyond rounding: give the body mass and inertia, or the joint armature (or the masses and lengths it "
            f"carries differ by more than double precision can tell apart)"
        )


class OpenLoopError(MultiArmError, ValueError):
    """A state that does not satisfy the constraints, or loops that cannot be closed; ``gaps`` maps names to sizes."""

    def __init__(self, message: str, gaps: dict[str, float]) -> None:
        super().__init__(message)
        self.gaps = gaps


class ContradictionError(MultiArmError, ArithmeticError):
    """Constraints that no acceleration can satisfy together; ``names`` are theirs, ``residual`` is what is left."""

    def __init__(self, names: Iterable[str], residual: float) -> None:
        self.names, self.residual = tuple(names), residual
        concerned = ", ".join(repr(name) for name in self.names)
        super().__init__(f"the constraints of {concerned} contradict each other: {residual:.3g} of them cannot be met")


class UnreachableMotionError(MultiArmError, ArithmeticError):
    """No torques of the actuated joints do what was asked; ``unmet`` says which part, ``residual`` by how much."""

    def __init__(self, unmet: str, residual: float) -> None:
        self.unmet, self.residual = unmet, residual
        super().__init__(
            f"the actuated joints cannot do all of this at once: {unmet} stay off by {residual:.3g}; ask for less, or "
            f"let fewer joints be passive"
        )


class RobotFileWarning(UserWarning):
    """Something in a robot file that could not be used."""


class ImmobileWarning(UserWarning):
    """A mechanism whose constraints leave it no way to move where it is."""


class UnphysicalInertiaWarning(UserWarning):
    """Published inertias that no rigid body can have, kept as given."""


class SimulationError(MultiArmError, RuntimeError):
    """A run that cannot go on; ``time`` [s] and ``step`` say when, ``joint`` where that is known.

    ``trajectory`` is what had been computed until then, if it was kept in memory.
    """

    trajectory: object = None

    def __init__(self, message: str, time: float, step: int, joint: str | None = None) -> None:
        super().__init__(f"at t = {time:.9g} s (step {step}): {message}")
        self.time, self.step, self.joint = time, step, joint


class ControllerError(SimulationError):
    """A controller returned something that is no torque."""
