"""What a scenario's mechanism is, where it starts, and whether it can follow its paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multiarm.constraints import constraints
from multiarm.errors import MultiArmError
from multiarm.mobility import Mobility, mobility
from multiarm.model import Model
from multiarm.scenario.errors import ScenarioError
from multiarm.scenario.motion import ComputedTorque, ObjectImpedance
from multiarm.scenario.reach import Reach, look_at, reach_along
from multiarm.scenario.scenario import Scenario
from multiarm.state import State

__all__ = ["Overview", "overview_of"]


@dataclass(frozen=True, eq=False)
class Overview:
    """A scenario looked at: model, state at the start, mobility there, and what was found along the paths.

    `holding` is the model with the grasps that hold at the start; `model` has those that are made later too.
    """

    scenario: Scenario
    model: Model
    holding: Model
    state: State
    mobility: Mobility
    reach: tuple[Reach, ...]

    @property
    def closure(self) -> float:
        """Largest gap of a loop at the start [m or rad]."""
        return float(np.abs(constraints(self.holding, self.state).gap).max(initial=0.0))

    def rows(self) -> list[tuple[str, str]]:
        """Label and value of everything worth a line."""
        content, found = self.scenario.content, self.mobility
        later = [name for name, grasp in content.grasps.items() if not grasp.active]
        parts = (
            (self.model.arms, ("arm", "arms")),
            (content.bodies, ("body", "bodies")),
            (content.joints, ("joint", "joints")),
            (content.grasps, ("grasp", "grasps")),
        )
        lines = [
            ("parts", ", ".join(_counted(len(what), *words) for what, words in parts)),
            ("coordinates", f"nq {self.model.nq}, nv {self.model.nv}"),
            ("cuts", ", ".join(self.model.cuts) or "none"),
            ("constraint rows", f"{found.rows}, {found.rank} of them independent at the start"),
            ("mobility", f"{found.instantaneous} at the start ({found.kutzbach} by Kutzbach's count)"),
            ("loops close to", f"{self.closure:.1e} m or rad"),
        ]
        if later:
            lines.append(("grasps made later", ", ".join(later)))
        margins = [where for where in self.reach if np.isfinite(where.limit_margin)]
        if margins:
            nearest = min(margins, key=lambda where: where.limit_margin)
            lines.append(("nearest joint limit", f"{nearest.nearest}, {nearest.limit_margin:.3f} rad or m away"))
        lines.append(("least conditioning", f"{min(where.conditioning for where in self.reach):.2g}"))
        effort = self.effort
        if effort:
            shown = ", ".join(f"{name} {used:.0%}" for name, used in effort.items())
            lines.append(("torque to hold still", f"{shown} of the limit"))
        run = content.simulation
        lines.append(("simulation", f"{run.duration:g} s by {run.method}, dt {run.dt:g} s"))
        return lines

    @property
    def effort(self) -> dict[str, float]:
        """Largest part of its torque limit that each arm uses to hold still along the paths, where there is a limit."""
        found: dict[str, float] = {}
        for where in self.reach:
            for name, used in where.effort.items():
                found[name] = max(found.get(name, 0.0), used)
        return {name: used for name, used in found.items() if used > 0.0}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        content, found = self.scenario.content, self.mobility
        margin = min(where.limit_margin for where in self.reach)
        return {
            "name": content.name,
            "description": " ".join(content.description.split()),
            "arms": list(self.model.arms),
            "bodies": list(content.bodies),
            "grasps": {name: grasp.kind for name, grasp in content.grasps.items()},
            "cuts": list(self.model.cuts),
            "nq": self.model.nq,
            "nv": self.model.nv,
            "constraint_rows": found.rows,
            "rank": found.rank,
            "mobility": found.instantaneous,
            "mobility_kutzbach": found.kutzbach,
            "closure_error": self.closure,
            "limit_margin": margin if np.isfinite(margin) else None,
            "conditioning": min(where.conditioning for where in self.reach),
            "effort": self.effort,
        }


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def overview_of(scenario: Scenario, along_paths: bool = False) -> Overview:
    """Compile a scenario and close its loops; with `along_paths`, at poses along the paths of its objects too.

    Raises
    ------
    ScenarioError
        With the line of the start or of the path that cannot be reached.
    """
    model = scenario.compile()
    state = scenario.start(model)
    holding = scenario.holding(model)
    there = holding.state(q=state.q, v=state.v)
    controller = scenario.content.controller
    reach = [look_at(holding, there)]
    if along_paths and isinstance(controller, ComputedTorque | ObjectImpedance):
        try:
            reach = reach_along(holding, there, controller.paths, tuple(controller.squeeze))
        except MultiArmError as error:
            problem = scenario.document.problem(("controller", "paths"), f"cannot be followed: {error}")
            raise ScenarioError(scenario.document.file, [problem]) from error
    return Overview(scenario, model, holding, there, mobility(holding, there), tuple(reach))
