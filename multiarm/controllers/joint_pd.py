"""Joints held, or led along paths, by springs and dampers, with the weight taken off them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from multiarm.controllers.base import Controller
from multiarm.controllers.gains import Gains, Limits, as_limits, per_velocity
from multiarm.controllers.internal import Internal, internal_wrenches
from multiarm.controllers.packing import Packing
from multiarm.errors import BadInputError, DescriptionError
from multiarm.model import Model
from multiarm.paths import JointPath
from multiarm.state import State
from multiarm.sweeps import control_layout as co

__all__ = ["JointPD", "joint_reference"]

Reference = State | ArrayLike | Mapping[str, ArrayLike | JointPath]


class JointPD(Controller):
    """tau = kp (q_ref - q) + kd (v_ref - v) + the weight of the arms and of all they carry.

    The weight of objects, and whatever else has no actuator, is shared over the grasps by the least constraint forces
    (N and N m alike, at the grasps); what nothing supports falls. Quaternion joints are pulled along their shortest
    turn.

    Parameters
    ----------
    model : Model
    reference : State, array or mapping
        Where the joints should be: a state, all of q, or values or a `multiarm.paths.JointPath` by arm or joint; what a
        mapping does not name is damped but not pulled.
    kp, kd : number, array or mapping
        Stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m], one for all, nv entries, or by arm or joint.
    gravity : bool
        Whether to carry the weight.
    internal : mapping, optional
        Internal forces that the weight's share is added to: grasp -> [torque; force] on the object at the grasp, in the
        object's axes, with which they turn; or (grasp, grasp) -> newtons by which the two press against each other.
    limits : "effort", None, number, array or mapping
        Largest torques; "effort": those of the joints.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_arm("arm", ma.robots.ur5())
    >>> model = m.compile()
    >>> hold = ma.controllers.JointPD(model, {"arm": [0, -1, 1, 0, 1, 0]}, kp=100, kd=20)
    >>> hold(0.0, model.state(q={"arm": [0, -1, 1, 0, 1, 0]})).shape
    (6,)
    """

    def __init__(
        self, model: Model, reference: Reference, kp: Gains, kd: Gains, gravity: bool = True,
        internal: Internal | None = None, limits: Limits = "effort",
    ) -> None:  # fmt: skip
        packing = Packing(co.JOINT_PD, model, as_limits(model, limits))
        positions, pulled, followed = joint_reference(model, reference)
        stiffness = np.where(pulled, per_velocity(model, kp, "kp"), 0.0)
        packing.posture(positions, stiffness, per_velocity(model, kd, "kd"), followed)
        packing.internal(internal_wrenches(model, internal))
        packing.whole[co.GRAVITY] = int(gravity)
        super().__init__(model, *packing.finish())


def joint_reference(model: Model, reference: Reference | None) -> tuple[np.ndarray, np.ndarray, dict[str, JointPath]]:
    """(q_ref, which velocities it concerns, paths by arm or joint); nothing for None."""
    pulled = np.zeros(model.nv, bool)
    if reference is None:
        return model.neutral.copy(), pulled, {}
    if isinstance(reference, State):
        return model.own(reference).q.copy(), ~pulled, {}
    if not isinstance(reference, Mapping):
        return model.state(q=reference).q.copy(), ~pulled, {}
    followed: dict[str, JointPath] = {}
    points: dict[str, ArrayLike] = {}
    for name, value in reference.items():
        places = model.v_slice(name)
        if not model.actuated[places].any():
            powered = [joint for joint, place in model.joints.items() if place.actuated]
            raise DescriptionError(
                f"{name!r} has no actuator; those that have: {', '.join(map(repr, powered))}", [name]
            )
        if np.any(pulled[places]):
            raise BadInputError(f"the reference of {name!r} is given twice")
        pulled[places] = True
        if isinstance(value, JointPath):
            count = places.stop - places.start
            plain = model.q_slice(name).stop - model.q_slice(name).start == count
            if not plain or value.width != count:
                raise BadInputError(
                    f"the path of {name!r} has {value.width} coordinates: a path leads joints of one coordinate per "
                    f"velocity, and {name!r} has {count} velocities"
                )
            followed[name] = value
        else:
            points[name] = value
    return model.state(q=points).q.copy(), pulled, followed
