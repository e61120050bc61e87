"""Two Pandas hold one box: torques that lift it while pressing with a chosen force, and what each arm carries."""

import numpy as np

import multiarm as ma

m = ma.Mechanism("two Pandas, one box")
for side, x, turn in (("left", -0.7, 0.0), ("right", 0.7, np.pi)):
    m.add_arm(side, ma.robots.panda(), base=ma.pose((x, 0, 0), rpy=(0, 0, turn)))
m.add_body("box", mass=4.0, shape=ma.Box((0.3, 0.3, 0.2)), pose=(0, 0, 0.65))
for side, x, turn in (("left", -0.15, np.pi / 2), ("right", 0.15, -np.pi / 2)):
    m.grasp(side, "box", at=ma.pose((x, 0, 0), rpy=(0, turn, 0)), kind="rigid")
model = m.compile()

ready = [0, -0.3, 0, -2.2, 0, 3.4, -2.36]
state = ma.assemble(model, {"left": ready, "right": ready}, hold=("box",))

kin = ma.kinematics(model, state)
line = kin.joint("right").child_frame.translation - kin.joint("left").child_frame.translation
press = 30.0 * line / np.linalg.norm(line)
needed = ma.closed_chain_inverse_dynamics(
    model,
    state,
    motion={"box": [0, 0, 0, 0, 0, 1.0]},
    internal={"left": [0, 0, 0, *press], "right": [0, 0, 0, *-press]},
)

solution = ma.forward_dynamics(model, state, needed.tau)
load = solution.load("box")
print(f"box accelerates upwards with {solution.acceleration('box')[5]:.6f} m/s^2")
print(f"squeeze between the arms: {load.squeeze('left', 'right'):.4f} N\n")
print(f"{'arm':6s} {'share of load':>13s} {'force on the box [N]':>30s} {'largest torque / limit':>24s}")
for side in ("left", "right"):
    force = np.array2string(solution.forces[side].force, precision=2, suppress_small=True)
    used = np.abs(needed.tau / model.effort_limit)[model.v_slice(side)].max()
    print(f"{side:6s} {load.share[side]:13.3f} {force:>30s} {used:23.0%}")
