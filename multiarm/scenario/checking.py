"""Names and times in a scenario that must fit each other, checked without simulating anything."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from multiarm.mechanism import Mechanism
from multiarm.scenario.building import Builder
from multiarm.scenario.content import STRATEGIES, Content
from multiarm.scenario.document import Document, Key
from multiarm.scenario.errors import Problem, ScenarioError, choose_from
from multiarm.scenario.motion import ComputedTorque, FilePath, JointPD, JointQuintic, ObjectImpedance, QuinticPath
from multiarm.scenario.run_parts import (
    BodySpring,
    Bushing,
    CompliantGrasp,
    Dock,
    HandOver,
    JointLosses,
    MakeGrasp,
    Payload,
)

__all__ = ["check_references"]


def check_references(content: Content, document: Document, folder: Path) -> Mechanism:
    """Build the mechanism and look up every name that the other sections use.

    Raises
    ------
    ScenarioError
        With every problem found, in the order of the file.
    """
    builder = Builder(content, document, folder)
    mechanism = builder.mechanism()
    checks = _Checks(content, document, mechanism, folder)
    checks.run()
    if checks.problems:
        raise ScenarioError(document.file, checks.problems)
    return mechanism


class _Checks:
    """Looks through the sections and collects problems."""

    def __init__(self, content: Content, document: Document, mechanism: Mechanism, folder: Path) -> None:
        self.content, self.document, self.mechanism, self.folder = content, document, mechanism, folder
        self.problems: list[Problem] = []
        self.joints = [*mechanism.arms, *mechanism.joints]
        self.places = [*mechanism.bodies, *mechanism.frames]

    def run(self) -> None:
        """All checks."""
        self._cuts()
        self._controller()
        self._prescribed()
        self._elements()
        self._disturbances()
        self._actions()
        simulation = self.content.simulation
        if simulation.dt > simulation.duration:
            self._problem(("simulation", "dt"), f"the step {simulation.dt:g} s is longer than the run")

    def _problem(self, key: Key, message: str) -> None:
        self.problems.append(self.document.problem(key, message))

    def _known(self, key: Key, what: str, name: str, choices: Iterable[str], of_key: bool = False) -> bool:
        valid = list(choices)
        if name in valid:
            return True
        self.problems.append(self.document.problem(key, choose_from(what, name, valid), valid, of_key))
        return False

    # ------------------------------------------------------------------ sections

    def _cuts(self) -> None:
        cuts = self.content.cuts
        if isinstance(cuts, str):
            self._known(("cuts",), "way to choose cuts", cuts, STRATEGIES)
            return
        joints = [*self.mechanism.joints, *self.mechanism.grasps]
        for i, name in enumerate(cuts):
            self._known(("cuts", i), "joint or grasp", name, joints)

    def _controller(self) -> None:
        controller = self.content.controller
        if isinstance(controller, JointPD):
            for field in ("kp", "kd", "target"):
                values = getattr(controller, field)
                self._joint_names(("controller", field), values)
        elif isinstance(controller, ComputedTorque | ObjectImpedance):
            self._paths(controller)
            for field in ("posture", "null_kp", "null_kd"):
                self._joint_names(("controller", field), getattr(controller, field))
        for i, squeeze in enumerate(controller.squeeze if controller is not None else ()):
            key: Key = ("controller", "squeeze", i, "between")
            known = [
                self._known((*key, j), "grasp", name, self.content.grasps) for j, name in enumerate(squeeze.between)
            ]
            bodies = [self.content.grasps[name].body for name in squeeze.between] if all(known) else []
            if len(set(squeeze.between)) < 2:
                self._problem(key, "two different grasps squeeze")
            elif len(set(bodies)) > 1:
                self._problem(key, f"these grasps hold different bodies, {bodies[0]!r} and {bodies[1]!r}")

    def _joint_names(self, key: Key, values: object) -> None:
        """Values by arm or joint."""
        for name in values if isinstance(values, dict) else ():
            self._known((*key, name), "arm or joint", name, self.joints, of_key=True)

    def _paths(self, controller: ComputedTorque | ObjectImpedance) -> None:
        bodies = [name for name in self.mechanism.bodies if name != "world"]
        for name, path in controller.paths.items():
            key: Key = ("controller", "paths", name)
            self._known(key, "body", name, bodies, of_key=True)
            if isinstance(path, QuinticPath):
                self._increasing((*key, "points"), [point.time for point in path.points])
            if isinstance(path, FilePath) and not (self.folder / path.file).is_file():
                self._problem((*key, "file"), f"there is no file {str(self.folder / path.file)!r}")

    def _prescribed(self) -> None:
        for name, law in self.content.prescribed.items():
            key: Key = ("prescribed", name)
            self._known(key, "joint", name, self.mechanism.joints, of_key=True)
            if isinstance(law, JointQuintic):
                self._increasing((*key, "points"), [point.time for point in law.points])

    def _increasing(self, key: Key, times: list[float]) -> None:
        for i, (before, after) in enumerate(pairwise([0.0, *times])):
            if after <= before:
                self._problem((*key, i, "time"), f"times must increase, but {after:g} s follows {before:g} s")

    def _elements(self) -> None:
        for name, element in self.content.elements.items():
            key: Key = ("elements", name)
            if isinstance(element, BodySpring | Bushing):
                for end in ("one", "other"):
                    self._known((*key, end), "body or frame", getattr(element, end), self.places)
            elif isinstance(element, CompliantGrasp):
                if self._known((*key, "grasp"), "grasp", element.grasp, self.content.grasps):
                    grasp = self.content.grasps[element.grasp]
                    if grasp.at is None or grasp.active:
                        self._problem((*key, "grasp"), f"grasp {element.grasp!r} needs `at` and `active: false`")
            elif not isinstance(element, JointLosses):
                several = isinstance(element.joint, list)
                for i, joint in enumerate([element.joint] if isinstance(element.joint, str) else element.joint):
                    place = (*key, "joint", i) if several else (*key, "joint")
                    self._known(place, "arm or joint", joint, self.joints)

    def _disturbances(self) -> None:
        for name, push in self.content.disturbances.items():
            key: Key = ("disturbances", name)
            self._known((*key, "body"), "body or frame", push.body, self.places)
            if push.stop is None:
                if push.profile != "constant":
                    self._problem(key, f"a {push.profile} push needs the key 'stop'")
            elif push.stop <= push.start:
                self._problem((*key, "stop"), f"it stops at {push.stop:g} s, before it starts at {push.start:g} s")

    def _actions(self) -> None:
        """Names of grasps and bodies, and that grasps are made when free and released when they hold."""
        grasps = self.content.grasps
        holds = {name: grasp.active for name, grasp in grasps.items()}
        order = sorted(range(len(self.content.actions)), key=lambda i: self.content.actions[i].time)
        for i in order:
            action = self.content.actions[i]
            key: Key = ("actions", i)
            if action.time > self.content.simulation.duration:
                self._problem((*key, "time"), f"{action.time:g} s is after the end of the run")
            if isinstance(action, Payload):
                self._known((*key, "body"), "body", action.body, self.content.bodies)
                continue
            if not self._known((*key, "grasp"), "grasp", action.grasp, grasps):
                continue
            makes = isinstance(action, MakeGrasp | HandOver | Dock)
            if holds[action.grasp] == makes:
                state = "holds already" if makes else "does not hold"
                self._problem((*key, "grasp"), f"grasp {action.grasp!r} {state} at {action.time:g} s")
            holds[action.grasp] = makes
            if isinstance(action, Dock) and grasps[action.grasp].kind != "rigid":
                self._problem((*key, "grasp"), f"docking needs a rigid grasp, not {grasps[action.grasp].kind}")
            if isinstance(action, HandOver) and self._known((*key, "release"), "grasp", action.release, grasps):
                if not holds[action.release]:
                    self._problem((*key, "release"), f"grasp {action.release!r} does not hold at {action.time:g} s")
                holds[action.release] = False
