"""Models, states and solutions do not change, travel between processes, and serve several threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import contacts
import graphs
import multiarm as ma


@pytest.fixture
def model():
    m = ma.Mechanism("frozen")
    m.add_arm("arm", ma.robots.chain(4))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "ball", at=(0, 0, 0))
    return m.compile()


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_models_and_states_survive_copies_and_pickles(model, travel):
    state = model.state(q={"arm": [0.1, 0.2, 0.3, 0.4]}, v=np.ones(model.nv))
    expected = ma.tree_forward_dynamics(model, state).a
    there, moved = travel(model), travel(state)
    assert np.array_equal(ma.tree_forward_dynamics(there, there.state(q=state.q, v=state.v)).a, expected)
    assert np.array_equal(ma.tree_forward_dynamics(model, moved).a, expected)
    assert str(there) == str(model)
    for array in (there.link, there.tree, there.neutral, there.gravity, moved.q, moved.v):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        there.bodies["ball"] = None


def test_nothing_in_a_model_or_solution_can_be_written(model):
    solution = ma.tree_forward_dynamics(model, model.state())
    with pytest.raises(ValueError, match="read-only"):
        solution.a[0] = 1.0
    with pytest.raises(AttributeError):
        solution.a = np.zeros(model.nv)
    with pytest.raises(ValueError, match="read-only"):
        model.bodies["ball"].com[0] = 1.0
    with pytest.raises(AttributeError):
        model.nv = 3
    with pytest.raises(AttributeError):
        ma.compiled(model).external = np.zeros((3, 6))


@pytest.mark.parametrize(
    "error",
    [
        ma.BadInputError("why"),
        ma.DescriptionError("why", ["a", "b"]),
        ma.GraphError("why", ["a"]),
        ma.RobotFileError("robot.urdf", "why", ["link"]),
        ma.SingularInertiaError("body", "joint", 0.0),
        ma.UnknownNameError("joint", "a", ["b", "c"], "a hint"),
        contacts.ContactError("why"),
        graphs.MultiArmError("why"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_from_other_processes_with_their_evidence(error):
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.__dict__ == error.__dict__


def test_threads_with_an_instance_each_agree_with_one(model):
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(40, 2, model.nv))
    q = np.array(model.neutral)

    def accelerations(pair):
        calls = ma.compiled(model)
        out = np.empty(model.nv)
        return [calls.forward_dynamics(q, pair[0].copy(), pair[1].copy(), out).copy() for _ in range(50)]

    alone = [accelerations(pair) for pair in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(accelerations, inputs))
    assert np.array_equal(alone, together)


def test_a_solution_says_which_constraints_it_left_open(model):
    assert ma.tree_forward_dynamics(model, model.state()).left_open == ("arm",)


def test_residual_tells_an_unsatisfied_equation():
    m = ma.Mechanism()
    m.add_body("drum", mass=1000.0, inertia=(10, 10, 1), com=(1e-9, 0, 0))
    m.add_joint("axle", "revolute", parent="world", child="drum")
    model = m.compile()
    state = model.state()
    wrong = ma.Solution(model, state, np.zeros(1), np.array([1e-3]), None, "guess")
    assert wrong.residual == pytest.approx(1.0)
    assert ma.tree_forward_dynamics(model, state, [1e-3]).residual < 1e-15
