"""How far grasps are from slipping: the friction cone and the torsional limit at each contact.

The sources assume that contacts do not slip, which must be continually verified (JPL 88-11-II, App. A).
"""

from __future__ import annotations

import math

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.loops import cut_row, load_lane
from multiarm.sweeps.values import ZERO3, add3, apply9_transposed, load9, mul9, scale3

# Columns of `friction`, one row per cut: which axis of the contact frame is the inward normal (0: nothing to check),
# Coulomb coefficient, torsional limit [m]; NaN where not given.
NORMAL, COULOMB, TORSIONAL = range(3)
NO_LIMIT, NORMAL_Z, NORMAL_X = 0.0, 1.0, 2.0
FRICTION_COLUMNS = 3

# Columns of the answer: margin of the tangential force [N], of the torsion [N m], and the smaller one as a share.
FORCE, TORSION, RELATIVE = range(3)
MARGIN_COLUMNS = 3


@value
def share_left(load, capacity, pressed):
    """1 - load / capacity; where nothing can be carried 0 for no load and -inf for any, or for a pull."""
    if capacity > 0.0:
        return 1.0 - load / capacity
    if pressed < 0.0 or load > 0.0:
        return -math.inf
    return 0.0


@value
def contact_margin(friction, c, n, f, out):
    """Margins for the wrench [n; f] on the object in contact axes, into row c of `out`."""
    normal = friction[c, NORMAL]
    if normal == NO_LIMIT:
        out[c, FORCE] = out[c, TORSION] = out[c, RELATIVE] = math.inf
        return
    if normal == NORMAL_Z:
        pressed, across, twist = f[2], math.sqrt(f[0] * f[0] + f[1] * f[1]), abs(n[2])
    else:
        pressed, across, twist = f[0], math.sqrt(f[1] * f[1] + f[2] * f[2]), abs(n[0])
    hold, grip = friction[c, COULOMB] * pressed, friction[c, TORSIONAL] * pressed
    out[c, FORCE], out[c, TORSION] = hold - across, math.inf
    relative = share_left(across, hold, pressed)
    if friction[c, TORSIONAL] != math.inf:
        out[c, TORSION] = grip - twist
        if not math.isnan(grip):
            relative = min(relative, share_left(twist, grip, pressed))
    if math.isnan(hold):
        relative = math.nan
    out[c, RELATIVE] = relative


@value
def contact_wrench(link, loop, cut, c):
    """N* lambda of a cut: [n; f] on its child at the child-side frame, in the axes of that frame."""
    row = cut_row(loop, c)
    n, f = ZERO3, ZERO3
    for i in range(loop[row, lo.COUNT]):
        unit_n, unit_f = load_lane(cut, c, lo.NORMALS, i)
        n, f = add3(n, scale3(cut[c, lo.LAMBDA + i], unit_n)), add3(f, scale3(cut[c, lo.LAMBDA + i], unit_f))
    axes = mul9(load9(link, loop[row, lo.CHILD], at.ROTATION), load9(cut, c, lo.CHILD_FRAME))
    return apply9_transposed(axes, n), apply9_transposed(axes, f)


@kernel
def slip_margins(loop, cut, link, friction, out):
    """Margins of every cut, one row of `out` each, after a closed-chain solver; returns the cut with the smallest.

    That is -1 where no cut has a limit (or none is known). A caller may set NORMAL of a grasp to NO_LIMIT while it is
    released. Wrong sizes return -2.
    """
    cuts = loop[0, lo.CUTS]
    if friction.shape != (cuts, FRICTION_COLUMNS) or out.shape != (cuts, MARGIN_COLUMNS):
        return -2
    worst, least = -1, math.inf
    for c in range(cuts):
        if friction[c, NORMAL] == NO_LIMIT:
            out[c, FORCE] = out[c, TORSION] = out[c, RELATIVE] = math.inf
            continue
        n, f = contact_wrench(link, loop, cut, c)
        contact_margin(friction, c, n, f, out)
        if out[c, RELATIVE] < least:
            worst, least = c, out[c, RELATIVE]
    return worst


@kernel
def slip_margin(friction, wrench, out):
    """Margins of one contact, `wrench` = [n; f] on the object in contact axes."""
    if friction.shape != (1, FRICTION_COLUMNS) or len(wrench) != 6 or out.shape != (1, MARGIN_COLUMNS):
        return at.WRONG_LENGTH
    contact_margin(friction, 0, (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5]), out)
    return 0
