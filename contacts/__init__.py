"""What happens where two bodies touch: grasp kinds and shapes. Knows no arm."""

from contacts.errors import ContactError
from contacts.grasps import GRASP_KINDS, GraspKind, grasp_kind
from contacts.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere

__all__ = [
    "GRASP_KINDS",
    "Box",
    "Capsule",
    "ContactError",
    "Cylinder",
    "GraspKind",
    "Mesh",
    "Shape",
    "Sphere",
    "grasp_kind",
]
