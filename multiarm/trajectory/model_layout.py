"""The layout of a compiled model's recordings: which channels, and a label and unit for every entry of q and v."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from multiarm.model import Model, TreeJoint
from multiarm.trajectory.layout import Channel, Label, Layout, used_coordinates
from multiarm.version import __version__

__all__ = ["AXES", "POSE", "XYZ", "coordinate_labels", "layout_of", "velocity_labels"]

AXES = ("nx", "ny", "nz", "fx", "fy", "fz")
POSE = ("qx", "qy", "qz", "qw", "x", "y", "z")
XYZ = ("x", "y", "z")
TURN, SLIDE = "rad", "m"

# (ending of the label, unit) of every coordinate and velocity of a joint kind; an only one is called like the joint
COORDINATES: dict[str, tuple[tuple[str, str], ...]] = {
    "fixed": (),
    "revolute": (("", TURN),),
    "continuous": (("", TURN),),
    "prismatic": (("", SLIDE),),
    "screw": (("", TURN),),
    "cylindrical": ((".angle", TURN), (".slide", SLIDE)),
    "universal": ((".angle1", TURN), (".angle2", TURN)),
    "planar": ((".x", SLIDE), (".y", SLIDE), (".angle", TURN)),
    "spherical": ((".qx", "1"), (".qy", "1"), (".qz", "1"), (".qw", "1")),
    "free": (*((f".{name}", "1") for name in POSE[:4]), *((f".{name}", SLIDE) for name in XYZ)),
}
VELOCITIES: dict[str, tuple[tuple[str, str], ...]] = {
    **{kind: entries for kind, entries in COORDINATES.items() if len(entries) < 2},
    "cylindrical": ((".w", TURN), (".v", SLIDE)),
    "universal": ((".w1", TURN), (".w2", TURN)),
    "planar": ((".vx", SLIDE), (".vy", SLIDE), (".w", TURN)),
    "spherical": ((".wx", TURN), (".wy", TURN), (".wz", TURN)),
    "free": (*((f".w{name}", TURN) for name in XYZ), *((f".v{name}", SLIDE) for name in XYZ)),
}
FORCE = {TURN: "N m", SLIDE: "N"}


def _entries(model: Model, kinds: Mapping[str, tuple[tuple[str, str], ...]]) -> list[tuple[str, str, str]]:
    """(label, unit, part) of every entry; the part is the arm of the joint, or the joint itself."""
    arm_of = {name: arm for arm in model.arms for name in model.coordinates_of_arm(arm)}

    def of(name: str, place: TreeJoint) -> list[tuple[str, str, str]]:
        return [(name + ending, unit, arm_of.get(name, name)) for ending, unit in kinds[place.joint.kind]]

    return [entry for name, place in model.joints.items() for entry in of(name, place)]


def coordinate_labels(model: Model) -> tuple[str, ...]:
    """A label for every entry of q: "left/panda_joint1", "box.qx"."""
    return tuple(label for label, _, _ in _entries(model, COORDINATES))


def velocity_labels(model: Model) -> tuple[str, ...]:
    """A label for every entry of v: "left/panda_joint1", "box.wx"."""
    return tuple(label for label, _, _ in _entries(model, VELOCITIES))


def layout_of(
    model: Model,
    grasps: Iterable[str] | None = None,
    extra: Iterable[Channel] = (),
    coordinates: Mapping[str, Iterable[str]] | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Layout:
    """The layout of a simulation of `model`.

    Parameters
    ----------
    grasps : names, optional
        Grasps to record; all of the model's by default. Grasps that are not made yet may be named too.
    extra : channels, optional
        Further ones. Dimensions they can use: those of the model's channels (coordinate, velocity, grasp, axis, xyz),
        `pose` (quaternion scalar last, then xyz), `body` (all bodies but the world), and those in `coordinates`.
    coordinates : mapping, optional
        Labels of further dimensions.
    attributes : mapping, optional
        What else to say about the run: scenario text, seeds. Name, size, gravity, tree and versions are there anyway.
    """
    positions, velocities = _entries(model, COORDINATES), _entries(model, VELOCITIES)
    held = tuple(model.grasps if grasps is None else grasps)
    known = {
        "coordinate": tuple(label for label, _, _ in positions),
        "velocity": tuple(label for label, _, _ in velocities),
        "grasp": held,
        "axis": AXES,
        "xyz": XYZ,
        "pose": POSE,
        "body": tuple(name for name in model.bodies if name != model.topology.root),
        **{dim: tuple(names) for dim, names in (coordinates or {}).items()},
    }
    channels = (*_channels([unit for _, unit, _ in positions], [unit for _, unit, _ in velocities]), *extra)
    known_grasps = [model.grasps.get(name) for name in held]
    labels = (
        Label("coordinate_part", "coordinate", tuple(part for _, _, part in positions)),
        Label("velocity_part", "velocity", tuple(part for _, _, part in velocities)),
        Label("grasp_body", "grasp", tuple("" if grasp is None else grasp.body for grasp in known_grasps)),
        Label("grasp_kind", "grasp", tuple("" if grasp is None else grasp.kind for grasp in known_grasps)),
    )
    return Layout(channels, used_coordinates(channels, known), labels, {**_attributes(model), **(attributes or {})})


def _channels(q: list[str], v: list[str]) -> tuple[Channel, ...]:
    """The channels of every simulation, from the units of the entries of q and v."""
    rates, seconds = tuple(f"{unit}/s" for unit in v), tuple(f"{unit}/s2" for unit in v)
    efforts, wrench = tuple(FORCE[unit] for unit in v), ("N m", "N m", "N m", "N", "N", "N")
    at_grasp = "on the object by the arm, world axes, at the grasp point"
    return (
        Channel("step", (), "1", "number of integration steps taken", "int64"),
        Channel("q", ("coordinate",), tuple(q), "coordinates"),
        Channel("v", ("velocity",), rates, "velocities"),
        Channel("a", ("velocity",), seconds, "accelerations"),
        Channel("tau", ("velocity",), efforts, "actuator torques and forces"),
        Channel("power", ("velocity",), "W", "power of the actuators"),
        Channel("wrench", ("grasp", "axis"), wrench, f"grasp wrench {at_grasp}"),
        Channel("grasp_point", ("grasp", "xyz"), "m", "grasp point in the world"),
        Channel("internal", ("grasp", "axis"), wrench, f"internal part of the grasp wrench {at_grasp}"),
        Channel("share", ("grasp",), "1", "share of the net grasp force that the arm carries"),
        Channel("slip_margin", ("grasp",), "1", "1 minus the used part of the friction limit; negative outside it"),
        Channel("kinetic_energy", (), "J", "kinetic energy, rotors included"),
        Channel("potential_energy", (), "J", "potential energy, zero for a centre of mass at the origin"),
        Channel("work", (), "J", "work of actuators and outside wrenches since the start"),
        Channel("dissipated", (), "J", "energy lost to friction, damping and impacts since the start"),
        Channel("closure_error", (), "m or rad", "largest gap of a closed loop"),
    )


def _attributes(model: Model) -> dict[str, Any]:
    return {
        "title": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "gravity": model.gravity.tolist(),
        "model": str(model),
        "model_fingerprint": model.fingerprint,
        "multiarm_version": __version__,
        "numpy_version": np.__version__,
        "python_version": platform.python_version(),
    }
