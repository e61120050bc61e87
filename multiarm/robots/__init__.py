"""Robots from published numbers, ready for `Mechanism.add_arm`; each function names its source and reads no file."""

from __future__ import annotations

from multiarm.robots.chains import chain, planar
from multiarm.robots.dual_panda import torso
from multiarm.robots.franka import panda
from multiarm.robots.unimation import puma560
from multiarm.robots.universal import ur5

__all__ = ["chain", "panda", "planar", "puma560", "torso", "ur5"]
