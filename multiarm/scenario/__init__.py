"""Scenario files: a mechanism, how it starts, what drives it and how it is simulated, as YAML.

The file is read into plain data with the line of every value (`document`), checked by the sections of `content`, and
built part by part (`building`); every error names file, line, place and the valid choices. Only data: no tags, no code.
"""

from __future__ import annotations

from multiarm.scenario.content import Content
from multiarm.scenario.errors import Problem, ScenarioError
from multiarm.scenario.scenario import Scenario, load_scenario, scenarios

__all__ = ["Content", "Problem", "Scenario", "ScenarioError", "load_scenario", "scenarios"]
