"""Controllers: plain calls ``controller(t, state) -> tau``, and tables that compiled rollouts take torques from.

Each keeps torque limits and, where objects are held by several grasps, internal forces.
"""

from multiarm.controllers.base import Controller
from multiarm.controllers.joint_pd import JointPD
from multiarm.controllers.objects import ComputedTorque, ObjectImpedance, critical_damping

__all__ = ["ComputedTorque", "Controller", "JointPD", "ObjectImpedance", "critical_damping"]
