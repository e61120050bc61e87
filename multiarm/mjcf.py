"""Robots from MJCF files: what MuJoCo's compiler makes of them, loops included, as a `Robot`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from os import PathLike

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from contacts import Box, Capsule, Cylinder, Shape, Sphere
from multiarm.description import Body, Frame, Joint, Robot, unphysical_notes
from multiarm.errors import BadInputError, RobotFileError, RobotFileWarning, UnknownNameError, UnphysicalInertiaWarning
from multiarm.mjcf_document import Drive, MjcfDocument, left_out, listed, pose_of, read_mjcf, unused, word
from multiarm.mjcf_equality import Equalities, read_equalities, ties
from multiarm.poses import IDENTITY

__all__ = ["load_mjcf"]

WORLD = 0
_KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}


def load_mjcf(
    path_or_xml: str | PathLike[str],
    tip: str | Mapping[str, str] | None = None,
    base: str | None = None,
    floating: bool | None = None,
) -> Robot:
    """The robot, or the whole scene, in an MJCF file: bodies, joints, sites, and `<equality>` as closed loops.

    Parameters
    ----------
    path_or_xml
        The file, or MJCF text (a string that starts with "<"). MuJoCo compiles it (the extra `mjcf`), so the meshes it
        mentions must be there.
    tip
        The body or site that grasps, or ``{"left": site, "right": site}`` for a robot with several. Without it, what
        is called "tip", else the only leaf of the tree of bodies; a robot with several leaves has none.
    base
        The body to start from; its own joints and what is not below it are left out. By default the file's world, a
        body "world" without mass, so that `base=` of `Mechanism.add_arm` places the scene. A file whose only link to
        the world is one free joint (nothing else hangs there, no site, no equality) starts from the body on it.
    floating
        Whether the base hangs in the world by a free joint; by default if it does so in the file.

    Returns
    -------
    Robot
        Every body is a body, every named site a frame ("x.site" where a body is called "x" too), every joint a joint,
        in MuJoCo's order. What has no name is called after its body or its number. A body with several joints hangs on
        bodies without mass, one for each joint but the last; a body without joints on a fixed one, "body/fixed".

    Raises
    ------
    MissingExtraError
        MuJoCo is not installed.
    RobotFileError
        The file cannot be read, MuJoCo refuses it (its message is in ours), or it has an equality beyond a `Robot`.
    UnknownNameError
        `tip` is no body or site, or `base` no body, of the file.

    Warns
    -----
    RobotFileWarning
        Once, naming all that acts in MuJoCo and is not taken over: springs, tendons, the laws of actuators, contact
        pairs, gravity that is not (0, 0, -9.81), equalities that reach outside `base`.
    UnphysicalInertiaWarning
        Once, naming the bodies whose inertias no rigid body can have; they are kept as given.

    Notes
    -----
    Coordinates: those of hinges and slides are MuJoCo's (`ref` included), so are a ball's with the quaternion's scalar
    last. A free joint that is not the base's is zero where the file draws its body: its xyz is the way from there, its
    quaternion the turn since, both in the axes of the file's world, as are its velocities [omega; v].

    Equalities: MuJoCo's are soft, these are hard. `connect` is a ball joint and `weld` a fixed one, unpowered, and cut
    first; they are named as in the file, else "a:b" after what they tie. `joint` is a coupling, y = a + b x with both
    counted from `ref`; terms of higher order are refused. One joint alone that an equality keeps at a constant becomes
    a fixed joint there. Equalities that are not active are skipped, with a note.

    Actuators: in a file with any, joints that none of them drives (itself or through a fixed tendon) are passive; in a
    file without, only free joints and the first joints of couplings are. Their rotor inertia and damping count at the
    joint. Effort limits are the larger bound of `actuatorfrcrange`, or of the actuators' `forcerange`, if that is less.

    Ranges are those of hinges and slides; joints with several coordinates have no limits. Contacts between geoms are no
    part of a robot. A body's shape is its first geom that collides, else its first one, if that is a box, sphere,
    cylinder or capsule at the body's origin.
    """
    document = read_mjcf(path_or_xml)
    model = document.model
    if model.nbody == 1:
        raise RobotFileError(document.where, "the file has no bodies")
    root = _root(document, base)
    below = _below(model.body_parentid, root)
    names = [document.bodies[i] for i in below]
    frames = tuple(_frames(document, set(below)))
    tips = _tips(tip, names, {document.bodies[model.body_parentid[i]] for i in below[1:]}, [f.name for f in frames])
    equalities = read_equalities(document, set(below), root)
    floats = _floats(document, root) if floating is None else bool(floating)
    if floats and root == WORLD:
        raise BadInputError(f"{document.where}: its world cannot float; name the body that does in base=")
    bodies: list[Body] = [_body(document, root)]
    joints: list[Joint] = []
    for i in below[1:]:
        for joint, carried in _hang(document, i, equalities):
            joints.append(joint)
            bodies.append(carried)
    unphysical = unphysical_notes(document.where, bodies)
    for note in unphysical:
        warnings.warn(note, UnphysicalInertiaWarning, stacklevel=2)
    missing = _missing(document, set(below), root, floats, equalities)
    for note in missing:
        warnings.warn(note, RobotFileWarning, stacklevel=2)
    notes = (*unphysical, *missing, *equalities.notes, *_quiet_notes(document, below))
    couplings = tuple(equalities.couplings)
    return Robot(
        document.name, tuple(bodies), (*joints, *equalities.loops), names[0], frames, tips, couplings, floats, notes
    )


# --- which part of the file -------------------------------------------------------------------------------------------


def _root(document: MjcfDocument, base: str | None) -> int:
    """The body named, or the world, or the only thing that floats in it."""
    model = document.model
    if base is not None:
        if base not in document.bodies:
            raise UnknownNameError("body", base, document.bodies)
        return document.bodies.index(base)
    top = [i for i in range(1, model.nbody) if model.body_parentid[i] == WORLD]
    if len(top) != 1 or not _floats(document, top[0]) or WORLD in model.site_bodyid:
        return WORLD
    first = int(model.body_dofadr[top[0]])
    lossy = any(array[first] for array in (model.dof_armature, model.dof_damping, model.dof_frictionloss))
    return WORLD if lossy or ties(document, WORLD) else top[0]


def _floats(document: MjcfDocument, body: int) -> bool:
    return [document.kind(joint) for joint in document.joints_of(body)] == ["free"]


def _below(parents: np.ndarray, root: int) -> list[int]:
    """A body and all that hangs on it, in MuJoCo's order, where parents come first."""
    found = {root: None}
    for i in range(root + 1, len(parents)):
        if int(parents[i]) in found:
            found[i] = None
    return list(found)


def _tips(
    tip: str | Mapping[str, str] | None, bodies: list[str], parents: set[str], frames: list[str]
) -> dict[str, str]:
    if tip is None:
        leaves = [name for name in (*bodies, *frames) if name == "tip"] or [
            name for name in bodies if name not in parents
        ]
        return {"tip": leaves[0]} if len(leaves) == 1 else {}
    if not isinstance(tip, str | Mapping):
        raise BadInputError(
            f"tip: expected the name of a body or site, or a mapping from tip names to those, not {tip!r}"
        )
    tips = {"tip": tip} if isinstance(tip, str) else dict(tip)
    for name in tips.values():
        if name not in bodies and name not in frames:
            raise UnknownNameError("body or site", name, [*bodies, *frames], f"Tips are looked for below {bodies[0]!r}")
    return tips


def _missing(
    document: MjcfDocument, bodies: set[int], root: int, floats: bool, equalities: Equalities
) -> tuple[str, ...]:
    """One note on everything that acts in MuJoCo but not here, or none."""
    parts = list(left_out(document, bodies - {root}))
    if equalities.outside:
        parts.append(f"equalities with what is not below {document.bodies[root]!r}: {listed(equalities.outside)}")
    model, first = document.model, int(document.model.body_dofadr[root])
    if floats and _floats(document, root):
        for what in ("armature", "damping", "frictionloss"):
            if getattr(model, f"dof_{what}")[first]:
                parts.append(f"{what} of the free joint of {document.bodies[root]!r}")
    return (f"{document.where}: not taken over: {'; '.join(parts)}",) if parts else ()


def _quiet_notes(document: MjcfDocument, bodies: list[int]) -> Iterator[str]:
    """What a reader may want to know, but nobody needs to be warned of."""
    model = document.model
    balls = [j for i in bodies for j in document.joints_of(i) if document.kind(j) == "ball" and model.jnt_limited[j]]
    if balls:
        yield f"{document.where}: ranges of ball joints are not kept: {listed(document.joints[j] for j in balls)}"
    led = [document.bodies[i] for i in bodies if model.body_mocapid[i] >= 0]
    if led:
        yield f"{document.where}: mocap bodies stay where the file draws them: {listed(led)}"
    if np.any(model.geom_contype) or np.any(model.geom_conaffinity):
        yield f"{document.where}: contacts between geoms are not taken over"


# --- bodies and frames ------------------------------------------------------------------------------------------------


def _body(document: MjcfDocument, i: int) -> Body:
    model = document.model
    axes = pose_of(model.body_ipos[i], model.body_iquat[i])
    rotation = axes.rotation.as_matrix()
    inertia = rotation @ np.diag(model.body_inertia[i]) @ rotation.T
    return Body(
        document.bodies[i],
        float(model.body_mass[i]),
        np.array(model.body_ipos[i]),
        (inertia + inertia.T) / 2,
        shape=_shape(document, i),
    )


def _shape(document: MjcfDocument, i: int) -> Shape | None:
    """The shape of the first geom that collides, else of the first, if it sits at the body's origin."""
    model = document.model
    geoms = range(int(model.body_geomadr[i]), int(model.body_geomadr[i]) + int(model.body_geomnum[i]))
    if i == WORLD or not geoms:
        return None
    g = next((g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]), geoms[0])
    placed = pose_of(model.geom_pos[g], model.geom_quat[g])
    if np.abs(placed.as_matrix() - np.eye(4)).max() > 1e-12:
        return None
    x, y, z = (float(size) for size in model.geom_size[g])
    match word(document.mujoco.mjtGeom, model.geom_type[g]):
        case "box":
            return Box((2 * x, 2 * y, 2 * z))
        case "sphere":
            return Sphere(x)
        case "cylinder":
            return Cylinder(x, 2 * y)
        case "capsule":
            return Capsule(x, 2 * y)
    return None


def _frames(document: MjcfDocument, bodies: set[int]) -> Iterator[Frame]:
    model = document.model
    for site, name in document.sites.items():
        body = int(model.site_bodyid[site])
        if body in bodies:
            yield Frame(name, document.bodies[body], pose_of(model.site_pos[site], model.site_quat[site]))


# --- joints -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """Between which bodies a joint stands, and the outer body's frame in the inner one while the joint is at rest."""

    inner: str
    outer: str
    at: RigidTransform


def _hang(document: MjcfDocument, i: int, equalities: Equalities) -> Iterator[tuple[Joint, Body]]:
    """The joints of a body from its parent on, each with what it carries: bodies without mass, and last the body."""
    model, name = document.model, document.bodies[i]
    inner = document.bodies[model.body_parentid[i]]
    at = pose_of(model.body_pos[i], model.body_quat[i])
    numbers = document.joints_of(i)
    if not numbers:
        yield Joint(unused(f"{name}/fixed", document.joint_names), "fixed", inner, name, at=at), _body(document, i)
    for j in numbers:
        if j == numbers[-1]:
            carried = _body(document, i)
        else:
            carried = Body(unused(f"{name}:{document.joints[j]}", document.frame_names))
        yield _joint(document, j, _Place(inner, carried.name, at), equalities), carried
        inner, at = carried.name, IDENTITY


def _joint(document: MjcfDocument, j: int, place: _Place, equalities: Equalities) -> Joint:
    model, name, kind = document.model, document.joints[j], document.kind(j)
    if kind == "free":  # displaced from where the file draws the body, along the axes of the world
        at = RigidTransform.from_translation(place.at.translation)
        in_child = RigidTransform.from_rotation(place.at.rotation.inv())
    else:
        in_child = RigidTransform.from_translation(np.array(model.jnt_pos[j]))
        at = place.at * in_child
    axis = np.array([0.0, 0.0, 1.0])
    if document.one_coordinate(j):
        axis = model.jnt_axis[j] / np.linalg.norm(model.jnt_axis[j])
        at = at * _moved(kind, axis, equalities.held.get(j, 0.0) - document.reference(j))
        if j in equalities.held:
            return Joint(name, "fixed", place.inner, place.outer, at=at, in_child=in_child)
    lower, upper, effort = _limits(document, j)
    drive, dof = document.drives.get(j, Drive()), int(model.jnt_dofadr[j])
    return Joint(
        name,
        _KINDS[kind],
        place.inner,
        place.outer,
        at=at,
        in_child=in_child,
        axis=axis,
        passive=_passive(document, j, equalities),
        lower=lower,
        upper=upper,
        effort_limit=effort,
        armature=float(model.dof_armature[dof]) + drive.armature,
        damping=float(model.dof_damping[dof]) + drive.damping,
        friction=float(model.dof_frictionloss[dof]),
    )


def _moved(kind: str, axis: np.ndarray, by: float) -> RigidTransform:
    """The motion of a hinge or slide by a coordinate."""
    if kind == "hinge":
        return RigidTransform.from_rotation(Rotation.from_rotvec(by * axis))
    return RigidTransform.from_translation(by * axis)


def _passive(document: MjcfDocument, j: int, equalities: Equalities) -> bool:
    """No actuator drives the joint; in a file that has none, the joint is free or follows another."""
    if len(document.model.actuator_trntype):
        return j not in document.drives
    return document.kind(j) == "free" or any(c.joint == document.joints[j] for c in equalities.couplings)


def _limits(document: MjcfDocument, j: int) -> tuple[float, float, float]:
    """Lower, upper and effort; infinite where the file sets none or the joint has several coordinates."""
    model = document.model
    if not document.one_coordinate(j):
        return -inf, inf, inf
    lower, upper = model.jnt_range[j].tolist() if model.jnt_limited[j] else (-inf, inf)
    efforts = [document.drives.get(j, Drive()).effort]
    if model.jnt_actfrclimited[j]:
        efforts.append(float(np.abs(model.jnt_actfrcrange[j]).max()))
    return lower, upper, min((effort for effort in efforts if effort > 0.0), default=inf)
