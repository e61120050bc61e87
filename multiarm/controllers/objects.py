"""Objects led along paths: by computed torque, or as if on springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from multiarm.checks import as_number
from multiarm.constraints import constraints
from multiarm.controllers.base import Controller
from multiarm.controllers.gains import Gains, Limits, as_limits, as_matrix6, per_velocity
from multiarm.controllers.internal import Internal, internal_wrenches
from multiarm.controllers.joint_pd import Reference, joint_reference
from multiarm.controllers.packing import Packing
from multiarm.dynamics import mass_matrix
from multiarm.errors import BadInputError
from multiarm.kinematics import jacobian
from multiarm.model import Model
from multiarm.paths import Path
from multiarm.state import State
from multiarm.sweeps import control_layout as co

__all__ = ["ComputedTorque", "ObjectImpedance", "critical_damping"]

REACHABLE = 1e-10  # of the largest: eigenvalues of a compliance below it are rounding


class _ObjectController(Controller):
    """What both controllers of objects pack; a class of its own because their laws differ only in the gains."""

    def __init__(
        self, kind: int, model: Model, paths: Mapping[str, Path], first: np.ndarray, second: np.ndarray,
        posture: Reference | None, null_kp: Gains, null_kd: Gains, internal: Internal | None, limits: Limits,
    ) -> None:  # fmt: skip
        packing = Packing(kind, model, as_limits(model, limits))
        _require_paths(paths)
        packing.require_held(paths)
        positions, pulled, followed = joint_reference(model, posture)
        stiffness = np.where(pulled, per_velocity(model, null_kp, "null_kp"), 0.0)
        packing.posture(positions, stiffness, per_velocity(model, null_kd, "null_kd"), followed)
        packing.internal(internal_wrenches(model, internal))
        packing.tasks(paths, first, second)
        super().__init__(model, *packing.finish())


class ComputedTorque(_ObjectController):
    """Bodies accelerate as a_path + kd (V_path - V) + kp (x_path - x), with the loops closed.

    Of all accelerations that do this, the nearest in the mass metric to a0 = null_kp (q0 - q) - null_kd v is taken: a
    posture of the redundant joints. Of all constraint forces that then carry what has no actuator, the nearest (N and
    N m alike, at the cuts) to the internal forces asked for: the internal forces that ``solution.load(body).internal``
    reports are those, exactly, where forces are determinate and limits not reached. A motion that the mechanism cannot
    make is met in least squares (radians and metres alike). Nothing is known of friction and external wrenches.

    Parameters
    ----------
    model : Model
    paths : mapping
        Body or frame -> `multiarm.paths.Path` of it.
    kp, kd : number, six numbers or 6x6
        Gains [1/s^2] and [1/s] on the errors [rotation vector; position] and on those of the velocity, world axes.
    posture : State, array or mapping, optional
        Preferred joint coordinates, or a `JointPath`, as in `JointPD`.
    null_kp, null_kd : number, array or mapping
        Gains [1/s^2] and [1/s] of the posture; the damping acts without a posture too.
    internal, limits
        As in `JointPD`.
    """

    def __init__(
        self, model: Model, paths: Mapping[str, Path], kp: ArrayLike = 100.0, kd: ArrayLike = 20.0,
        posture: Reference | None = None, null_kp: Gains = 25.0, null_kd: Gains = 10.0,
        internal: Internal | None = None, limits: Limits = "effort",
    ) -> None:  # fmt: skip
        super().__init__(
            co.COMPUTED_TORQUE, model, paths, as_matrix6(kp, "kp"), as_matrix6(kd, "kd"),
            posture, null_kp, null_kd, internal, limits,
        )  # fmt: skip


class ObjectImpedance(_ObjectController):
    """Bodies answer external wrenches as Lambda (A - A_path) = D (V_path - V) + K (x_path - x) + F_external.

    Lambda is the inertia that the body has with all that moves along, arms included: another one could be imitated only
    with F_external measured. Without external wrenches internal forces are kept as in `ComputedTorque`.

    Parameters
    ----------
    model, paths
        As in `ComputedTorque`.
    stiffness, damping : number, six numbers or 6x6
        K [N m/rad and N/m] and D [N m s/rad and N s/m], world axes; `critical_damping` makes a D.
    posture, null_kp, null_kd, internal, limits
        As in `ComputedTorque`.
    """

    def __init__(
        self, model: Model, paths: Mapping[str, Path], stiffness: ArrayLike, damping: ArrayLike,
        posture: Reference | None = None, null_kp: Gains = 25.0, null_kd: Gains = 10.0,
        internal: Internal | None = None, limits: Limits = "effort",
    ) -> None:  # fmt: skip
        super().__init__(
            co.IMPEDANCE, model, paths, as_matrix6(stiffness, "stiffness"), as_matrix6(damping, "damping"),
            posture, null_kp, null_kd, internal, limits,
        )  # fmt: skip


def critical_damping(model: Model, state: State, body: str, stiffness: ArrayLike, ratio: float = 1.0) -> np.ndarray:
    """D with which every mode of Lambda x'' + D x' + K x = 0 is damped by `ratio` (1: critically) at `state`; 6x6.

    D = 2 ratio Lambda X sqrt(k) X* Lambda with K X = Lambda X k and X* Lambda X = 1, Lambda the inertia of the body
    with all that moves along; zero in directions in which it cannot move.
    """
    spring, share = as_matrix6(stiffness, "stiffness"), as_number(ratio, "ratio")
    if share < 0.0:
        raise BadInputError(f"ratio must not be negative, but is {share}")
    model = model.complete(state)
    inverse = np.linalg.inv(mass_matrix(model, state))
    rows, motion = constraints(model, state).jacobian, jacobian(model, state, body)
    hindered = np.linalg.pinv(rows @ inverse @ rows.T, rcond=REACHABLE, hermitian=True)
    free = inverse - inverse @ rows.T @ hindered @ rows @ inverse
    mobile, directions = np.linalg.eigh(motion @ free @ motion.T)
    able = mobile > REACHABLE * mobile.max()
    if not able.any():
        return np.zeros((6, 6))
    ways, inertia = directions[:, able], np.diag(1.0 / mobile[able])
    squares, modes = eigh(ways.T @ spring @ ways, inertia)
    shapes = ways @ inertia @ modes
    return np.asarray((shapes * (2.0 * share * np.sqrt(np.maximum(squares, 0.0)))) @ shapes.T)


def _require_paths(paths: Mapping[str, Path]) -> None:
    if not isinstance(paths, Mapping) or not paths:
        raise BadInputError("paths must map at least one body or frame to a path, as multiarm.paths makes them")
    for name, path in paths.items():
        if not isinstance(path, Path):
            raise BadInputError(
                f"the path of {name!r} is {path!r}: expected one that multiarm.paths makes; hold(pose) stays at a pose"
            )
