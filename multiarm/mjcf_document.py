"""The MuJoCo side of MJCF: compiling a file, naming everything in it, and what of it a `Robot` cannot hold.

MJCF has defaults, includes, angle units, shorthand frames and inertias from geoms; MuJoCo's own compiler resolves them
all, and what is here reads its `MjModel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from os import PathLike, fspath
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.errors import BadInputError, MissingExtraError, RobotFileError

__all__ = ["Drive", "MjcfDocument", "left_out", "listed", "pose_of", "read_mjcf", "unused", "word"]

USUAL_GRAVITY = (0.0, 0.0, -9.81)
ON_A_JOINT = ("joint", "jointinparent")  # transmissions of actuators


@dataclass(frozen=True)
class Drive:
    """What the actuators on one joint add to it: rotor inertia, viscous damping and the greatest effort, at the joint.

    `effort` is infinite where one of them has no limit.
    """

    armature: float = 0.0
    damping: float = 0.0
    effort: float = 0.0


@dataclass(frozen=True, eq=False)
class MjcfDocument:
    """A compiled file: MuJoCo's model, and names for its bodies, joints and named sites, by their numbers.

    `where` stands for the file in messages; `drives` maps joints to the actuators on them.
    """

    where: str
    mujoco: Any
    model: Any
    bodies: list[str]
    joints: list[str]
    sites: dict[int, str]
    drives: dict[int, Drive]
    frame_names: set[str] = field(default_factory=set)
    joint_names: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the model."""
        return bytes(self.model.names).split(b"\0")[0].decode()

    def joints_of(self, body: int) -> range:
        """The joints that carry a body, from its parent on."""
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body])) if first >= 0 else range(0)

    def kind(self, joint: int) -> str:
        """One of "free", "ball", "slide" and "hinge"."""
        return word(self.mujoco.mjtJoint, self.model.jnt_type[joint])

    def one_coordinate(self, joint: int) -> bool:
        """Whether the joint is a hinge or a slide."""
        return self.kind(joint) in ("hinge", "slide")

    def reference(self, joint: int) -> float:
        """The coordinate of a hinge or slide where the file draws it."""
        return float(self.model.qpos0[self.model.jnt_qposadr[joint]])

    def disabled(self, *flags: str) -> bool:
        """Whether one of these flags of `<option>` is switched off."""
        return any(int(self.model.opt.disableflags) & int(getattr(self.mujoco.mjtDisableBit, flag)) for flag in flags)

    def given_name(self, what: str, number: int) -> str:
        """The name that the file gives, or its number after what it is."""
        found = self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{what.upper()}"), number)
        return found or f"{what}{number}"


def word(enum: Any, value: int) -> str:
    """What a number of MuJoCo's means, as in the files: mjEQ_WELD is "weld"."""
    return str(enum(int(value)).name).partition("_")[2].lower()


def pose_of(position: np.ndarray, quaternion: np.ndarray) -> RigidTransform:
    """A pose from MuJoCo's position and quaternion, scalar first."""
    return RigidTransform.from_components(np.array(position), Rotation.from_quat(quaternion, scalar_first=True))


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in quotes, the first few of them."""
    all_names = list(names)
    shown = ", ".join(map(repr, all_names[:most]))
    return shown if len(all_names) <= most else f"{shown}, ... ({len(all_names)} in all)"


def unused(name: str, taken: set[str]) -> str:
    """The name itself, or with the first number that makes it new; it counts as taken from now on."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}.{number}"
    taken.add(found)
    return found


def read_mjcf(path_or_xml: str | PathLike[str]) -> MjcfDocument:
    """Compile a file, or a text that starts with "<"; `RobotFileError` with MuJoCo's words if it refuses."""
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError("load_mjcf", "mujoco", "mjcf") from error
    where, model = _compile(mujoco, path_or_xml)

    def named(what: Any, count: int) -> list[str | None]:
        return [mujoco.mj_id2name(model, what, i) for i in range(count)]

    given = named(mujoco.mjtObj.mjOBJ_BODY, model.nbody)
    frame_names = {name for name in given if name}
    bodies = [name or unused(f"body{i}", frame_names) for i, name in enumerate(given)]
    sites = {}
    for i, name in enumerate(named(mujoco.mjtObj.mjOBJ_SITE, model.nsite)):
        if name:
            sites[i] = unused(f"{name}.site" if name in frame_names else name, frame_names)
    given = named(mujoco.mjtObj.mjOBJ_JOINT, model.njnt)
    joint_names = {name for name in given if name}
    # a joint without a name of its own is called after the body it carries
    joints = [name or unused(bodies[model.jnt_bodyid[i]], joint_names) for i, name in enumerate(given)]
    drives = _drives(mujoco, model)
    return MjcfDocument(where, mujoco, model, bodies, joints, sites, drives, frame_names, joint_names)


def _compile(mujoco: Any, path_or_xml: str | PathLike[str]) -> tuple[str, Any]:
    """What stands for the file in messages, and MuJoCo's model of it."""
    if not isinstance(path_or_xml, str | PathLike):
        raise BadInputError(f"load_mjcf: expected a path or MJCF text, not {path_or_xml!r}")
    text = fspath(path_or_xml)
    is_xml = isinstance(path_or_xml, str) and text.lstrip().startswith("<")
    where = "MJCF text" if is_xml else text
    try:
        if not is_xml:
            with open(text, "rb"):
                pass
        return where, (mujoco.MjModel.from_xml_string if is_xml else mujoco.MjModel.from_xml_path)(text)
    except OSError as error:
        raise RobotFileError(where, f"the file cannot be read ({error.strerror})") from error
    except (ValueError, mujoco.FatalError) as error:
        raise RobotFileError(where, f"MuJoCo cannot compile it: {' '.join(str(error).split())}") from error


def _drives(mujoco: Any, model: Any) -> dict[int, Drive]:
    """Joints that actuators act on, by a gear or through a fixed tendon, and what the actuators add there."""
    drives: dict[int, Drive] = {}
    for i in range(len(model.actuator_trntype)):
        kind, target = word(mujoco.mjtTrn, model.actuator_trntype[i]), int(model.actuator_trnid[i, 0])
        if kind == "tendon":
            wraps = range(model.tendon_adr[target], model.tendon_adr[target] + model.tendon_num[target])
            for wrap in wraps:
                if word(mujoco.mjtWrap, model.wrap_type[wrap]) == "joint":
                    drives[int(model.wrap_objid[wrap])] = Drive(effort=inf)
        elif kind in ON_A_JOINT:
            known = drives.get(target, Drive())
            gear = abs(float(model.actuator_gear[_row(model, "actuator_outadr", i), 0]))
            limited, bounds = model.actuator_forcelimited[i], model.actuator_forcerange[i]
            drives[target] = Drive(
                known.armature + gear**2 * float(_row(model, "actuator_armature", i, 0.0)),
                known.damping + gear**2 * float(_row(model, "actuator_damping", i, 0.0)),
                known.effort + (gear * float(np.abs(bounds).max()) if limited else inf),
            )
    return drives


def _row(model: Any, array: str, i: int, missing: float | None = None) -> Any:
    """Entry `i` of an array that older versions of MuJoCo do not have."""
    values = getattr(model, array, None)
    return (i if missing is None else missing) if values is None else values[i]


def left_out(document: MjcfDocument, bodies: set[int]) -> Iterator[str]:
    """What acts on the motion in MuJoCo but is not part of a robot made of these bodies."""
    model = document.model
    joints = [i for i in range(model.njnt) if int(model.jnt_bodyid[i]) in bodies]

    def names(what: str, numbers: Iterable[int], *arrays: str) -> list[str]:
        found = [getattr(model, array) for array in arrays if hasattr(model, array)]
        return [document.given_name(what, i) for i in numbers if any(np.any(array[i]) for array in found)]

    springs = [i for i in joints if model.jnt_stiffness[i] or np.any(_row(model, "jnt_stiffnesspoly", i, 0.0))]
    yield from _phrase("springs of joints", [document.joints[i] for i in springs])
    curved = [i for i in joints if np.any(_row(model, "dof_dampingpoly", int(model.jnt_dofadr[i]), 0.0))]
    yield from _phrase("damping beyond the linear term of joints", [document.joints[i] for i in curved])
    weightless = [document.bodies[i] for i in sorted(bodies) if model.body_gravcomp[i]]
    yield from _phrase("gravity compensation of bodies", weightless)
    effects = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "limited", "armature")
    acting = names("tendon", range(model.ntendon), *(f"tendon_{effect}" for effect in effects))
    yield from _phrase("tendons", acting)
    actuators = range(len(model.actuator_trntype))
    laws = names("actuator", actuators, "actuator_dyntype", "actuator_gaintype", "actuator_biastype")
    yield from _phrase("the laws of actuators", laws)
    elsewhere = [i for i in actuators if word(document.mujoco.mjtTrn, model.actuator_trntype[i]) not in ON_A_JOINT]
    rotors = names("actuator", elsewhere, "actuator_armature", "actuator_damping")
    yield from _phrase("rotor inertia and damping of actuators that drive no single joint", rotors)
    yield from _phrase("contact pairs", [document.given_name("pair", i) for i in range(model.npair)])
    yield from _phrase("flexes", [document.given_name("flex", i) for i in range(model.nflex)])
    yield from _phrase("plugins", [document.given_name("plugin", i) for i in range(model.nplugin)])
    if model.opt.density or model.opt.viscosity:
        yield "forces of the medium (density, viscosity)"
    gravity = np.zeros(3) if document.disabled("mjDSBL_GRAVITY") else np.array(model.opt.gravity)
    if not np.array_equal(gravity, USUAL_GRAVITY):
        x, y, z = gravity.tolist()
        yield f"gravity, which is Mechanism.compile(gravity=({x:g}, {y:g}, {z:g}))"


def _phrase(what: str, names: Iterable[str]) -> Iterator[str]:
    found = list(names)
    if found:
        yield f"{what} {listed(found)}"
