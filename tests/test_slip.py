"""Friction limits of grasps: by hand, on a squeezed box, and compiled against computed by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from test_closed_chain import PANDAS, panda_state, two_pandas

import multiarm as ma
from multiarm.slip import friction_table
from multiarm.sweeps import slip as sl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("kind", "friction", "torsional", "wrench", "force", "torsion", "relative"),
    [
        ("point", 0.5, None, [0, 0, 0, 3, 4, 20], 5.0, INF, 0.5),
        ("point", 0.5, None, [0, 0, 0, 3, 4, 10], 0.0, INF, 0.0),
        ("point", 0.5, None, [0, 0, 0, 3, 4, 5], -2.5, INF, -1.0),
        ("point", 0.5, None, [0, 0, 0, 0, 0, 5], 2.5, INF, 1.0),
        ("point", 0.5, None, [0, 0, 0, 0, 0, -5], -2.5, INF, -INF),
        ("point", 0.5, None, [0, 0, 0, 1, 0, 0], -1.0, INF, -INF),
        ("point", 0.5, None, [0, 0, 0, 0, 0, 0], 0.0, INF, 0.0),
        ("point", 0.0, None, [0, 0, 0, 0, 0, 7], 0.0, INF, 0.0),
        ("point", 0.0, None, [0, 0, 0, 1e-9, 0, 7], -1e-9, INF, -INF),
        ("point", None, None, [0, 0, 0, 1, 0, 7], NAN, INF, NAN),
        ("soft_finger", 0.5, 0.02, [0, 0, -0.1, 3, 4, 20], 5.0, 0.3, 0.5),
        ("soft_finger", 0.5, 0.02, [0, 0, -0.3, 3, 4, 20], 5.0, 0.1, 0.25),
        ("soft_finger", 0.5, 0.02, [0, 0, 0.6, 3, 4, 20], 5.0, -0.2, -0.5),
        ("soft_finger", 0.5, None, [0, 0, 0.6, 3, 4, 20], 5.0, NAN, 0.5),
        ("soft_finger", None, 0.02, [0, 0, 0.1, 3, 4, 20], NAN, 0.3, NAN),
        ("revolute", 0.5, 0.02, [0.1, 9, 0, 20, 3, 4], 5.0, 0.3, 0.5),
        ("revolute", 0.5, None, [0.1, 9, 0, -20, 3, 4], -15.0, NAN, -INF),
        ("rigid", 0.5, 0.02, [9, 9, 9, 9, 9, -9], INF, INF, INF),
        ("rigid", None, None, [9, 9, 9, 9, 9, -9], INF, INF, INF),
    ],
)
def test_margins_by_hand(kind, friction, torsional, wrench, force, torsion, relative):
    margin = ma.slip_margin(kind, friction, torsional, wrench)
    assert_allclose([margin.force, margin.torsion, margin.relative], [force, torsion, relative], rtol=1e-14, atol=1e-15)
    assert margin.holds is (None if np.isnan(relative) else relative >= 0)


@given(st.floats(0.05, 2), st.lists(st.floats(-10, 10), min_size=6, max_size=6), st.floats(0.1, 100))
@settings(derandomize=True, deadline=None)
def test_margins_do_not_depend_on_units_and_agree_in_sign(friction, wrench, scale):
    """The relative margin is that of any multiple of the load; it is positive where both margins are."""
    one, other = (ma.slip_margin("soft_finger", friction, 0.1, scale * np.array(wrench)) for scale in (1.0, scale))
    assert other.relative == pytest.approx(one.relative, rel=1e-9, abs=1e-9)
    assert other.force == pytest.approx(scale * one.force, rel=1e-9, abs=1e-9 * scale)
    assert one.relative <= 1.0
    if min(abs(one.force), abs(one.torsion)) > 1e-9:
        assert one.holds == (min(one.force, one.torsion) > 0.0)


@pytest.mark.parametrize(
    ("d", "friction", "closes"), [(0.5, 0.2, False), (0.5, 0.26, True), (1.0, 0.4, False), (1.0, 0.6, True)]
)
def test_two_fingers_hold_if_the_line_between_them_is_in_both_cones(d, friction, closes):
    """Contacts (-1, 0) and (1, d) with normals +x and -x: force closure if and only if friction > d/2."""
    push = np.array([2.0, d])
    for normal, force in ((1.0, push), (-1.0, -push)):
        local = [0, 0, 0, force[1], 0, normal * force[0]]
        assert ma.slip_margin("point", friction, None, local).holds is closes


# ---------------------------------------------------------------------- a box between two soft fingers

# Murray, Li and Sastry 1994, example 5.2: contacts at y = -1 and y = 1, z of their frames the inward normal
CONTACTS = {
    "left": ((0, -1, 0), ((0, 1, 0), (0, 0, 1), (1, 0, 0))),
    "right": ((0, 1, 0), ((1, 0, 0), (0, 0, -1), (0, 1, 0))),
}
FRICTION, TORSIONAL, MASS, WEIGHT = 0.6, 0.05, 2.0, 2.0 * 9.81


def contact(side):
    pose = np.eye(4)
    pose[:3, 3], pose[:3, :3] = CONTACTS[side]
    return pose


def squeezed_box(kind="soft_finger"):
    """Each finger slides along x, y, z and turns about y; gravity pulls along -z."""
    m = ma.Mechanism("box between fingers")
    m.add_body("box", mass=MASS, inertia=(0.3, 0.2, 0.4))
    for side in CONTACTS:
        bodies = [f"{side} {axis}" for axis in "xyz"] + [f"{side} hand"]
        for body in bodies:
            m.add_body(body, **({"mass": 0.5, "inertia": (0.01, 0.01, 0.01)} if "hand" in body else {}))
        for axis, parent, child in zip("xyz", ["world", *bodies], bodies, strict=False):
            direction = [float(axis == other) for other in "xyz"]
            m.add_joint(child, "prismatic", parent, child, axis=direction)
        m.add_joint(f"{side} twist", "revolute", bodies[2], bodies[3], axis=(0, 1, 0))
        m.add_frame(f"{side} finger", bodies[3], pose=contact(side))
        m.grasp(f"{side} finger", "box", contact(side), kind, name=side, friction=FRICTION, torsional=TORSIONAL)
    return m.compile()


def hold(model, squeeze, twist=0.0, lift=WEIGHT / 2):
    """Fingers that press the box, twist it against each other, and lift it (and themselves)."""
    tau = {"left y": squeeze, "right y": -squeeze, "left twist": twist, "right twist": -twist}
    tau |= {f"{side} z": lift + 0.5 * 9.81 for side in CONTACTS}
    return ma.forward_dynamics(model, model.state(), tau)


@pytest.mark.parametrize(("squeeze", "holds"), [(30.0, True), (17.0, True), (16.0, False)])
def test_a_squeezed_box_slips_when_friction_cannot_carry_its_weight(squeeze, holds):
    """Each finger carries half of 2 kg: it takes 9.81 / 0.6 = 16.35 N to hold that by friction."""
    model = squeezed_box()
    solution = hold(model, squeeze)
    assert_allclose(solution.a, 0.0, atol=1e-12)
    for margin in ma.slip_margins(model, model.state(), solution).values():
        assert margin.force == pytest.approx(FRICTION * squeeze - WEIGHT / 2, rel=1e-9)
        assert margin.torsion == pytest.approx(TORSIONAL * squeeze, rel=1e-9)
        assert margin.relative == pytest.approx(1 - WEIGHT / 2 / (FRICTION * squeeze), rel=1e-9)
        assert margin.holds is holds and margin.determinate


def test_internal_squeeze_and_twist_change_margins_but_not_the_motion():
    """The null space of the grasp map: (0, 0, 1, 0, 0, 0, 1, 0) squeezes, (0, 0, 0, 1, 0, 0, 0, 1) twists."""
    model = squeezed_box()
    plain, pressed, twisted = hold(model, 30.0), hold(model, 60.0), hold(model, 30.0, twist=0.9)
    assert_allclose(pressed.a, plain.a, atol=1e-12)
    assert_allclose(twisted.a, plain.a, atol=1e-12)
    before, after = (ma.slip_margins(model, model.state(), solution) for solution in (plain, twisted))
    for side in CONTACTS:
        assert ma.slip_margins(model, model.state(), pressed)[side].relative > before[side].relative
        assert after[side].force == pytest.approx(before[side].force)
        assert after[side].torsion == pytest.approx(TORSIONAL * 30 - 0.9)
        assert after[side].relative == pytest.approx(1 - 0.9 / 1.5)


def test_fingers_that_pull_do_not_hold():
    model = squeezed_box("point")
    margins = ma.slip_margins(model, model.state(), hold(model, -5.0))
    assert {margin.relative for margin in margins.values()} == {-INF}
    assert margins["left"].force == pytest.approx(-3.0 - WEIGHT / 2)


def test_what_is_not_closed_has_no_margin():
    model = squeezed_box()
    state = model.state()
    assert ma.slip_margins(model, state, ma.tree_forward_dynamics(model, state)) == {}
    other = model.state(v=np.ones(model.nv))
    with pytest.raises(ma.BadInputError, match="same state"):
        ma.slip_margins(model, other, hold(model, 30.0))


def test_a_grasp_in_the_tree_is_checked_too():
    """The same forces whether a point grasp was cut or stays in the tree as a ball joint."""
    cut = squeezed_box("point")
    m = ma.Mechanism("box on a finger")
    m.add_body("finger", mass=0.5, inertia=(0.01, 0.01, 0.01))
    m.add_joint("lift", "prismatic", "world", "finger", axis=(0, 0, 1))
    m.add_body("box", mass=MASS, inertia=(0.3, 0.2, 0.4))
    m.grasp("finger", "box", (0, 0, 0), "point", name="hold", friction=0.5)
    model = m.compile(cuts=[])
    assert "hold" in model.joints and "hold" not in model.cuts
    solution = ma.forward_dynamics(model, model.state(), {"lift": 3.0 * 9.81})
    margin = ma.slip_margins(model, model.state(), solution)["hold"]
    assert margin.force == pytest.approx(0.5 * MASS * 3.0 * 9.81 / 2.5)
    assert margin.relative == 1.0
    assert set(ma.slip_margins(cut, cut.state(), hold(cut, 30.0))) == {"left", "right"}


# ---------------------------------------------------------------------- compiled


def team(kinds):
    m = ma.Mechanism("two Pandas")
    for i, side in enumerate(("left", "right")):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for i, side in enumerate(("left", "right")):
        m.grasp(side, "box", np.array(PANDAS["weld_box"][i]), kinds[i], friction=0.7, torsional=0.03)
    return m.compile()


@pytest.mark.parametrize(
    "kinds", [("soft_finger", "soft_finger"), ("point", "rigid"), ("revolute", "soft_finger"), ("rigid", "rigid")]
)
def test_compiled_margins_are_those_of_the_solution(kinds):
    model = team(kinds)
    state = ma.assemble(model, panda_state(two_pandas(), 0).q, v=panda_state(two_pandas(), 0).v)
    calls, rng = ma.compiled(model), np.random.default_rng(1)
    friction, out = friction_table(model, calls.loops.names), np.empty((2, sl.MARGIN_COLUMNS))
    q, v, a = np.array(state.q), np.array(state.v), np.empty(model.nv)
    finite = 0
    for _ in range(12):
        tau = 30 * rng.normal(size=model.nv)
        margins = ma.slip_margins(model, state, ma.forward_dynamics(model, state, tau))
        calls.forward_dynamics(q, v, tau, a)
        worst = sl.slip_margins(calls.loops.loop, calls.loops.cut, calls.link, friction, out)
        for name, found in zip(calls.loops.names, out, strict=True):
            margin = margins[name]
            assert_allclose(found, [margin.force, margin.torsion, margin.relative], rtol=1e-6, atol=1e-6)
            finite += np.isfinite(margin.relative)
        least = min(margins.values(), key=lambda margin: margin.relative).relative
        assert worst == -1 if least == INF else out[worst, sl.RELATIVE] == pytest.approx(least, rel=1e-6)
    assert finite > 0 or kinds == ("rigid", "rigid")


def test_a_released_grasp_is_left_out_and_sizes_are_checked():
    model = squeezed_box()
    calls = ma.compiled(model)
    tau = model.forces({"left y": 30.0, "right y": -20.0})
    q, v, a = np.array(model.neutral), np.zeros(model.nv), np.empty(model.nv)
    calls.forward_dynamics(q, v, tau, a)
    loops, names = calls.loops, list(calls.loops.names)
    friction, out = friction_table(model, names), np.empty((2, 3))
    for side in CONTACTS:
        table = friction.copy()
        table[names.index(side), sl.NORMAL] = sl.NO_LIMIT
        worst = sl.slip_margins(loops.loop, loops.cut, calls.link, table, out)
        assert names[worst] != side
        assert out[names.index(side), sl.RELATIVE] == INF
    table[:, sl.NORMAL] = sl.NO_LIMIT
    assert sl.slip_margins(loops.loop, loops.cut, calls.link, table, out) == -1
    assert sl.slip_margins(loops.loop, loops.cut, calls.link, table, np.empty((1, 3))) == -2
    assert_allclose(friction_table(model, ["left", "left z"]), [[1, FRICTION, TORSIONAL], [0, NAN, NAN]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sticky", 0.5, None, np.zeros(6)), "grasp kind 'sticky'.*soft_finger"),
        (("point", -0.5, None, np.zeros(6)), "friction must not be negative, but is -0.5"),
        (("point", 0.5, np.nan, np.zeros(6)), "torsional: nan is not finite"),
        (("point", 0.5, None, np.zeros(5)), "expected 6 numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ma.MultiArmError, match=message):
        ma.slip_margin(*arguments)
