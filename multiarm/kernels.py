"""The compiled kernels, for use inside a user's own ``@numba.njit`` code.

Each takes the two tables of ``multiarm.compiled(model)`` first (`tree`, `link`; one `link` per thread), then plain
contiguous float64 arrays; the closed-chain ones (`structured`, `rccfd1` to `rccfd3`) take `loops.loop`, `loops.cut` and
`loops.room` in between. None allocates. Each returns 0, the row of a link whose articulated inertia is not positive, or
-1 for arrays of the wrong length; ``compiled(model).check(status)`` turns that into an error with names. Those of force
elements take the tables of ``Elements(model, ...).pack()`` too, and `locate` (or a solver) must have placed the links;
`element_energy`, `element_power` and `push_power` return their number.
"""

from multiarm.sweeps.articulated import articulate
from multiarm.sweeps.compliance import operational_compliance, tip_gram
from multiarm.sweeps.composite import joint_gram, mass_matrix
from multiarm.sweeps.element_energy import element_energy, element_power, push_power
from multiarm.sweeps.elements import apply_elements
from multiarm.sweeps.forward import fd1, fd2, fd3, fd4, solve_mass
from multiarm.sweeps.inverse import hybrid, newton_euler
from multiarm.sweeps.kinematics import jacobian, locate, totals
from multiarm.sweeps.operators import gather, scatter
from multiarm.sweeps.rccfd import rccfd1, rccfd2, rccfd3
from multiarm.sweeps.structured import structured

__all__ = [
    "apply_elements",
    "articulate",
    "element_energy",
    "element_power",
    "fd1",
    "fd2",
    "fd3",
    "fd4",
    "gather",
    "hybrid",
    "jacobian",
    "joint_gram",
    "locate",
    "mass_matrix",
    "newton_euler",
    "operational_compliance",
    "push_power",
    "rccfd1",
    "rccfd2",
    "rccfd3",
    "scatter",
    "solve_mass",
    "structured",
    "tip_gram",
    "totals",
]
