"""From the sections of a scenario to what drives a run: paths, controllers, force elements, actions."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from multiarm import controllers, paths
from multiarm.elements import (
    BodySpring,
    Bushing,
    Elements,
    JointDamper,
    JointFriction,
    JointLimit,
    JointSpring,
    Push,
    compliant_grasp,
)
from multiarm.kinematics import kinematics
from multiarm.laws import sine_law
from multiarm.model import Model
from multiarm.scenario import motion, run_parts
from multiarm.simulation import Action, HandOver, Hold, Payload, Release
from multiarm.state import State

__all__ = ["actions_of", "controller_of", "elements_of", "paths_of", "prescribed_of"]


def paths_of(parts: Mapping[str, motion.PathPart], model: Model, start: State, folder: Path) -> dict[str, paths.Path]:
    """The path of each object, from where it is at the start."""
    kin = kinematics(model, start)
    found = {}
    for name, part in parts.items():
        here = kin.pose(name)
        match part:
            case motion.QuinticPath():
                poses = [here, *(point.transform() for point in part.points)]
                times = [0.0, *(point.time for point in part.points)]
                found[name] = paths.quintic(poses, times, part.velocities)
            case motion.TrapezoidPath():
                poses = [here, *(point.transform() for point in part.points)]
                turns = (part.turn_speed or inf, part.turn_acceleration or inf)
                found[name] = paths.trapezoid(poses, part.speed, part.acceleration, *turns)
            case motion.CirclePath():
                axis = np.array(part.axis) / np.linalg.norm(part.axis)
                out = here.translation - part.centre
                middle = np.array(part.centre) + (out @ axis) * axis  # the circle lies where the object is
                radius = float(np.linalg.norm(here.translation - middle))
                found[name] = paths.circle(middle, axis, radius, part.period, here, part.turns, part.ramp)
            case motion.FilePath():
                found[name] = paths.from_file(folder / part.file)
            case _:
                found[name] = paths.hold(here)
    return found


def prescribed_of(
    parts: Mapping[str, motion.JointMotionPart], model: Model, start: State, duration: float
) -> dict[str, paths.JointPath]:
    """The law of each prescribed joint, from where it is at the start."""
    found = {}
    for name, part in parts.items():
        here = float(start.q[model.q_slice(name)][0])
        if isinstance(part, motion.JointQuintic):
            points = [[here], *([point.value] for point in part.points)]
            found[name] = paths.joint_quintic(points, [0.0, *(point.time for point in part.points)])
        else:
            found[name] = paths.joint_law(sine_law(part.amplitude, part.frequency, offset=here), duration)
    return found


def controller_of(
    part: motion.ControllerPart | None, model: Model, start: State, folder: Path
) -> controllers.Controller | None:
    """The controller, or None where nothing drives the joints."""
    if part is None:
        return None
    shared: dict[str, Any] = {
        "internal": {press.between: press.force for press in part.squeeze} or None,
        "limits": "effort" if part.torque_limits else None,
    }
    if isinstance(part, motion.JointPD):
        target = _moved(model, start, part.target)
        return controllers.JointPD(model, target, part.kp, part.kd, gravity=part.gravity, **shared)
    led = paths_of(part.paths, model, start, folder)
    shared |= {"posture": _moved(model, start, part.posture), "null_kp": part.null_kp, "null_kd": part.null_kd}
    if isinstance(part, motion.ComputedTorque):
        return controllers.ComputedTorque(model, led, part.kp, part.kd, **shared)
    return controllers.ObjectImpedance(model, led, part.stiffness, part.damping, **shared)


def _moved(model: Model, start: State, values: Mapping[str, Any]) -> State:
    """The starting state at rest, with the named coordinates changed."""
    q = np.array(start.q)
    for name, value in values.items():
        q[model.q_slice(name)] = value
    return model.state(q=q)


def elements_of(
    parts: Mapping[str, run_parts.ElementPart], disturbances: Mapping[str, run_parts.DisturbancePart], model: Model
) -> list[Any]:
    """Force elements and pushes."""
    found: list[Any] = []
    for part in parts.values():
        match part:
            case run_parts.JointSpring():
                found.append(JointSpring(part.joint, part.stiffness, part.rest))
            case run_parts.JointDamper():
                found.append(JointDamper(part.joint, part.damping))
            case run_parts.JointFriction():
                found.append(JointFriction(part.joint, part.coulomb, part.viscous, part.speed))
            case run_parts.JointLimit():
                found.append(JointLimit(part.joint, part.stiffness, part.damping))
            case run_parts.JointLosses():
                found += Elements.from_model(model, part.speed)
            case run_parts.BodySpring():
                found.append(BodySpring(part.one, part.other, part.stiffness, part.damping, part.rest_length))
            case run_parts.Bushing():
                rest = None if part.rest is None else part.rest.transform()
                found.append(Bushing(part.one, part.other, part.stiffness, part.damping, rest))
            case run_parts.CompliantGrasp():
                found.append(compliant_grasp(model, part.grasp, part.stiffness, part.damping))
    for push in disturbances.values():
        stop = inf if push.stop is None else push.stop
        found.append(Push(push.body, (*push.torque, *push.force), push.start, stop, push.profile, push.axes))
    return found


def actions_of(parts: list[run_parts.ActionPart]) -> list[tuple[float, Action]]:
    """Pairs of time and action."""
    found: list[tuple[float, Action]] = []
    for part in parts:
        action: Action
        match part:
            case run_parts.MakeGrasp() | run_parts.Dock():
                action = Hold(part.grasp, part.tolerance)
            case run_parts.ReleaseGrasp():
                action = Release(part.grasp)
            case run_parts.HandOver():
                action = HandOver(to=part.grasp, source=part.release, tolerance=part.tolerance)
            case run_parts.Payload():
                action = Payload(part.body, part.mass, part.inertia, part.com)
        found.append((part.time, action))
    return found
