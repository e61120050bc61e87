"""Robots from URDF files: the tree of links and joints as a `Robot`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from math import inf, isfinite
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform

from contacts import Box, ContactError, Cylinder, Mesh, Shape, Sphere
from multiarm.description import Body, Coupling, Joint, Robot, unphysical_notes
from multiarm.errors import (
    BadInputError,
    RobotFileError,
    RobotFileWarning,
    UnknownNameError,
    UnphysicalInertiaWarning,
)
from multiarm.poses import IDENTITY, as_pose, turn_z_to
from multiarm.urdf_document import read_urdf

__all__ = ["load_urdf"]

_KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
_LOOPS = {"weld": "fixed", "ball": "spherical", "hinge": "revolute"}
_ONE_COORDINATE = ("revolute", "continuous", "prismatic")


def load_urdf(
    path: str | PathLike[str],
    tip: str | Mapping[str, str] | None = None,
    base: str | None = None,
    floating: bool = False,
    loops: Iterable[tuple[str, str, str]] = (),
) -> Robot:
    """The robot in a URDF file: any tree of links, all joint types, mimic joints as couplings.

    Parameters
    ----------
    path
        The file. Meshes it mentions are not opened and need not exist.
    tip
        The link that grasps, or ``{"left": link, "right": link}`` for a robot with several. Without it, the only leaf
        of the tree is the tip; a robot with several leaves has none.
    base
        The link to start from (default the root of the file); what is not below it is left out.
    floating
        Whether the base hangs in the world by a free joint.
    loops
        Pairs of links (or joints, standing for the links they carry) that coincide when the robot is assembled, and
        how: ``(a, b, "weld" | "ball" | "hinge")``, a hinge turning about z of both. Each becomes an unpowered joint
        "a:b", which is what gets cut first.

    Returns
    -------
    Robot
        Every link is a body, also massless ones, and every joint keeps its name and type ("floating" is a free joint).
        Joints stand depth-first, children in file order, so that each branch is contiguous. A planar joint's frame is
        turned so that its z is the file's axis.

    Raises
    ------
    RobotFileError
        The file cannot be read as a tree of rigid bodies; the message names the links, joints or attributes concerned.
    UnknownNameError
        `tip`, `base` or a link of `loops` is not a link of the file.

    Warns
    -----
    UnphysicalInertiaWarning
        Once, naming the links whose inertias no rigid body can have; they are kept as given.

    Notes
    -----
    Ranges: a `<limit>` without lower or upper means zero for it, as the format defines; no `<limit>` means no range.
    Effort and velocity limits that are absent or not positive mean no limit, since exporters write zeros where nothing
    is known. Joints with several coordinates have no limits.

    Rotor inertia: `<dynamics armature="...">` is taken as it is, the inertia seen at the joint. Otherwise a
    `rotor_inertia`, an attribute of `<dynamics>` or an element in the joint's `<transmission>` (as Drake writes it), is
    multiplied by the square of the transmission's `gear_ratio` or `mechanicalReduction` (1 if there is none).

    A body's shape is its first collision geometry, else its first visual one, if that sits at the link's origin.
    """
    file = Path(path)
    document = read_urdf(file)
    source = document.robot
    links = {link.name: link for link in source.links}
    root, children = _tree(file, source)
    if base is not None:
        if base not in links:
            raise UnknownNameError("link", base, links)
        root = base
    branch = list(_depth_first(root, children))
    names = [root, *(joint.child for joint in branch)]
    tips = _tips(tip, names, {joint.parent for joint in branch})
    bodies = tuple(_body(file, links[name]) for name in names)
    joints = tuple(_joint(file, joint, document.armatures.get(joint.name, 0.0)) for joint in branch)
    ends = {joint.name: joint.child for joint in branch} | {name: name for name in names}
    for loop in loops:
        if isinstance(loop, str) or len(loop) != 3 or not all(isinstance(part, str) for part in loop):
            raise BadInputError(f"loops: expected triples (link, link, 'weld' | 'ball' | 'hinge'), not {loop!r}")
        joints += (_loop_joint(ends, *loop),)
    couplings = tuple(_couplings(file, root, branch))
    unphysical = unphysical_notes(str(path), bodies)
    for note in unphysical:
        warnings.warn(note, UnphysicalInertiaWarning, stacklevel=2)
    for note in document.unused_rotors:  # unlike a shape, a rotor left out changes the dynamics
        warnings.warn(f"{path}: {note}", RobotFileWarning, stacklevel=2)
    notes = (*unphysical, *document.unused_rotors, *document.unread_shapes)
    return Robot(source.name, bodies, joints, root, (), tips, couplings, bool(floating), notes)


def _loop_joint(ends: Mapping[str, str], first: str, second: str, how: str) -> Joint:
    """The joint that closes a loop between two links; a joint's name stands for the link it carries."""
    for name in (first, second):
        if name not in ends:
            raise UnknownNameError("link or joint", name, ends)
    if how not in _LOOPS:
        raise UnknownNameError("way to close a loop", how, _LOOPS)
    return Joint(f"{first}:{second}", _LOOPS[how], ends[first], ends[second], passive=True, closes_loop=True)


def _tree(path: Path, source: Any) -> tuple[str, dict[str, list[Any]]]:
    """The root link and the joints below each link; raises unless the links are one tree."""
    children: dict[str, list[Any]] = {link.name: [] for link in source.links}
    above: dict[str, Any] = {}
    if not children:
        raise RobotFileError(path, "the file has no links")
    advice = "a file holds a tree only: leave one joint of a loop out and name its two ends in loops="
    for joint in source.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in children:
                raise RobotFileError(
                    path, f"joint {joint.name!r}: there is no {role} link {name!r}", [joint.name, name]
                )
        if (other := above.setdefault(joint.child, joint)) is not joint:
            raise RobotFileError(
                path,
                f"link {joint.child!r} has two parents, {other.parent!r} by joint {other.name!r} and "
                f"{joint.parent!r} by joint {joint.name!r}; {advice}",
                [joint.child, other.name, joint.name],
            )
        children[joint.parent].append(joint)
    roots = [name for name in children if name not in above]
    if len(roots) > 1:
        raise RobotFileError(
            path, f"several root links: {', '.join(map(repr, roots))}; join them by fixed joints", roots
        )
    reached = {joint.child for joint in _depth_first(roots[0], children)} if roots else set()
    on_loop = [name for name in above if name not in reached]
    if on_loop:
        loop = [on_loop[0]]
        while (parent := above[loop[-1]].parent) not in loop:
            loop.append(parent)
        loop = loop[loop.index(parent) :][::-1]
        raise RobotFileError(path, f"the links {', '.join(map(repr, loop))} form a cycle; {advice}", loop)
    return roots[0], children


def _depth_first(root: str, children: Mapping[str, list[Any]]) -> Iterator[Any]:
    """The joints below `root`, each branch contiguous, children in file order (a stack: chains may be long)."""
    stack = children[root][::-1]
    while stack:
        joint = stack.pop()
        yield joint
        stack += reversed(children[joint.child])


def _tips(tip: str | Mapping[str, str] | None, names: list[str], parents: set[str]) -> dict[str, str]:
    if tip is None:
        leaves = [name for name in names if name not in parents]
        return {"tip": leaves[0]} if len(leaves) == 1 else {}
    if not isinstance(tip, str | Mapping):
        raise BadInputError(f"tip: expected a link name or a mapping from tip names to link names, not {tip!r}")
    tips = {"tip": tip} if isinstance(tip, str) else dict(tip)
    for name in tips.values():
        if name not in names:
            raise UnknownNameError("link", name, names, f"Tips are looked for below {names[0]!r}")
    return tips


def _pose(origin: np.ndarray | None) -> RigidTransform:
    return IDENTITY if origin is None else as_pose(origin)


def _body(path: Path, link: Any) -> Body:
    try:
        shape = _shape(path, (link.collisions or link.visuals or [None])[0])
    except ContactError as error:
        raise RobotFileError(path, f"link {link.name!r}: {error}", [link.name]) from error
    if link.inertial is None:
        return Body(link.name, shape=shape)
    at = _pose(link.inertial.origin)
    rotation = at.rotation.as_matrix()
    inertia = rotation @ link.inertial.inertia @ rotation.T
    return Body(link.name, link.inertial.mass, at.translation, (inertia + inertia.T) / 2, shape=shape)


def _shape(path: Path, part: Any) -> Shape | None:
    """The shape of a collision or visual element, or None if it does not sit at the link's origin."""
    if part is None or (part.origin is not None and not np.allclose(part.origin, np.eye(4), rtol=0, atol=1e-12)):
        return None
    geometry = part.geometry
    if geometry.box is not None:
        x, y, z = geometry.box.size.tolist()
        return Box((x, y, z))
    if geometry.sphere is not None:
        return Sphere(geometry.sphere.radius)
    if geometry.cylinder is not None:
        return Cylinder(geometry.cylinder.radius, geometry.cylinder.length)
    scale = 1.0 if geometry.mesh.scale is None else geometry.mesh.scale
    x, y, z = np.broadcast_to(scale, (3,)).tolist()
    return Mesh(_mesh_path(path, geometry.mesh.filename), (x, y, z))


def _mesh_path(path: Path, filename: str) -> str:
    """The mesh, if it is found beside or above the URDF file; otherwise its name as given."""
    scheme, _, name = filename.rpartition("://")
    _, _, inside = name.partition("/")
    folders = path.resolve().parents if scheme in ("package", "model") else [path.parent]
    for candidate in (folder / tail for folder in folders for tail in ((name, inside) if scheme else (name,))):
        if isfile(candidate):
            return str(candidate)
    return filename


def _joint(path: Path, joint: Any, armature: float) -> Joint:
    if joint.type not in _KINDS:
        raise RobotFileError(
            path, f"joint {joint.name!r} has unknown type {joint.type!r}; valid: {', '.join(_KINDS)}", [joint.name]
        )
    at, in_child, axis = _pose(joint.origin), IDENTITY, np.array([0.0, 0.0, 1.0])
    if joint.type in (*_ONE_COORDINATE, "planar"):
        largest = np.abs(joint.axis).max()
        if largest == 0.0:
            raise RobotFileError(path, f"joint {joint.name!r} has a zero axis", [joint.name])
        axis = joint.axis / largest  # first, so that no square overflows or vanishes
        axis /= np.linalg.norm(axis)
    if joint.type == "planar":
        in_child = RigidTransform.from_rotation(turn_z_to(axis))
        at, axis = at * in_child, np.array([0.0, 0.0, 1.0])
    lower, upper, velocity, effort = _limits(path, joint)
    return Joint(
        joint.name,
        _KINDS[joint.type],
        parent=joint.parent,
        child=joint.child,
        at=at,
        in_child=in_child,
        axis=axis,
        passive=joint.mimic is not None and joint.type != "fixed",
        lower=lower,
        upper=upper,
        velocity_limit=velocity,
        effort_limit=effort,
        armature=armature,
        damping=float((joint.dynamics and joint.dynamics.damping) or 0.0),
        friction=float((joint.dynamics and joint.dynamics.friction) or 0.0),
    )


def _limits(path: Path, joint: Any) -> tuple[float, float, float, float]:
    """Lower, upper, velocity and effort; infinite where the file sets none or the joint has several coordinates."""
    limit = joint.limit
    if limit is None or joint.type not in _ONE_COORDINATE:
        return -inf, inf, inf, inf
    without_range = joint.type == "continuous" or (limit.lower is None and limit.upper is None)
    lower, upper = (-inf, inf) if without_range else (limit.lower or 0.0, limit.upper or 0.0)
    if lower > upper:
        raise RobotFileError(
            path, f"joint {joint.name!r}: lower limit {lower:g} is above upper limit {upper:g}", [joint.name]
        )
    velocity, effort = (value if value and value > 0.0 else inf for value in (limit.velocity, limit.effort))
    return lower, upper, velocity, effort


def _couplings(path: Path, root: str, joints: list[Any]) -> Iterator[Coupling]:
    """Mimic joints, each tied to the joint that moves freely at the end of its chain of mimics."""
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None or joint.type == "fixed":  # a fixed joint has no coordinate to couple
            continue
        ratio, offset, seen = 1.0, 0.0, [joint.name]
        while (mimic := by_name[seen[-1]].mimic) is not None:
            offset += ratio * mimic.offset
            ratio *= mimic.multiplier
            if mimic.joint not in by_name:
                message = f"joint {seen[-1]!r} mimics {mimic.joint!r}, which is no joint below link {root!r}"
                raise RobotFileError(path, message, [seen[-1], mimic.joint])
            if mimic.joint in seen:
                round_trip = " -> ".join(map(repr, [*seen, mimic.joint]))
                raise RobotFileError(path, f"joints mimic each other in a circle: {round_trip}", seen)
            seen.append(mimic.joint)
        for name in seen:
            if by_name[name].type not in _ONE_COORDINATE:
                raise RobotFileError(
                    path,
                    f"joint {joint.name!r} mimics {seen[-1]!r}, but {name!r} is {by_name[name].type}: only revolute, "
                    f"continuous and prismatic joints can mimic or be mimicked",
                    [joint.name, name],
                )
        if not (isfinite(ratio) and isfinite(offset)):
            raise RobotFileError(path, f"joint {joint.name!r}: its mimic ratio or offset is not finite", [joint.name])
        yield Coupling(joint.name, seen[-1], ratio, offset)
