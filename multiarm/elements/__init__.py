"""Force elements: springs, dampers, friction, limits, bushings and pushes beside the dynamics of the model."""

from multiarm.elements.bodies import BodySpring, Bushing, compliant_grasp
from multiarm.elements.collection import Element, Elements
from multiarm.elements.joints import JointDamper, JointFriction, JointLimit, JointSpring, limit_margin
from multiarm.elements.pushes import Push, PushTable

__all__ = [
    "BodySpring",
    "Bushing",
    "Element",
    "Elements",
    "JointDamper",
    "JointFriction",
    "JointLimit",
    "JointSpring",
    "Push",
    "PushTable",
    "compliant_grasp",
    "limit_margin",
]
