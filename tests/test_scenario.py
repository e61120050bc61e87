"""Scenario files: what they mean, and how errors in them are reported."""

import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import yaml
from damaged_text import mutate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import multiarm as ma
from contacts import GRASP_KINDS
from graphs.strategies import STRATEGIES as GRAPH_STRATEGIES
from multiarm.joints import JOINT_KINDS
from multiarm.scenario import Scenario, ScenarioError, load_scenario, scenarios
from multiarm.scenario.content import STRATEGIES
from multiarm.scenario.document import read_document
from multiarm.scenario.parts import BUILT_IN_ROBOTS, GraspKindName, JointKindName
from multiarm.scenario.scenario import built_in_path
from multiarm.scenario.schema import json_schema, schema_path

ROOT = Path(__file__).parent.parent

LIFT = """
name: lift
gravity: [0, -9.81, 0]
arms:
  one: {robot: &arm {name: planar, n: 3, length: [0.5, 0.4, 0.2]}, base: [-0.5, 0, 0]}
  two: {robot: *arm, base: [0.5, 0, 0]}
bodies:
  bar: {mass: 2.0, shape: {kind: box, size: [0.4, 0.05, 0.05]}, pose: [0, 0.6, 0]}
grasps:
  one: {body: bar, at: {xyz: [-0.2, 0, 0], rpy: [0, 0, 90 deg]}}
  two: {body: bar, at: {xyz: [0.2, 0, 0], rpy: [0, 0, 90 deg]}}
start:
  guess: {one: [0, 1.9, -0.2], two: [2.9, -2, 0.8]}
  hold: [bar]
controller:
  kind: computed_torque
  paths:
    bar: {kind: quintic, points: [{time: 1.0, xyz: [0, 0.65, 0]}]}
simulation: {duration: 1.0, dt: 1e-3}
"""


def problems(text, folder="."):
    with pytest.raises(ScenarioError) as caught:
        Scenario.read(text, "file.yaml", folder)
    return caught.value.problems


def line_of(text, words):
    return next(i for i, line in enumerate(text.split("\n"), start=1) if words in line)


# ---------------------------------------------------------------------- meaning


def test_a_scenario_is_the_mechanism_it_describes():
    m = ma.Mechanism("lift")
    m.add_body("bar", mass=2.0, shape=ma.Box((0.4, 0.05, 0.05)), pose=(0, 0.6, 0))
    for name, x in (("one", -0.5), ("two", 0.5)):
        m.add_arm(name, ma.robots.planar(3, length=(0.5, 0.4, 0.2)), base=(x, 0, 0))
    for name, x in (("one", -0.2), ("two", 0.2)):
        m.grasp(name, "bar", at=ma.pose((x, 0, 0), rpy=(0, 0, np.pi / 2)))
    by_hand = m.compile(gravity=(0, -9.81, 0))
    scenario = Scenario.read(LIFT)
    model = scenario.compile()
    assert model.fingerprint == by_hand.fingerprint
    assert list(model.cuts) == list(by_hand.cuts)
    guess = {"one": [0, 1.9, -0.2], "two": [2.9, -2, 0.8]}
    assert np.array_equal(scenario.start(model).q, ma.assemble(by_hand, guess, hold=("bar",)).q)


def test_degrees_are_radians():
    in_degrees = Scenario.read(LIFT).compile()
    in_radians = Scenario.read(LIFT.replace("90 deg", "1.5707963267948966")).compile()
    for name in ("one", "two"):
        one, other = (model.grasps[name].at.as_matrix() for model in (in_degrees, in_radians))
        assert np.array_equal(one, other)


def test_the_kinds_are_those_of_the_toolkit():
    assert set(get_args(JointKindName)) == set(JOINT_KINDS)
    assert set(get_args(GraspKindName)) == set(GRASP_KINDS)
    assert set(BUILT_IN_ROBOTS) == set(ma.robots.__all__)
    assert set(STRATEGIES) == set(GRAPH_STRATEGIES)


def test_robots_from_files_are_found_beside_the_scenario(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        "<robot name='r'><link name='base'/><link name='tool'/><joint name='j' type='continuous'><parent link='base'/>"
        "<child link='tool'/><axis xyz='0 0 1'/></joint></robot>"
    )
    text = "name: u\narms:\n  a:\n    robot: {urdf: arm.urdf, tip: tool}\n"
    (tmp_path / "u.yaml").write_text(text)
    assert load_scenario(tmp_path / "u.yaml").compile().nv == 1
    (problem,) = problems(text.replace("arm.urdf", "leg.urdf"), tmp_path)
    assert (problem.line, problem.where) == (4, "arms.a.robot.urdf")
    (problem,) = problems(text.replace("tip: tool", "tip: tol"), tmp_path)
    assert "did you mean 'tool'" in problem.message


def test_arms_stand_on_frames_that_sit_in_arms_in_any_order():
    text = """
name: tower
arms:
  upper: {robot: {name: planar, n: 2}, mounted_on: top}
  lower: {robot: {name: planar, n: 2}}
frames:
  top: {body: lower/link2, pose: [1, 0, 0]}
"""
    model = Scenario.read(text).compile()
    assert np.allclose(ma.kinematics(model, model.state()).pose("upper/tip").translation, (4, 0, 0))


def test_scatter_is_drawn_from_the_seed():
    text = LIFT.replace("hold: [bar]", "hold: [bar]\n  scatter: 0.05")
    starts = {}
    for seed in (0, 0, 1):
        scenario = Scenario.read(text).with_simulation(seed=seed)
        starts.setdefault(seed, []).append(scenario.start(scenario.compile()).q)
    assert np.array_equal(*starts[0])
    assert not np.array_equal(starts[0][0], starts[1][0])


def test_settings_can_be_replaced_and_are_checked():
    scenario = Scenario.read(LIFT).with_simulation(duration=0.5, method="euler")
    assert (scenario.content.simulation.duration, scenario.content.simulation.method) == (0.5, "euler")
    for wrong in ({"dt": -1.0}, {"method": "rk5"}, {"seed": 1.5}, {"step": 1}):
        with pytest.raises(ma.BadInputError, match=next(iter(wrong))):
            scenario.with_simulation(**wrong)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "old, new, where, words",
    [
        ("robot: *arm", "robot: plana", "arms.two.robot", "did you mean 'planar'"),
        ("robot: *arm", "robot: {name: chain}", "arms.two.robot", "needs the key 'n'"),
        ("robot: *arm", "robot: 3", "arms.two.robot", "{urdf: file}"),
        ("robot: *arm", "robot: {name: chain, n: 100000000}", "arms.two.robot.n", "less than or equal to 500"),
        ("base: [0.5, 0, 0]", "base: [0.5, 0]", "arms.two.base", "too few values"),
        ("base: [0.5, 0, 0]", "base: {xyz: [0, 0, 0], rpy: [0, 0, 90 dg]}", "arms.two.base.rpy[2]", "'30 deg'"),
        ("base: [0.5, 0, 0]", "base: {rpy: [0, 0, 0], quat: [0, 0, 0, 1]}", "arms.two.base", "not both"),
        ("base: [0.5, 0, 0]", "base: {quat: [0, 0, 0, 2]}", "arms.two.base", "length 1"),
        ("base: [0.5, 0, 0]", "bas: [0.5, 0, 0]", "arms.two.bas", "did you mean 'base'"),
        ("base: [0.5, 0, 0]", "mounted_on: tabel", "arms.two.mounted_on", "body or frame 'tabel'"),
        ("mass: 2.0", "mass: heavy", "bodies.bar.mass", "expected a number, not 'heavy'"),
        ("mass: 2.0", "mass: -2.0", "bodies.bar.mass", "greater than or equal to 0"),
        ("mass: 2.0", "mass: .nan", "bodies.bar.mass", "finite"),
        ("mass: 2.0", "mass: 2.0, inertia: [1, 1, 5]", "bodies.bar", "triangle"),
        ("kind: box", "kind: bx", "bodies.bar.shape.kind", "did you mean 'box'"),
        ("two: {body: bar", "two: {body: bra", "grasps.two.body", "did you mean 'bar'"),
        ("two: {body: bar", "tow: {body: bar", "grasps.tow", "did you mean 'two'"),
        ("two: {body: bar", "two: {kind: rigd, body: bar", "grasps.two.kind", "did you mean 'rigid'"),
        ("two: {body: bar", "two: {by: one/tp, body: bar", "grasps.two.by", "did you mean 'one/tip'"),
        ("two: {body: bar", "two: {active: yes, body: bar", "grasps.two.active", "true or false, not 'yes'"),
        ("kind: computed_torque", "kind: computed_torqe", "controller.kind", "did you mean 'computed_torque'"),
        ("kind: computed_torque\n", "kp: 1\n", "controller", "needs the key 'kind'"),
        ("    bar: {kind: quintic", "    bra: {kind: quintic", "controller.paths.bra", "did you mean 'bar'"),
        ("time: 1.0", "time: 0.0", "controller.paths.bar.points[0].time", "greater than 0"),
        ("points: [", "points: [{time: 3, xyz: [0, 0, 0]}, ", "controller.paths.bar.points[1].time", "must increase"),
        ("dt: 1e-3", "dt: 1 ms", "simulation.dt", "expected a number, not '1 ms'"),
        ("dt: 1e-3", "dt: 2.0", "simulation.dt", "longer than the run"),
        ("gravity: [0, -9.81, 0]", "cuts: shalow", "cuts", "did you mean 'shallow'"),
        ("gravity: [0, -9.81, 0]", "cuts: [one, tow]", "cuts[1]", "did you mean 'two'"),
    ],
)  # fmt: skip
def test_errors_name_line_place_and_choices(old, new, where, words):
    assert old in LIFT
    text = LIFT.replace(old, new, 1)
    (problem,) = problems(text)
    assert problem.where == where
    assert words in problem.message
    first = line_of(text, new.strip().split("\n")[0])
    assert first <= problem.line <= first + 1


def test_all_errors_of_a_kind_are_listed_in_file_order():
    text = LIFT.replace("mass: 2.0", "mass: heavy").replace("name: lift", "name: 3").replace("1e-3", "soon")
    assert [problem.where for problem in problems(text)] == ["name", "bodies.bar.mass", "simulation.dt"]
    text = LIFT.replace("one: {body: bar", "one: {body: bra").replace("two: {body: bar", "two: {body: rab")
    found = problems(text)
    assert [problem.where for problem in found] == ["grasps.one.body", "grasps.two.body"]
    assert "bar" in found[0].choices


@pytest.mark.parametrize(
    "section, where, words",
    [
        ("actions:\n  - {time: 0.1, do: grasp, grasp: tow}", "actions[0].grasp", "did you mean 'two'"),
        ("actions:\n  - {time: 0.1, do: grasp, grasp: two}", "actions[0].grasp", "holds already"),
        ("actions:\n  - {time: 0.1, do: grab, grasp: two}", "actions[0].do", "did you mean 'grasp'"),
        (
            "actions:\n  - {time: 0.2, do: release, grasp: two}\n  - {time: 0.1, do: release, grasp: two}",
            "actions[0].grasp",
            "does not hold",
        ),
        ("actions:\n  - {time: 3, do: release, grasp: two}", "actions[0].time", "after the end"),
        ("actions:\n  - {time: 0, do: payload, body: br, mass: 2}", "actions[0].body", "did you mean 'bar'"),
        ("elements:\n  s: {kind: joint_spring, joint: oen, stiffness: 1}", "elements.s.joint", "did you mean 'one'"),
        ("elements:\n  s: {kind: joint_spring, joint: one}", "elements.s", "needs the key 'stiffness'"),
        ("elements:\n  s: {kind: spring}", "elements.s.kind", "did you mean 'body_spring'"),
        ("prescribed: {one/joit1: {kind: sine, amplitude: 1, frequency: 1}}", "prescribed.one/joit1", "'one/joint1'"),
        ("disturbances:\n  d: {body: bar, start: 2, stop: 1}", "disturbances.d.stop", "before it starts"),
        ("disturbances:\n  d: {body: bar, profile: ramp}", "disturbances.d", "needs the key 'stop'"),
    ],
)
def test_errors_of_the_run_sections(section, where, words):
    problem = problems(LIFT + section + "\n")[0]
    assert problem.where == where
    assert words in problem.message


def test_arms_that_stand_on_each_other_are_refused():
    text = """
name: circle
arms:
  a: {robot: {name: planar, n: 2}, mounted_on: b/tip}
  b: {robot: {name: planar, n: 2}, mounted_on: a/tip}
"""
    (problem,) = problems(text)
    assert problem.where == "arms.a.mounted_on"
    assert "in a circle" in problem.message


def test_starts_that_do_not_fit_name_their_line():
    for old, new, words in (
        ("one: [0, 1.9, -0.2]", "one: [0, 1.9]", "expected 3 numbers"),
        ("guess: {one:", "guess: {oen:", "did you mean 'one'"),
        ("hold: [bar]", "hold: [bra]", "did you mean 'bar'"),
        ("pose: [0, 0.6, 0]", "pose: [0, 6, 0]", "cannot be closed"),
    ):
        scenario = Scenario.read(LIFT.replace(old, new), "file.yaml")
        with pytest.raises(ScenarioError, match=words) as caught:
            scenario.start(scenario.compile())
        assert caught.value.line > 1


def test_names_of_scenarios_are_suggested():
    with pytest.raises(ma.UnknownNameError, match="did you mean 'two_pandas_lift'"):
        load_scenario("two_panda_lift")
    with pytest.raises(ScenarioError, match=r"no\.yaml.*no such file"):
        load_scenario("no.yaml")
    with pytest.raises(ScenarioError, match="is not a file"):
        load_scenario(ROOT / "tests")


def test_errors_survive_the_way_back_from_a_worker():
    import pickle

    with pytest.raises(ScenarioError) as caught:
        Scenario.read("name: 3", "f")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems
    assert str(again) == str(caught.value)


# ---------------------------------------------------------------------- mutations


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_mutated_files_give_a_scenario_or_an_error_with_a_line(data):
    text = mutate(data, LIFT + "elements: {s: {kind: joint_spring, joint: one, stiffness: 2}}\n")
    try:
        scenario = Scenario.read(text, "f")
        scenario.start(scenario.compile())
    except ScenarioError as error:
        assert error.problems
        assert all(1 <= problem.line <= text.count("\n") + 1 for problem in error.problems)
        assert re.match(r"f:\d+:\d+: ", str(error))


# ---------------------------------------------------------------------- the schema


def test_the_published_schema_is_current():
    wanted = json_schema()
    for path in (ROOT / "docs" / "scenario.schema.json", schema_path()):
        assert json.loads(path.read_text()) == wanted, "run python -m multiarm.scenario.schema"


def test_every_field_of_the_schema_says_what_it_is():
    def fields(schema):
        yield from schema.get("properties", {}).items()
        for section in schema.get("$defs", {}).values():
            yield from section.get("properties", {}).items()

    assert not [name for name, field in fields(json_schema()) if not field.get("description")]


@pytest.mark.parametrize("name", [*scenarios(), "template"])
def test_files_are_valid_by_the_schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    path = schema_path().with_name("template.yaml") if name == "template" else built_in_path(name)
    data = yaml.safe_load(path.read_text())
    assert data == read_document(path.read_text(), path.name).data  # so other readers of YAML understand it too
    jsonschema.Draft202012Validator(json_schema()).validate(data)


def test_the_template_is_a_scenario_also_with_every_comment_taken_out(tmp_path):
    text = schema_path().with_name("template.yaml").read_text()
    Scenario.read(text)
    for commented in re.findall(r"^# (\w+:.*(?:\n#   .*)*)", text, re.MULTILINE):
        section = commented.replace("\n# ", "\n")
        if not section.startswith("joints"):  # its door is only an example
            Scenario.read(text + "\n" + section + "\n")
