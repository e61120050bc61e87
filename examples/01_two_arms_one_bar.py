"""Two arms above one bar: describe, look, and compute the dynamics of everything that moves.

The grasps are part of the description; here the loops are still open, so that the arms and the bar move on their own.
"""

import numpy as np

import multiarm as ma

m = ma.Mechanism("two arms, one bar")
m.add_arm("left", ma.robots.panda(), base=ma.pose((-0.7, 0, 0)))
m.add_arm("right", ma.robots.ur5(), base=ma.pose((0.7, 0, 0), rpy=(0, 0, np.pi)))
m.add_body("bar", mass=5.0, pose=ma.pose((0, 0, 0.5)), shape=ma.Box((0.6, 0.1, 0.1)))
m.grasp("left", "bar", at=ma.pose((-0.3, 0, 0), rpy=(0, np.pi / 2, 0)), kind="rigid")
m.grasp("right", "bar", at=ma.pose((0.3, 0, 0), rpy=(0, -np.pi / 2, 0)), kind="point")

model = m.compile()
print(model, "\n")

ready = [0, -0.6, 0, -2.2, 0, 1.6, 0.8]
state = model.state(q={"left": ready, "right": [0, -1.2, 1.5, -0.3, 1.57, 0]}, v={"left": np.full(7, 0.2)})
hold = ma.inverse_dynamics(model, state, np.zeros(model.nv))
solution = ma.tree_forward_dynamics(model, state, tau={"left": hold[model.v_slice("left")]})

print("speed and acceleration: the left arm is held by its motors, the right one and the bar fall")
for name in ("left/tip", "right/tip", "bar"):
    acceleration = np.array2string(solution.acceleration(name)[3:], precision=3, suppress_small=True)
    velocity = ma.kinematics(model, state).velocity(name)
    print(f"{name:10s} {np.linalg.norm(velocity[3:]):6.3f} m/s   {acceleration} m/s^2")

compliance = ma.operational_compliance(model, state)
mass = 1 / np.array([compliance[i, i] for i in (3, 4, 5, 9, 10, 11)])
print("\nmass that a push on the tip along x, y, z would feel [kg]")
print("left  ", mass[:3].round(2))
print("right ", mass[3:].round(2))
print(f"\nresidual of the equations of motion: {solution.residual:.1e}")
