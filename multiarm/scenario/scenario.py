"""A scenario: read from a file or built in, and turned into a mechanism, a model and a state to start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from multiarm.assembly import assemble, grasped
from multiarm.errors import BadInputError, MultiArmError, UnknownNameError
from multiarm.mechanism import Mechanism
from multiarm.model import Model
from multiarm.scenario.building import Builder
from multiarm.scenario.checking import check_references
from multiarm.scenario.content import Content
from multiarm.scenario.document import Document, Key, read_document, read_text
from multiarm.scenario.errors import Problem, ScenarioError
from multiarm.scenario.run_parts import SimulationPart
from multiarm.scenario.validation import content_of
from multiarm.state import State

__all__ = ["Scenario", "built_in_path", "load_scenario", "scenarios"]

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, eq=False)
class Scenario:
    """A mechanism, how it starts, what drives it, and how it is simulated.

    Attributes
    ----------
    content : Content
        Everything the file says, checked: `scenario.content.simulation.duration` and so on.
    document : Document
        The same as plain data, with the line of every value.
    folder : Path
        What names of files in it are relative to.

    Examples
    --------
    >>> scenario = Scenario.load("four_bar")
    >>> model = scenario.compile()
    >>> scenario.start(model).q.round(3).tolist()  # the loop is closed
    [1.0, -0.674, 1.413]
    """

    content: Content
    document: Document = field(repr=False)
    folder: Path

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.content.name

    @classmethod
    def load(cls, source: str | PathLike[str]) -> Scenario:
        """Read a scenario from a file, or the built-in one of that name.

        Raises
        ------
        ScenarioError
            The file has errors; all of them are listed with their lines.
        UnknownNameError
            There is neither a file nor a built-in scenario of that name.
        """
        path = _find(source)
        shown = str(source) if Path(source) == path else path.name
        try:
            text = read_text(path)
        except OSError as error:
            raise ScenarioError(shown, [Problem(1, 1, "", f"cannot be read: {error.strerror}")]) from error
        return cls.read(text, shown, path.parent)

    @classmethod
    def read(cls, text: str | bytes, file: str = "<text>", folder: str | PathLike[str] = ".") -> Scenario:
        """Read a scenario from YAML text; `file` is what errors call it, `folder` where its files are."""
        document = read_document(text, file)
        scenario = cls(content_of(document), document, Path(folder))
        check_references(scenario.content, document, scenario.folder)
        return scenario

    def with_simulation(self, **changes: Any) -> Scenario:
        """The same scenario with other settings of its section `simulation`, such as ``duration=1.0``.

        Raises
        ------
        BadInputError
            A setting is unknown or its value is not valid.
        """
        settings = self.content.simulation.model_dump() | changes
        try:
            checked = SimulationPart.model_validate(settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in first["loc"])
            raise BadInputError(f"{name}: {first['msg']}, not {first['input']!r}") from error
        return replace(self, content=self.content.model_copy(update={"simulation": checked}))

    def mechanism(self) -> Mechanism:
        """The mechanism, with all grasps, also those that do not hold at the start."""
        return Builder(self.content, self.document, self.folder).mechanism()

    def compile(self) -> Model:
        """The model, cut as the scenario says."""
        return self._compile(self.mechanism())

    def _compile(self, mechanism: Mechanism) -> Model:
        try:
            return mechanism.compile(self.content.cuts, self.content.gravity)
        except MultiArmError as error:
            raise self._error(("cuts",) if "cuts" in self.content.model_fields_set else (), error) from error

    def start(self, model: Model) -> State:
        """The state that the run starts from: loops closed by the grasps that hold, velocities on the constraints.

        Raises
        ------
        ScenarioError
            The start names something unknown, or the loops cannot be closed.
        """
        start = self.content.start
        holding = self.holding(model)
        guess = self._by_name(("start", "guess"), start.guess, holding.q_slice)
        velocities = self._by_name(("start", "velocities"), start.velocities, holding.v_slice)
        for i, name in enumerate(start.hold):
            self._slice(("start", "hold", i), name, holding.v_slice)
        try:
            state = assemble(holding, self._scattered(holding, guess), hold=start.hold, v=velocities or None)
        except MultiArmError as error:
            raise self._error(("start",), error) from error
        if holding is model:
            return state
        active = [name for name, grasp in self.content.grasps.items() if grasp.active]
        return grasped(model, model.state(q=state.q), active).state(q=state.q, v=state.v)

    def holding(self, model: Model) -> Model:
        """The model with only the grasps that hold at the start; its coordinates are those of `model`."""
        if all(grasp.active for grasp in self.content.grasps.values()):
            return model
        mechanism = Builder(self.content, self.document, self.folder).mechanism(inactive=False)
        holding = self._compile(mechanism)
        if holding.velocity_names != model.velocity_names:
            message = "grasps that are made or released during the run must be cut: use cuts: grasps, or name them"
            raise ScenarioError(self.document.file, [self.document.problem(("cuts",), message)])
        return holding

    def _scattered(self, model: Model, guess: Mapping[str, np.ndarray]) -> State:
        """The guess, with the joints that are not held moved at random as the scenario asks."""
        state = model.state(q=guess)
        start = self.content.start
        if not start.scatter:
            return state
        q = np.array(state.q)
        held = [model.v_slice(name) for name in start.hold]
        random = np.random.default_rng(self.content.simulation.seed)
        for place in model.joints.values():
            change = random.normal(scale=start.scatter, size=place.q.stop - place.q.start)
            plain = place.q.stop - place.q.start == place.v.stop - place.v.start
            if plain and not any(other.start <= place.v.start < other.stop for other in held):
                q[place.q] += change
        return model.state(q=q)

    # ------------------------------------------------------------------ helpers

    def _by_name(self, key: Key, values: Mapping[str, Any], place: Any) -> dict[str, np.ndarray]:
        """Values of the start, each checked for its name and length."""
        found = {}
        for name, value in values.items():
            where = self._slice((*key, name), name, place)
            numbers = np.atleast_1d(np.asarray(value, float))
            length = where.stop - where.start
            if len(numbers) != length:
                message = f"expected {length} numbers for {name!r}, not {len(numbers)}"
                raise ScenarioError(self.document.file, [self.document.problem((*key, name), message)])
            found[name] = numbers
        return found

    def _slice(self, key: Key, name: str, place: Any) -> slice:
        try:
            return place(name)
        except MultiArmError as error:
            raise self._error(key, error, of_key=True) from error

    def _error(self, key: Key, error: Exception, of_key: bool = False) -> ScenarioError:
        choices = getattr(error, "choices", ())
        return ScenarioError(self.document.file, [self.document.problem(key, str(error), choices, of_key)])


def scenarios() -> dict[str, str]:
    """The built-in scenarios: name -> what happens in it.

    Examples
    --------
    >>> "two_pandas_lift" in scenarios()
    True
    """
    return {
        name: " ".join(str(read_document(read_text(path), path.name).data["description"]).split())
        for name, path in sorted(_built_in().items())
    }


def load_scenario(source: str | PathLike[str]) -> Scenario:
    """`Scenario.load`: a scenario from a file, or the built-in one of that name."""
    return Scenario.load(source)


def built_in_path(name: str) -> Path:
    """The file of a built-in scenario."""
    known = _built_in()
    if name not in known:
        raise UnknownNameError("built-in scenario", name, sorted(known))
    return known[name]


def _built_in() -> dict[str, Path]:
    folder = Path(str(files("multiarm"))) / "scenarios"
    return {path.stem: path for path in folder.glob("*.yaml")}


def _find(source: str | PathLike[str]) -> Path:
    """The file that is meant; a name with a suffix or a folder is always one."""
    path = Path(source)
    if path.is_file():
        return path
    if path.suffix in SUFFIXES or path.parent != Path("."):
        what = "is not a file" if path.exists() else "there is no such file"
        raise ScenarioError(str(path), [Problem(1, 1, "", what)])
    return built_in_path(str(source))
