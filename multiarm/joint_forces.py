"""What every joint of the tree transmits, also joints whose two bodies are one link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from multiarm.errors import UnknownNameError
from multiarm.sweeps import layout as at
from multiarm.workspace import External, Workspace, as_wrenches
from multiarm.wrench import Wrench

__all__ = ["JointForces"]


class JointForces(Mapping[str, Wrench]):
    """Inter-body forces by joint name: on the joint's child by its parent, at the joint.

    Joints with coordinates come first, then those that merge two bodies: fixed joints and rigid grasps in the tree.
    """

    def __init__(self, workspace: Workspace, external: External | None = None) -> None:
        self._workspace, self._external = workspace, external or {}

    def __getitem__(self, name: str) -> Wrench:
        model = self._workspace.model
        if name in model.joints:
            return self._through_moving(name)
        if name in model.merged:
            return self._through_merged(name)
        hint = f"{name!r} is cut: with the loops open nothing acts through it" if name in model.cuts else ""
        raise UnknownNameError("force through joint", name, list(self), hint)

    def __iter__(self) -> Iterator[str]:
        model = self._workspace.model
        return iter([*model.joints, *model.merged])

    def __len__(self) -> int:
        model = self._workspace.model
        return len(model.joints) + len(model.merged)

    def _through_moving(self, name: str) -> Wrench:
        """What the inward sweep left at the joint's last axis."""
        place = self._workspace.model.joints[name]
        k = place.links[-1]
        f = place.sign * self._workspace.link[k, at.FORCE : at.FORCE + 6]
        return Wrench(f[:3], f[3:], self._workspace.origin(k), on=place.joint.child, by=place.joint.parent)

    def _through_merged(self, name: str) -> Wrench:
        """Newton and Euler for all that hangs beyond the joint and moves as one: M alpha + b - external + onward."""
        workspace = self._workspace
        joint, outer = workspace.model.merged[name], workspace.model.hangs_by(name)
        sign = 1 if outer == joint.child else -1
        bodies, onward = self._beyond(outer)
        place = workspace.model.placement(joint.child)
        point = workspace.point(joint.child) + workspace.rotation(place.link) @ place.pose.rotation.apply(
            joint.in_child.translation
        )
        total = sum((self._rate_of_momentum(body).about(point).array for body in bodies), np.zeros(6))
        for other, along in onward:
            total = total + along * self._through_moving(other).about(point).array
        for key, value in self._external.items():
            if workspace.model.placement(key).body in bodies:
                for push in as_wrenches(key, value, workspace.point(key)):
                    total = total - push.about(point).array
        return Wrench(sign * total[:3], sign * total[3:], point, on=joint.child, by=joint.parent)

    def _beyond(self, start: str) -> tuple[list[str], list[tuple[str, int]]]:
        """Bodies that `start` carries without a moving joint, itself included, and the moving joints they carry.

        Those come with +1 where the tree runs through them from declared parent to declared child, -1 otherwise.
        """
        model = self._workspace.model
        bodies, onward = [start], []
        for body in bodies:  # grows as it goes
            for child in model.topology.children(body):
                hanging = model.topology.parent[child]
                if hanging.joint in model.merged:
                    bodies.append(child)
                elif hanging.joint is not None:
                    onward.append((hanging.joint, hanging.sign))
        return bodies, onward

    def _rate_of_momentum(self, name: str) -> Wrench:
        """M alpha + b of one body about its centre of mass, its weight carried: gravity is in alpha."""
        workspace = self._workspace
        body, place = workspace.model.bodies[name], workspace.model.placement(name)
        turn = workspace.rotation(place.link) @ place.pose.rotation.as_matrix()
        inertia, arm = turn @ body.inertia @ turn.T, turn @ body.com
        omega = workspace.link[place.link, at.OMEGA : at.OMEGA + 3]
        alpha = workspace.acceleration(name, workspace.link[:, at.ALPHA : at.ALPHA + 6])
        linear = alpha[3:] + np.cross(alpha[:3], arm) + np.cross(omega, np.cross(omega, arm))
        torque = inertia @ alpha[:3] + np.cross(omega, inertia @ omega)
        return Wrench(torque, body.mass * linear, workspace.point(name) + arm, on=name, by="its motion")
