"""A four-bar linkage: describe it with four hinges, close the loop, and read the forces in the bearings.

Spatial hinges in a plane make three of the five rows of the cut joint redundant: the motion does not care, and the
forces across the plane are reported as not determinate.
"""

import multiarm as ma

m = ma.Mechanism("four-bar")
for name, length in (("crank", 1.0), ("rod", 2.0), ("rocker", 1.5)):
    inertia = (0.01, length**3 / 12, length**3 / 12)
    m.add_body(name, mass=length, inertia=inertia, com=(length / 2, 0, 0))
m.add_joint("a", "revolute", parent="world", child="crank")
m.add_joint("b", "revolute", parent="crank", child="rod", at=(1, 0, 0), passive=True)
m.add_joint("c", "revolute", parent="rod", child="rocker", at=(2, 0, 0), in_child=(1.5, 0, 0), passive=True)
m.add_joint("d", "revolute", parent="world", child="rocker", at=(2.2, 0, 0), passive=True)
model = m.compile(gravity=(0, -9.81, 0))
print(model, "\n")

state = ma.assemble(model, {"a": 1.0, "b": -0.6, "d": 1.8}, hold=("a",), v={"a": 2.0})
mobility = ma.mobility(model, state)
print(f"mobility: {mobility.kutzbach} by Kutzbach's count, {mobility.instantaneous} in truth\n")

solution = ma.forward_dynamics(model, state, tau={"a": 3.0})
print(f"{'joint':6s} {'force in the plane [N]':>26s}   determinate")
for joint in ("a", "b", "c", "d"):
    force = solution.forces[joint].force
    sure = solution.determinate.get(joint, "follows from the others")
    print(f"{joint:6s} {force[0]:13.4f} {force[1]:12.4f}   {sure}")
print(f"\nequations of motion hold to {solution.residual:.1e}, constraints to {solution.constraint_residual:.1e}")
