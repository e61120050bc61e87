"""Closed-chain and multi-arm dynamics: several arms carrying one object, and any mechanism with kinematic loops.

The flow: a `Mechanism` is described, `graphs.analyse` finds its spanning tree and cut joints, `Mechanism.compile`
freezes both into a `Model`; functions take a `Model` and a `State` and return a `Solution` or arrays.

Conventions, the same everywhere
--------------------------------
- SI units, radians. Spatial vectors angular part first: V = [omega; v], f = [n; f].
- World axes. A body's velocity and acceleration are taken at the body's own origin; the linear part of an
  acceleration is that point's ordinary acceleration. Accelerations are true: gravity's pseudo-acceleration does not
  appear in them.
- Quaternions scalar last (x, y, z, w). Poses are `scipy.spatial.transform.RigidTransform`; 4x4 arrays and xyz
  triples are accepted too. `pose(xyz, rpy=)` makes one, with fixed-axis roll-pitch-yaw as in URDF.
- `inertia=` is about the centre of mass in body axes: three principal values or 3x3. `Box` takes full edge lengths.
- Coordinates stand in the order joints were added, within an arm from base to tip, a free joint in its body's place.
  Free: q = [quaternion; xyz], v = [omega; v] in the axes of the joint frame on the parent (for a free body, of the
  world). Spherical: q the quaternion of child in parent, v the relative angular velocity in child axes. Planar: (x, y,
  angle) in the joint frame. Cylindrical: (angle, slide). Universal: angles about `axis`, then `axis2`. Screw: angle,
  with `pitch` in m/rad.
- A joint's q, v, tau and wrench follow its declared parent -> child, whichever way the tree runs through it.
- A force is reported with its point, axes, on whom and by whom (`Wrench`).
"""

from typing import TYPE_CHECKING, Any

from contacts import Box, Capsule, Cylinder, Mesh, Sphere
from multiarm import controllers, paths, robots
from multiarm.arms import Arm
from multiarm.assembly import assemble, grasped, project
from multiarm.closed_chain import ClosedChainSolution, forward_dynamics
from multiarm.closed_chain_inverse import closed_chain_inverse_dynamics
from multiarm.description import Body, Coupling, Frame, Grasp, Joint, Robot
from multiarm.dynamics import (
    hybrid_dynamics,
    inverse_dynamics,
    log_determinant,
    mass_matrix,
    mass_matrix_inverse,
    operational_compliance,
    tree_forward_dynamics,
)
from multiarm.elements import (
    BodySpring,
    Bushing,
    Elements,
    JointDamper,
    JointFriction,
    JointLimit,
    JointSpring,
    Push,
    PushTable,
    compliant_grasp,
    limit_margin,
)
from multiarm.energy import Energy, Momentum, center_of_mass, energy, momentum
from multiarm.errors import (
    BadInputError,
    ContradictionError,
    ControllerError,
    DescriptionError,
    GraphError,
    ImmobileWarning,
    MissingExtraError,
    MultiArmError,
    OpenLoopError,
    RobotFileError,
    RobotFileWarning,
    SimulationError,
    SingularInertiaError,
    UnknownNameError,
    UnphysicalInertiaWarning,
    UnreachableMotionError,
)
from multiarm.filtering import FilterQuantities, smoother
from multiarm.grasp_motion import GraspMotion
from multiarm.kinematics import JointMotion, Kinematics, jacobian, jacobian_gram, kinematics
from multiarm.laws import Moment, TimeLaw, follow, polynomial_law, sine_law
from multiarm.load import LoadSplit
from multiarm.mechanism import Mechanism
from multiarm.mjcf import load_mjcf
from multiarm.mobility import Mobility, mobility
from multiarm.model import CutJoint, Model
from multiarm.operators import Operators, dense, operators
from multiarm.poses import pose
from multiarm.prepared import Compiled, compiled
from multiarm.reactions import JointReaction, JointReactions
from multiarm.simulation import (
    HandOver,
    Hold,
    Payload,
    Release,
    Simulation,
    Steer,
    Stop,
    Watch,
    holding,
    near_singularity,
    simulate,
    simulate_batch,
    with_payload,
)
from multiarm.slip import SlipMargin, slip_margin, slip_margins
from multiarm.solution import JointForces, Solution, interbody_forces
from multiarm.state import State
from multiarm.trajectory import CorruptRecordingError, Event, RecordingError, Trajectory, load_trajectory
from multiarm.urdf import load_urdf
from multiarm.version import __version__
from multiarm.wrench import Wrench

if TYPE_CHECKING:
    from multiarm.scenario import Scenario, ScenarioError, load_scenario, scenarios

__all__ = [
    "Arm", "BadInputError", "Body", "BodySpring", "Box", "Bushing", "Capsule", "ClosedChainSolution", "Compiled",
    "ContradictionError", "ControllerError", "CorruptRecordingError", "Coupling", "CutJoint", "Cylinder",
    "DescriptionError", "Elements", "Energy", "Event", "FilterQuantities", "Frame", "GraphError", "Grasp",
    "GraspMotion", "HandOver", "Hold", "ImmobileWarning", "Joint", "JointDamper", "JointForces", "JointFriction",
    "JointLimit", "JointMotion", "JointReaction", "JointReactions", "JointSpring", "Kinematics", "LoadSplit",
    "Mechanism", "Mesh", "MissingExtraError", "Mobility", "Model", "Moment", "Momentum", "MultiArmError",
    "OpenLoopError", "Operators", "Payload", "Push", "PushTable", "RecordingError", "Release", "Robot",
    "RobotFileError", "RobotFileWarning", "Scenario", "ScenarioError", "Simulation", "SimulationError",
    "SingularInertiaError", "SlipMargin", "Solution", "Sphere", "State", "Steer", "Stop", "TimeLaw", "Trajectory",
    "UnknownNameError", "UnphysicalInertiaWarning", "UnreachableMotionError", "Watch", "Wrench", "__version__",
    "assemble", "center_of_mass", "closed_chain_inverse_dynamics", "compiled", "compliant_grasp", "controllers",
    "dense", "energy", "follow", "forward_dynamics", "grasped", "holding", "hybrid_dynamics", "interbody_forces",
    "inverse_dynamics", "jacobian", "jacobian_gram", "kinematics", "limit_margin", "load_mjcf", "load_scenario",
    "load_trajectory", "load_urdf", "log_determinant", "mass_matrix", "mass_matrix_inverse", "mobility", "momentum",
    "near_singularity", "operational_compliance", "operators", "paths", "polynomial_law", "pose", "project", "robots",
    "scenarios", "simulate", "simulate_batch", "sine_law", "slip_margin", "slip_margins", "smoother",
    "tree_forward_dynamics", "with_payload",
]  # fmt: skip

_SCENARIO_NAMES = ("Scenario", "ScenarioError", "load_scenario", "scenarios")


def __getattr__(name: str) -> Any:
    """Names of the scenario layer, loaded when first used: reading files takes packages that a computation does not."""
    if name in _SCENARIO_NAMES:
        from multiarm import scenario

        return getattr(scenario, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
