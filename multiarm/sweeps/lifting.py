"""Unit forces of the cuts on their way to the base: the constraints as the innovations filter sees them.

Row by row of J* this is H psi B (JPL 88-11-II (6.3)): a unit force on a link, felt at each axis on the way as H f and
passed on with the axis yielding, f+ = phi (I - G H) f. All rows of a cut go together, one per lane. What arrives at a
hub is the cut's reach there; the work done on the accelerations met on the way is what the cut's motion would be
without multipliers, so the free accelerations are never formed.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import cluster_row, cut_row, link_row
from multiarm.sweeps.values import dot3, load3, load6, scale6, shift_force, sub3

LANES = lo.LANES


@value
def pass_axis(x, o, axis, u, d_inverse, l, nu, bias):
    """Move the forces x[o:] past one axis to its parent's origin; leaves H f in YIELD and adds to GAINED.

    One loop over lanes with constant offsets into one vector, which LLVM turns into straight vector instructions.
    """
    (h0, h1, h2), (h3, h4, h5) = axis
    (u0, u1, u2), (u3, u4, u5) = u
    (a0, a1, a2), (a3, a4, a5) = bias
    l0, l1, l2 = l
    for c in range(LANES):
        n0, n1, n2 = x[o + c], x[o + LANES + c], x[o + 2 * LANES + c]
        f0, f1, f2 = x[o + 3 * LANES + c], x[o + 4 * LANES + c], x[o + 5 * LANES + c]
        felt = h0 * n0 + h1 * n1 + h2 * n2 + h3 * f0 + h4 * f1 + h5 * f2
        met = a0 * n0 + a1 * n1 + a2 * n2 + a3 * f0 + a4 * f1 + a5 * f2
        x[o + lo.GAINED + c] += felt * nu + met
        x[o + lo.YIELD + c] = felt
        s = -d_inverse * felt
        f0 += s * u3
        f1 += s * u4
        f2 += s * u5
        x[o + c] = n0 + s * u0 + (l1 * f2 - l2 * f1)
        x[o + LANES + c] = n1 + s * u1 + (l2 * f0 - l0 * f2)
        x[o + 2 * LANES + c] = n2 + s * u2 + (l0 * f1 - l1 * f0)
        x[o + 3 * LANES + c] = f0
        x[o + 4 * LANES + c] = f1
        x[o + 5 * LANES + c] = f2


@value
def meet(x, o, acceleration):
    """Add the work that the forces x[o:] do on a spatial acceleration to GAINED."""
    (a0, a1, a2), (a3, a4, a5) = acceleration
    for c in range(LANES):
        angular = a0 * x[o + c] + a1 * x[o + LANES + c] + a2 * x[o + 2 * LANES + c]
        linear = a3 * x[o + 3 * LANES + c] + a4 * x[o + 4 * LANES + c] + a5 * x[o + 5 * LANES + c]
        x[o + lo.GAINED + c] += angular + linear


@value
def climb(tree, link, loop, x, o, white, lane, k):
    """Carry the forces x[o:] from link k to the world or to a hub, noting what each axis feels."""
    while k > 0 and loop[link_row(k), lo.ROLE] == lo.AXIS_OF_TREE:
        pass_axis(
            x, o, load6(link, k, at.AXIS), load6(link, k, at.U), link[k, at.D_INVERSE], load3(link, k, at.OFFSET),
            link[k, at.NU], load6(link, k, at.BIAS),
        )  # fmt: skip
        for c in range(LANES):
            white[k, lane + c] += x[o + lo.YIELD + c]
        k = tree[k, at.PARENT]
    if k == 0:
        meet(x, o, load6(link, 0, at.ZETA))


@value
def drive(tree, link, loop, x, o, white, lane, k, amount):
    """A unit of joint force at axis k, times `amount`, in lane 0: what its link's parent feels, carried on."""
    white[k, lane] += amount
    x[o + lo.GAINED] = amount * link[k, at.NU]
    passed = scale6(-amount * link[k, at.D_INVERSE], load6(link, k, at.U))
    n, f = shift_force(load3(link, k, at.OFFSET), passed)
    for i in range(3):
        x[o + LANES * i] = n[i]
        x[o + LANES * (3 + i)] = f[i]
    climb(tree, link, loop, x, o, white, lane, tree[k, at.PARENT])


@value
def lift_cut(tree, link, loop, cut, white, c):
    """Carry the rows of cut c from both its sides; what is left of WANT is for multipliers and hubs to give."""
    row = cut_row(loop, c)
    x = cut[c]
    lane = LANES * loop[row, lo.SLOT]
    for i in range(LANES):
        x[lo.CHILD_FORCE + lo.GAINED + i] = 0.0
        x[lo.PARENT_FORCE + lo.GAINED + i] = 0.0
    if loop[row, lo.KIND] == lo.JOINT:
        climb(tree, link, loop, x, lo.CHILD_FORCE, white, lane, loop[row, lo.CHILD])
        climb(tree, link, loop, x, lo.PARENT_FORCE, white, lane, loop[row, lo.PARENT])
    else:
        drive(tree, link, loop, x, lo.CHILD_FORCE, white, lane, loop[row, lo.CHILD], 1.0)
        drive(tree, link, loop, x, lo.PARENT_FORCE, white, lane, loop[row, lo.PARENT], -cut[c, lo.RATIO])
    for i in range(LANES):
        x[lo.WANT + i] -= x[lo.CHILD_FORCE + lo.GAINED + i] + x[lo.PARENT_FORCE + lo.GAINED + i]


@value
def white_table(loop, room):
    """What every axis feels of the rows of its cluster: links x lanes."""
    links, width, start = loop[0, lo.LINKS], loop[0, lo.WIDTH], loop[0, lo.WHITE]
    return room[start : start + links * width].reshape((links, width))


@step
def lift_cluster(tree, link, loop, cut, white, g):
    """White rows of every axis of cluster g."""
    row = cluster_row(loop, g)
    cuts = loop[row, lo.CLUSTER_CUTS]
    k = loop[row, lo.FIRST_AXIS]
    while k > 0:
        for i in range(LANES * cuts):
            white[k, i] = 0.0
        k = loop[link_row(k), lo.NEXT_AXIS]
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + cuts):
        lift_cut(tree, link, loop, cut, white, c)


@value
def full_measure(link, loop, cut, g):
    """What an axis of cluster g would feel of a unit force or moment if nothing of it cancelled, squared, by D^-1."""
    row = cluster_row(loop, g)
    largest = 0.0
    k = loop[row, lo.FIRST_AXIS]
    while k > 0:
        for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
            arm = sub3(load3(cut, c, lo.POINT), load3(link, k, at.ORIGIN))
            largest = max(largest, link[k, at.D_INVERSE] * (1.0 + dot3(arm, arm)))
        k = loop[link_row(k), lo.NEXT_AXIS]
    return largest


@step
def widest_measure(link, loop, cut):
    """The largest `full_measure` of all clusters."""
    largest = 0.0
    for g in range(loop[0, lo.CLUSTERS]):
        largest = max(largest, full_measure(link, loop, cut, g))
    return largest


@value
def is_felt(white, k, slot):
    """Whether axis k feels anything of a cut."""
    felt = False
    for i in range(LANES):
        felt |= white[k, LANES * slot + i] != 0.0
    return felt


@step
def couple_on_axes(link, loop, omega, white, g, column):
    """Add Lambda of the cuts of cluster g, lower half: D^-1 times what each axis feels of two rows.

    `column` says where a cut's rows stand: FIRST_ROW among all, or LOCAL_ROW in the cluster.
    """
    row = cluster_row(loop, g)
    first, cuts = loop[row, lo.FIRST_CUT], loop[row, lo.CLUSTER_CUTS]
    k = loop[row, lo.FIRST_AXIS]
    while k > 0:
        for s in range(cuts):
            if is_felt(white, k, s):
                record = cut_row(loop, first + s)
                for t in range(s + 1):
                    if is_felt(white, k, t):
                        other = cut_row(loop, first + t)
                        for i in range(loop[record, lo.COUNT]):
                            scaled = link[k, at.D_INVERSE] * white[k, LANES * s + i]
                            for j in range(loop[other, lo.COUNT]):
                                felt = scaled * white[k, LANES * t + j]
                                omega[loop[record, column] + i, loop[other, column] + j] += felt
        k = loop[link_row(k), lo.NEXT_AXIS]


@value
def press(loop, cut, g):
    """Add CHANGE to lambda of cluster g."""
    row = cluster_row(loop, g)
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        for i in range(LANES):
            cut[c, lo.LAMBDA + i] += cut[c, lo.CHANGE + i]


@value
def innovate(link, loop, cut, white, g):
    """Add D^-1 H psi B CHANGE of cluster g to the innovations."""
    row = cluster_row(loop, g)
    first = loop[row, lo.FIRST_CUT]
    k = loop[row, lo.FIRST_AXIS]
    while k > 0:
        total = 0.0
        for s in range(loop[row, lo.CLUSTER_CUTS]):
            for i in range(LANES):
                total += white[k, LANES * s + i] * cut[first + s, lo.CHANGE + i]
        link[k, at.NU] += link[k, at.D_INVERSE] * total
        k = loop[link_row(k), lo.NEXT_AXIS]
