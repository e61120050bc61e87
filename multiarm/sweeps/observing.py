"""What is noted of a run: one row of numbers per sample, and the margins that are watched."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.element_energy import element_energy
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.kinematics import locate, totals
from multiarm.sweeps.loops import cut_row, frame_of, load_lane
from multiarm.sweeps.projecting import want_closed
from multiarm.sweeps.slip import FORCE, RELATIVE, TORSION, slip_margins
from multiarm.sweeps.stepping import follow
from multiarm.sweeps.values import ZERO6, axpy6, dot3, load3

# Columns of a sample: numbers, then q, v, a and tau, then for every cut its wrench on the child, its point, its margin
# and the rotation of its child-side frame.
TIME, KINETIC, POTENTIAL, CLOSURE, DRIVEN, LOST, PUSHED = range(7)  # the last three from the ledger
NUMBERS = 7
PER_CUT = 19


@value
def margin_of(x, lower, upper):
    """Distance to the nearer limit, negative beyond it."""
    return min(x - lower, upper - x)


@value
def margin_of_grasp(margins, c):
    """The smaller of a grasp's margins [N or N m]: continuous, other than the relative one."""
    if margins[c, TORSION] < margins[c, FORCE]:
        return margins[c, TORSION]
    return margins[c, FORCE]


@step
def gauge(plant, q):
    """Margins of limits and grasps into the second row of `gauges`, those before into the first; needs forces."""
    count = plant.limits.shape[0]
    for i in range(plant.gauges.shape[1]):
        plant.gauges[0, i] = plant.gauges[1, i]
    for i in range(count):
        plant.gauges[1, i] = margin_of(q[int(plant.limits[i, 0])], plant.limits[i, 1], plant.limits[i, 2])
    slip_margins(plant.loop, plant.cut, plant.link, plant.friction, plant.margins)
    for i in range(count, plant.gauges.shape[1]):
        plant.gauges[1, i] = margin_of_grasp(plant.margins, i - count)


@value
def has_crossed(plant):
    """Whether any margin was there at the last step and is gone now."""
    crossed = False
    for i in range(plant.gauges.shape[1]):
        crossed |= plant.gauges[0, i] >= 0.0 and plant.gauges[1, i] < 0.0
    return crossed


@step
def observe(plant, t, q, v, a, tau, out):
    """Write one sample; needs the accelerations, forces and margins at this state."""
    tree, link, loop, cut = plant.tree, plant.link, plant.loop, plant.cut
    nq, n = len(q), len(v)
    out[TIME] = t
    out[NUMBERS : NUMBERS + nq] = q
    place = NUMBERS + nq
    out[place : place + n] = v
    out[place + n : place + 2 * n] = a
    out[place + 2 * n : place + 3 * n] = tau
    for i in range(plant.law_whole.shape[0]):  # what makes a joint follow its law drives it
        c = plant.law_whole[i, 0]
        driven = tree[loop[cut_row(loop, c), lo.CHILD], at.V]
        out[place + 2 * n + driven] += cut[c, lo.LAMBDA]
    place += 3 * n
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        wrench = ZERO6
        for i in range(loop[row, lo.COUNT]):
            if loop[row, lo.KIND] == lo.JOINT:
                wrench = axpy6(cut[c, lo.LAMBDA + i], load_lane(cut, c, lo.NORMALS, i), wrench)
        out[place], out[place + 1], out[place + 2] = wrench[0]
        out[place + 3], out[place + 4], out[place + 5] = wrench[1]
        out[place + 6], out[place + 7], out[place + 8] = load3(cut, c, lo.POINT)
        out[place + 9] = plant.margins[c, RELATIVE]
        if loop[row, lo.KIND] == lo.JOINT:
            rotation = frame_of(link, loop[row, lo.CHILD], cut, c, lo.CHILD_FRAME)[0]
            for i in range(9):
                out[place + 10 + i] = rotation[i]
        place += PER_CUT
    locate(tree, link, q, v)
    sums = plant.sums
    totals(tree, link, v, sums)
    gravity = load3(link, 0, at.ZETA + 3)  # its pseudo-acceleration
    out[KINETIC], out[POTENTIAL] = sums[0], dot3(gravity, (sums[2], sums[3], sums[4]))
    if plant.element_whole.shape[0] > 0:
        out[POTENTIAL] += element_energy(tree, link, plant.element_numbers, plant.element_whole, q)
    out[DRIVEN], out[LOST], out[PUSHED] = plant.ledger[0, 0], plant.ledger[0, 1], plant.ledger[0, 2]
    follow(plant, t)
    out[CLOSURE] = want_closed(tree, link, loop, cut, q) if loop[0, lo.CUTS] > 0 else 0.0
