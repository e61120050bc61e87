"""MJCF texts for the tests of `load_mjcf`, and the models made of them."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import multiarm as ma

GRAVITY = (0.7, -1.9, -9.3)
SCENE = """
<mujoco model="scene">
  <compiler angle="radian"/>
  <option gravity="0.7 -1.9 -9.3" jacobian="dense"><flag contact="disable"/></option>
  <worldbody>{bodies}</worldbody>
  {rest}
</mujoco>"""
PLAIN = "<mujoco><compiler angle='radian'/><worldbody>{bodies}</worldbody>{rest}</mujoco>"
ROD = '<inertial pos="0.2 0.01 0" mass="{mass}" diaginertia="0.002 0.03 0.03"/>'


def quiet_load(xml: str, **options) -> ma.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.RobotFileWarning)
        return ma.load_mjcf(xml, **options)


def compiled(robot: ma.Robot) -> ma.Model:
    mechanism = ma.Mechanism()
    mechanism.add_arm("robot", robot)
    return mechanism.compile(gravity=GRAVITY)


def random_state(model: ma.Model, rng: np.random.Generator) -> ma.State:
    q = rng.uniform(-1.5, 1.5, model.nq)
    for place in model.joints.values():
        if place.joint.kind in ("spherical", "free"):
            q[place.q][:4] = Rotation.random(rng=rng).as_quat()
    return model.state(q=q, v=rng.uniform(-2, 2, model.nv))


def assert_agrees(ours, theirs, tolerance: float = 1e-10) -> None:
    """No entry differs by more than `tolerance` times the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    error, largest = np.abs(ours - theirs).max(), np.abs(theirs).max()
    assert error <= tolerance * largest, f"{error / largest:.1e} of the largest entry {largest:.3g}"


# --- texts ------------------------------------------------------------------------------------------------------------

LOCAL = {
    "floats": """
      <body name="trunk" pos="0.1 0 1" euler="0.3 0.2 0.1">
        <freejoint/>
        <inertial pos="0.02 -0.05 0.1" mass="8" fullinertia="0.3 0.4 0.2 0.02 0.01 0.03"/>
        <body pos="0.1 0.3 0" euler="0.4 0 0">
          <joint type="ball" pos="0 0.02 0" armature="0.03"/>
          <inertial pos="0 0.2 0" mass="2" diaginertia="0.05 0.01 0.05"/>
          <body name="tip" pos="0 0.4 0"><inertial pos="0 0.1 0" mass="0.5" diaginertia="2e-3 1e-3 2e-3"/></body>
        </body>
      </body>""",
    "references": """
      <body name="a" pos="0.1 0 1" euler="0.3 0.2 0.1">
        <joint name="turn" axis="1 2 3" pos="0.1 0 0.2" ref="0.7"/>
        <joint name="slide" type="slide" axis="1 0 3" ref="-0.4"/>
        <inertial pos="0.02 -0.05 0.1" mass="8" fullinertia="0.3 0.4 0.2 0.02 0.01 0.03"/>
        <site name="eye" pos="0.1 0.2 0.3" euler="1 2 3"/>
      </body>
      <site name="mark" pos="1 2 3"/>""",
    "no joints have names": """
      <body pos="0.1 0 1"><joint axis="1 0 0"/><joint axis="0 1 0" pos="0 0 0.1"/><joint axis="0 0 1"/>
        <geom type="box" size="0.1 0.2 0.3"/>
        <body pos="0 0 1"><joint axis="0 1 0" armature="0.1"/><geom type="capsule" size="0.05 0.2"/></body>
      </body>""",
}


def arm(name: str, x: float, turn: float, reach: str = "") -> str:
    """Six hinges along oblique axes."""
    inside = f'<site name="{name} hand" pos="0.4 0 0" euler="0.3 0.1 0"/>{reach}'
    for i, axis in reversed(list(enumerate(("0 0 1", "0 1 0", "0 1 0.2", "1 0 0", "0 1 0", "0 0 1")))):
        inside = f"""<body name="{name}{i}" pos="{0.4 if i else 0} 0 0" euler="0 {-0.3 if i % 2 else 0.4} 0.1">
          <joint name="{name}{i}" axis="{axis}" armature="{0.01 * i}"/>{ROD.format(mass=2 - 0.2 * i)}{inside}</body>"""
    return f'<body name="{name}" pos="{x} 0 0" euler="0 0 {turn}">{inside}</body>'


BAR = """<body name="bar" pos="0.1 1.4 0.3" euler="0.2 0.5 0.9"><freejoint name="bar"/>
  <inertial pos="0.02 0 0.01" mass="3" diaginertia="0.02 0.2 0.2"/>
  <site name="left end" pos="-0.3 0 0"/><site name="right end" pos="0.3 0 0.1" euler="0 0 1"/></body>"""
ARMS = arm("l", -0.7, 1.1) + arm("r", 0.7, 2.0) + BAR
HINGES = """
  <body name="a" pos="0 0 0.1"><joint name="a" axis="0 1 0" ref="0.3"/>""" + ROD.format(mass=1) + """
    <body name="b" pos="0.4 0 0"><joint name="b" axis="0 1 0" ref="-0.2"/>""" + ROD.format(mass=2) + """
      <body name="c" pos="0.4 0 0"><joint name="c" type="slide" axis="1 1 0" ref="0.1"/>""" + ROD.format(mass=3) + """
        <body name="d" pos="0.4 0 0"><joint name="d" axis="0 1 1"/>""" + ROD.format(mass=1) + """
      </body></body></body></body>"""  # fmt: skip
FOUR_BAR = """
  <body name="crank"><joint name="crank" axis="0 1 0"/>""" + ROD.format(mass=1) + """
    <body name="coupler" pos="0 0 0.3"><joint name="coupler" axis="0 1 0"/>""" + ROD.format(mass=2) + """</body>
  </body>
  <body name="rocker" pos="0.8 0 0"><joint name="rocker" axis="0 1 0"/>""" + ROD.format(mass=1) + "</body>"  # fmt: skip

# bodies, equalities, and how many rows they have
SCENES = {
    "connect": (
        ARMS,
        '<connect body1="l5" body2="bar" anchor="0.4 0 0"/><connect body1="bar" body2="r5" anchor="0.3 0 0"/>',
        6,
    ),
    "weld": (ARMS, '<weld body1="l5" body2="bar" anchor="0.1 0.2 0.3"/><weld body1="bar" body2="r5"/>', 12),
    "weld somewhere else": (
        ARMS,
        '<weld body1="l5" body2="bar" anchor="0.1 0.2 0.3" relpose="0.4 0.1 0 0.8 0.1 0.2 -0.3"/>'
        '<connect body1="r5" anchor="0.4 0 0"/>',
        9,
    ),
    "weld without torque": (ARMS, '<weld body1="l5" body2="bar" torquescale="0"/>', 3),
    "weld with a scale": (ARMS, '<weld body1="l5" body2="bar" torquescale="0.2"/>', 6),
    "sites": (ARMS, '<weld site1="l hand" site2="left end"/><connect site1="r hand" site2="right end"/>', 9),
    "world": (ARMS, '<weld body1="l5"/><connect body1="world" body2="bar" anchor="0.2 1.4 0.3"/>', 9),
    "joint": (HINGES, '<joint joint1="b" joint2="a" polycoef="0.1 -1.7 0 0 0"/><joint joint1="c" joint2="d"/>', 2),
    "joint held": (HINGES, '<joint joint1="c" polycoef="0 0 0 0 0"/><joint joint1="b" joint2="a"/>', 2),
    "four bars": (
        FOUR_BAR,
        '<connect body1="coupler" body2="rocker" anchor="0.6 -0.1 0.2"/>'
        '<connect body1="coupler" body2="rocker" anchor="0.6 0.1 0.2"/>',
        6,
    ),
}
OPEN = ("weld somewhere else", "sites", "joint")  # in the file's own configuration


def scene(name: str) -> tuple[ma.Model, object]:
    bodies, equalities, _ = SCENES[name]
    xml = SCENE.format(bodies=bodies, rest=f"<equality>{equalities}</equality>")
    return compiled(quiet_load(xml)), mujoco.MjModel.from_xml_string(xml)


def drawn(model: ma.Model, peer) -> ma.State:
    """Where the file draws the robot: free joints at zero, hinges and slides at their references."""
    q = model.neutral.copy()
    for name, place in model.joints.items():
        if place.joint.kind in ("revolute", "prismatic"):
            q[place.q] = peer.qpos0[peer.joint(name.removeprefix("robot/")).qposadr[0]]
    return model.state(q=q)
