"""A run as plain numbers, to go on with later."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.errors import BadInputError
from multiarm.simulation.variants import with_payload

if TYPE_CHECKING:
    from multiarm.simulation.simulation import Simulation

__all__ = ["restore", "snapshot"]


def snapshot(run: Simulation) -> bytes:
    """Everything that moves or has changed in `run`; what its caller gave it is not in it."""
    made = {
        name: [*grasp.at.rotation.as_quat(), *grasp.at.translation]
        for name, grasp in run.whole.grasps.items()
        if grasp.at is not None and run.given.grasps[name].at is None
    }
    loads = {
        name: [body.mass, *body.inertia.ravel(), *body.com]
        for name, body in run.whole.bodies.items()
        if body is not run.given.bodies[name]
    }
    facts = {
        "time": run.time.hex(), "steps": run.steps, "actions": run.actions_left, "holds": run.holds,
        "made": made, "loads": loads, "fingerprint": run.given.fingerprint,
    }  # fmt: skip
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"facts": np.array(json.dumps(facts)), **run.numbers()}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def restore(run: Simulation, data: bytes) -> None:
    """Bring `run`, made with the same arguments, to where `snapshot` was taken."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        numbers = {name: stored[name] for name in stored.files}
    facts = json.loads(str(numbers.pop("facts")))
    if facts["fingerprint"] != run.given.fingerprint:
        raise BadInputError("the recording is of another model: it cannot be resumed with this one")
    whole = run.given
    for name, (mass, *rest) in facts["loads"].items():
        whole = with_payload(whole, name, mass, np.reshape(rest[:9], (3, 3)), rest[9:])
    grasps, cuts = dict(whole.grasps), dict(whole.cuts)
    for name, place in facts["made"].items():
        at = RigidTransform.from_components(place[4:], Rotation.from_quat(place[:4]))
        grasps[name] = replace(grasps[name], at=at)
        cuts[name] = replace(cuts[name], child=replace(cuts[name].child, pose=at), grasp=grasps[name])
    run.go_on(
        replace(whole, grasps=grasps, cuts=cuts),
        float.fromhex(facts["time"]), facts["steps"], facts["actions"], facts["holds"], numbers,
    )  # fmt: skip
