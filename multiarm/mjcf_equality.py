"""MJCF's `<equality>` as hard constraints: loops closed by ball joints and welds, coupled joints, joints held still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import RigidTransform

from multiarm.description import Coupling, Joint
from multiarm.errors import RobotFileError
from multiarm.mjcf_document import MjcfDocument, listed, pose_of, unused, word

__all__ = ["Equalities", "read_equalities", "ties"]

LOOPS = ("connect", "weld")
ADVICE = 'leave it out, or set active="false" to load the rest'


@dataclass
class Equalities:
    """What the equalities of a file demand: joints that close loops, couplings, and coordinates that stay put.

    `held` maps joints to the coordinate that they keep; `outside` names equalities that tie the robot to what was left
    out of it; `notes` tell what was skipped.
    """

    loops: list[Joint] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    held: dict[int, float] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_equalities(document: MjcfDocument, bodies: set[int], root: int) -> Equalities:
    """The active equalities of a file on a robot of `bodies` below `root`; those beyond a robot are refused by name."""
    found = Equalities()
    model = document.model
    skipped = []
    for i in range(model.neq):
        name = _name(document, i)
        if not _active(document, i):
            skipped.append(name)
            continue
        match kind := _kind(document, i):
            case "connect" | "weld":
                _close(document, i, name, bodies, found)
            case "joint":
                _couple(document, i, name, bodies - {root}, found)
            case _:
                raise RobotFileError(
                    document.where,
                    f"equality {name!r}: of equalities only connect, weld and joint are read, not {kind}; {ADVICE}",
                    [name],
                )
    if skipped:
        found.notes.append(f"{document.where}: equalities that are not active, skipped: {listed(skipped)}")
    _refuse_held_and_coupled(document, found)
    return found


def ties(document: MjcfDocument, body: int) -> bool:
    """Whether an active connect or weld ends on the body."""
    closing = [i for i in range(document.model.neq) if _active(document, i) and _kind(document, i) in LOOPS]
    return any(body == end for i in closing for end, _ in _ends(document, i))


def _kind(document: MjcfDocument, i: int) -> str:
    return word(document.mujoco.mjtEq, document.model.eq_type[i])


def _on_sites(document: MjcfDocument, i: int) -> bool:
    return word(document.mujoco.mjtObj, document.model.eq_objtype[i]) == "site"


def _active(document: MjcfDocument, i: int) -> bool:
    return bool(document.model.eq_active0[i]) and not document.disabled("mjDSBL_EQUALITY", "mjDSBL_CONSTRAINT")


def _name(document: MjcfDocument, i: int) -> str:
    """The name in the file, or "a:b" after the two things tied, as for the loops of a URDF file."""
    model = document.model
    given = document.mujoco.mj_id2name(model, document.mujoco.mjtObj.mjOBJ_EQUALITY, i)
    kind = _kind(document, i)
    if given or kind not in (*LOOPS, "joint"):
        return given or f"equality{i}"
    first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    names: Mapping[int, str] | list[str] = document.bodies
    if kind == "joint":
        names = document.joints
    elif _on_sites(document, i):
        names = document.sites
    return f"{names[first]}:{names[second]}" if second >= 0 else names[first]


def _close(document: MjcfDocument, i: int, name: str, bodies: set[int], found: Equalities) -> None:
    """A connect as a ball joint, a weld as a fixed one, from the first thing named to the second."""
    ends = _ends(document, i)
    inside = [body in bodies for body, _ in ends]
    if not any(inside):
        return
    if not all(inside):
        found.outside.append(name)
        return
    (first, at), (second, in_child) = ends
    torquescale = document.model.eq_data[i, 10]  # at zero, a weld leaves rotations free
    rigid = _kind(document, i) == "weld" and torquescale != 0.0
    found.loops.append(
        Joint(
            unused(name, document.joint_names),
            "fixed" if rigid else "spherical",
            document.bodies[first],
            document.bodies[second],
            at=at,
            in_child=in_child,
            passive=True,
            closes_loop=True,
        )
    )


def _ends(document: MjcfDocument, i: int) -> list[tuple[int, RigidTransform]]:
    """The two bodies of a connect or weld, and the frames on them that meet.

    In the compiled model a connect holds the two points, on the first and on the second body. A weld holds the point on
    the second body, that on the first one, and the orientation of the second body in the first.
    """
    model = document.model
    numbers = (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
    if _on_sites(document, i):
        return [
            (int(model.site_bodyid[site]), pose_of(model.site_pos[site], model.site_quat[site])) for site in numbers
        ]
    data, upright = model.eq_data[i], np.array([1.0, 0.0, 0.0, 0.0])
    if _kind(document, i) == "weld":
        poses = (pose_of(data[3:6], data[6:10]), pose_of(data[:3], upright))
    else:
        poses = (pose_of(data[:3], upright), pose_of(data[3:6], upright))
    return list(zip(numbers, poses, strict=True))


def _couple(document: MjcfDocument, i: int, name: str, carried: set[int], found: Equalities) -> None:
    """y - y0 = a + b (x - x0), the references being where the file draws the joints."""
    model = document.model
    numbers = [int(joint) for joint in (model.eq_obj1id[i], model.eq_obj2id[i]) if joint >= 0]
    inside = [int(model.jnt_bodyid[joint]) in carried for joint in numbers]
    if not any(inside):
        return
    if not all(inside):
        found.outside.append(name)
        return
    a, b, *higher = model.eq_data[i, :5].tolist()
    y0, *x0 = (document.reference(joint) for joint in numbers)
    if not x0:
        if found.held.setdefault(numbers[0], y0 + a) != y0 + a:
            joint = document.joints[numbers[0]]
            raise RobotFileError(document.where, f"two equalities hold joint {joint!r} at different values", [joint])
        return
    if any(higher):
        raise RobotFileError(
            document.where,
            f"equality {name!r} ties joint {document.joints[numbers[0]]!r} to {document.joints[numbers[1]]!r} by a "
            f"polynomial (polycoef {' '.join(f'{x:g}' for x in model.eq_data[i, :5])}): only its first two terms, a "
            f"straight line, make a coupling; {ADVICE}",
            [name, *(document.joints[joint] for joint in numbers)],
        )
    y, x = (document.joints[joint] for joint in numbers)
    found.couplings.append(Coupling(y, x, ratio=b, offset=y0 + a - b * x0[0]))


def _refuse_held_and_coupled(document: MjcfDocument, found: Equalities) -> None:
    held = {document.joints[joint] for joint in found.held}
    for coupling in found.couplings:
        for name in (coupling.joint, coupling.source):
            if name in held:
                raise RobotFileError(
                    document.where,
                    f"joint {name!r} is held still by one equality and coupled by another "
                    f"({coupling.joint!r} to {coupling.source!r}): hold both still, or leave one equality out",
                    [coupling.joint, coupling.source],
                )
