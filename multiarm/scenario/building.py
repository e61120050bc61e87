"""From the content of a scenario to a `Mechanism`, part by part; what a part does wrong is said with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from contacts import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from multiarm import robots
from multiarm.errors import MultiArmError
from multiarm.mechanism import Mechanism
from multiarm.scenario.errors import Problem, ScenarioError, choose_from
from multiarm.scenario.fields import Pose
from multiarm.scenario.parts import (
    ArmPart,
    BodyPart,
    BoxShape,
    CapsuleShape,
    Chain,
    CylinderShape,
    FramePart,
    JointPart,
    Mjcf,
    Panda,
    Planar,
    Puma560,
    SphereShape,
    Torso,
    Ur5,
    Urdf,
)
from multiarm.urdf import load_urdf

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

    from multiarm.description import Robot
    from multiarm.scenario.content import Content
    from multiarm.scenario.document import Document, Key

__all__ = ["Builder"]


class Builder:
    """Builds the mechanism of a scenario and collects what is wrong with it.

    Parameters
    ----------
    content : Content
        The checked content of the file.
    document : Document
        Where everything stands in it.
    folder : Path
        What names of files are relative to.
    """

    def __init__(self, content: Content, document: Document, folder: Path) -> None:
        self.content, self.document, self.folder = content, document, folder
        self.problems: list[Problem] = []
        self._unbuilt = {*content.bodies, *content.arms, *content.frames}

    def mechanism(self, inactive: bool = True) -> Mechanism:
        """The mechanism; with `inactive`, grasps that do not hold at the start are part of it too.

        Raises
        ------
        ScenarioError
            With every part that cannot be built.
        """
        m = Mechanism(self.content.name)
        for name, body in self.content.bodies.items():
            with self._part(("bodies", name)):
                self._add_body(m, name, body)
                self._unbuilt.discard(name)
        self._add_arms_and_frames(m)
        for name, joint in self.content.joints.items():
            self._add_joint(m, name, joint)
        for i, coupling in enumerate(self.content.couplings):
            key: Key = ("couplings", i)
            known = all(
                self._known((*key, role), "joint", getattr(coupling, role), m.joints) for role in ("joint", "source")
            )
            with self._part(key):
                if known:
                    m.couple(coupling.joint, coupling.source, coupling.ratio, coupling.offset)
        for name, grasp in self.content.grasps.items():
            if grasp.active or inactive:
                self._add_grasp(m, name)
        if self.problems:
            raise ScenarioError(self.document.file, self.problems)
        return m

    # ------------------------------------------------------------------ parts

    def _add_body(self, m: Mechanism, name: str, body: BodyPart) -> None:
        m.add_body(
            name,
            mass=body.mass,
            inertia=body.inertia,
            com=body.com,
            pose=_transform(body.pose),
            shape=self._shape(name, body),
            fixed=body.fixed,
        )

    def _shape(self, name: str, body: BodyPart) -> Shape | None:
        match body.shape:
            case None:
                return None
            case BoxShape(size=size):
                return Box(size)
            case SphereShape(radius=radius):
                return Sphere(radius)
            case CylinderShape(radius=radius, length=length):
                return Cylinder(radius, length)
            case CapsuleShape(radius=radius, length=length):
                return Capsule(radius, length)
            case mesh:
                path = self._file(("bodies", name, "shape", "file"), mesh.file)
                return Mesh(str(path or mesh.file), mesh.scale)

    def _add_arms_and_frames(self, m: Mechanism) -> None:
        """Add what can be added until nothing more can: arms stand on frames, and frames sit in arms."""
        waiting: list[tuple[Key, str, ArmPart | FramePart]] = [
            *((("arms", name, "mounted_on"), arm.mounted_on, arm) for name, arm in self.content.arms.items()),
            *((("frames", name, "body"), frame.body, frame) for name, frame in self.content.frames.items()),
        ]
        waiting.sort(key=lambda item: self.document.place(item[0][:2], of_key=True))
        while waiting:
            ready = [item for item in waiting if item[1] in m.bodies or item[1] in m.frames]
            if not ready:
                break
            for key, _, part in ready:
                with self._part(key[:2]):
                    if isinstance(part, FramePart):
                        m.add_frame(str(key[1]), part.body, part.pose.transform())
                        self._unbuilt.discard(str(key[1]))
                    else:
                        robot = self._robot(("arms", str(key[1]), "robot"), part)
                        if robot is not None:
                            m.add_arm(str(key[1]), robot, base=_transform(part.base), on=part.mounted_on)
                            self._unbuilt.discard(str(key[1]))
            waiting = [item for item in waiting if item not in ready]
        for key, reference, _ in waiting:
            self._known(key, "body or frame", reference, [*m.bodies, *m.frames])
        if waiting and not self.problems:
            names = ", ".join(repr(key[1]) for key, _, _ in waiting)
            self.problems.append(self.document.problem(waiting[0][0], f"{names} stand on each other in a circle"))

    def _robot(self, key: Key, arm: ArmPart) -> Robot | None:
        with self._part(key):
            match arm.robot:
                case Panda(hand=hand):
                    robot = robots.panda(hand)
                case Ur5():
                    robot = robots.ur5()
                case Puma560():
                    robot = robots.puma560()
                case Torso(hand=hand):
                    robot = robots.torso(hand)
                case Planar(n=n, length=length, mass=mass):
                    robot = robots.planar(n, length, mass)
                case Chain(n=n, length=length, mass=mass):
                    robot = robots.chain(n, length, mass)
                case Urdf() as urdf:
                    path = self._file((*key, "urdf"), urdf.urdf)
                    if path is None:
                        return None
                    loops = [(*loop.links, loop.kind) for loop in urdf.loops]
                    return load_urdf(path, urdf.tip, urdf.base, urdf.floating, loops)
                case Mjcf() as mjcf:
                    from multiarm.mjcf import load_mjcf

                    path = self._file((*key, "mjcf"), mjcf.mjcf)
                    return None if path is None else load_mjcf(path, mjcf.tip, mjcf.base, mjcf.floating)
            return replace(robot, floating=arm.robot.floating)
        return None

    def _add_joint(self, m: Mechanism, name: str, joint: JointPart) -> None:
        key: Key = ("joints", name)
        places = [*m.bodies, *m.frames]
        known = [self._known((*key, end), "body or frame", getattr(joint, end), places) for end in ("parent", "child")]
        if not all(known):
            return
        with self._part(key):
            m.add_joint(
                name,
                joint.kind,
                joint.parent,
                joint.child,
                at=_transform(joint.at),
                in_child=_transform(joint.in_child),
                axis=joint.axis,
                axis2=joint.axis2,
                pitch=joint.pitch,
                passive=joint.passive,
                lower=-inf if joint.lower is None else joint.lower,
                upper=inf if joint.upper is None else joint.upper,
                velocity_limit=joint.velocity_limit or inf,
                effort_limit=joint.effort_limit or inf,
                armature=joint.armature,
                damping=joint.damping,
                friction=joint.friction,
            )

    def _add_grasp(self, m: Mechanism, name: str) -> None:
        key: Key = ("grasps", name)
        grasp = self.content.grasps[name]
        holder = grasp.by or name
        bodies = [*m.bodies, *m.frames]
        # a grasp named after its arm has no key `by`: its own line is the place then
        place = (*key, "by") if grasp.by else key
        known = self._known(place, "arm, body or frame", holder, [*m.arms, *bodies])
        if not self._known((*key, "body"), "body or frame", grasp.body, bodies) or not known:
            return
        with self._part(key):
            m.grasp(
                holder,
                grasp.body,
                at=_transform(grasp.at),
                kind=grasp.kind,
                name=name,
                friction=grasp.friction,
                torsional=grasp.torsional,
            )

    # ------------------------------------------------------------------ problems

    def _known(self, key: Key, what: str, name: str, choices: Iterable[str]) -> bool:
        """Whether a name is one of the choices; a problem at `key` if it is not."""
        valid = list(choices)
        if name in valid:
            return True
        if name.split("/")[0] in self._unbuilt:
            return False  # it could not be built: that is the problem, and is told already
        self.problems.append(self.document.problem(key, choose_from(what, name, valid), valid))
        return False

    def _file(self, key: Key, name: str) -> Path | None:
        path = self.folder / name
        if path.is_file():
            return path
        self.problems.append(self.document.problem(key, f"there is no file {str(path)!r}"))
        return None

    def _part(self, key: Key) -> _Collecting:
        return _Collecting(self.problems, lambda message: self.document.problem(key, message))


def _transform(value: Pose | None) -> RigidTransform | None:
    return None if value is None else value.transform()


class _Collecting:
    """A context that turns errors of the mechanism into problems of the file."""

    def __init__(self, problems: list[Problem], locate: Callable[[str], Problem]) -> None:
        self._problems, self._locate = problems, locate

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, MultiArmError):
            return False
        self._problems.append(self._locate(str(error)))
        return True
