"""What the closed-chain solvers share: the filter up to the hubs, the smoother from them, and what is still missing."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.forward import filter_with_bias
from multiarm.sweeps.inward import (
    along_rotation,
    along_screw,
    along_slide,
    gathered_force,
    gathered_inertia,
    own_bias_force,
)
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import cut_row, hub_frame, link_row, load_lane, settle_cut, store_lane
from multiarm.sweeps.outward import weigh
from multiarm.sweeps.values import (
    ZERO3,
    ZERO6,
    add6,
    apply9,
    apply9_transposed,
    axpy6,
    dot6,
    load3,
    load6,
    load9,
    shift_motion,
    store6,
    store_sym6,
    sub6,
)


@value
def gather_hub(tree, link, k):
    """P and z of a hub: what hangs on it, and its own."""
    i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
    store_sym6(link, k, at.ARTICULATED, gathered_inertia(tree, link, k, i, h, m))
    store6(link, k, at.FORCE, add6(gathered_force(tree, link, k), own_bias_force(link, k, i, h)))


@value
def filter_all(tree, link, loop, tau):
    """Inward: the articulated-body filter of FD4 up to the hubs; returns a link whose D is not positive, or 0."""
    bad = 0
    for k in range(tree.shape[0] - 1, 0, -1):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        if role == lo.HUB_BODY:
            gather_hub(tree, link, k)
            continue
        kind = tree[k, at.KIND]
        if kind == at.PRISMATIC:
            margin = filter_with_bias(tree, link, k, tau, along_slide)
        elif kind == at.SCREW:
            margin = filter_with_bias(tree, link, k, tau, along_screw)
        else:
            margin = filter_with_bias(tree, link, k, tau, along_rotation)
        if bad == 0 and not margin > 0.0:
            bad = k
    return bad


@value
def applied(tree, loop, room, tau, k):
    """The force of tau on the hub that is link k, world axes at its origin."""
    rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
    j = tree[k, at.V] - 2
    n = apply9(rotation, (tau[j], tau[j + 1], tau[j + 2]))
    return n, apply9(rotation, (tau[j + 3], tau[j + 4], tau[j + 5]))


@value
def hub_acceleration(loop, alpha, k):
    """Spatial acceleration of the hub that is link k."""
    i = 6 * loop[link_row(k), lo.HUB]
    return (alpha[i], alpha[i + 1], alpha[i + 2]), (alpha[i + 3], alpha[i + 4], alpha[i + 5])


@value
def clear_hub(tree, out, k):
    """No acceleration of the six coordinates of the hub that is link k."""
    j = tree[k, at.V] - 2
    for i in range(6):
        out[j + i] = 0.0


@value
def move_hub(tree, loop, room, acceleration, out, k):
    """Add a true acceleration to the six coordinates of the hub that is link k, in the axes they are given in."""
    rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
    j = tree[k, at.V] - 2
    angular, linear = apply9_transposed(rotation, acceleration[0]), apply9_transposed(rotation, acceleration[1])
    for i in range(3):
        out[j + i] += angular[i]
        out[j + 3 + i] += linear[i]


@step
def smooth_all(tree, link, loop, room, alpha, out):
    """Outward: theta'' = nu - G* alpha+ and the links' accelerations, hubs from the solution of their system."""
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        if role == lo.HUB_BODY:
            found = hub_acceleration(loop, alpha, k)
            store6(link, k, at.ALPHA, found)
            clear_hub(tree, out, k)
            move_hub(tree, loop, room, sub6(found, load6(link, 0, at.ZETA)), out, k)
            continue
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        acceleration = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
        moved = axpy6(acceleration, load6(link, k, at.AXIS), incoming)
        store6(link, k, at.ALPHA, add6(moved, load6(link, k, at.BIAS)))
        out[tree[k, at.V]] = acceleration


@step
def smooth_change(tree, link, loop, room, alpha, out):
    """Outward: add what a change of the innovations (now in NU) and of the hubs does to theta'' and the links.

    Delta theta'' = (I - H Psi L)* D^-1 H psi B lambda, JPL 88-11-II (6.11g).
    """
    store6(link, 0, at.CHANGE, ZERO6)
    for k in range(1, tree.shape[0]):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        if role == lo.HUB_BODY:
            change = hub_acceleration(loop, alpha, k)
            move_hub(tree, loop, room, change, out, k)
        else:
            incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.CHANGE))
            acceleration = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
            change = axpy6(acceleration, load6(link, k, at.AXIS), incoming)
            out[tree[k, at.V]] += acceleration
        store6(link, k, at.CHANGE, change)
        store6(link, k, at.ALPHA, add6(load6(link, k, at.ALPHA), change))


@value
def first_idle_lane(loop, c):
    """The first lane of cut c that `settle_cut` does not write; a coupling has no rows to settle."""
    return loop[cut_row(loop, c), lo.COUNT] if loop[cut_row(loop, c), lo.KIND] == lo.JOINT else 0


@value
def start_cuts(link, loop, cut):
    """Rows and goals of every cut, multipliers at zero."""
    for c in range(loop[0, lo.CUTS]):
        if loop[cut_row(loop, c), lo.KIND] == lo.JOINT:
            settle_cut(link, loop, cut, c)
        for i in range(lo.LANES):
            cut[c, lo.LAMBDA + i] = cut[c, lo.CHANGE + i] = cut[c, lo.FREE + i] = 0.0
        for i in range(first_idle_lane(loop, c), lo.LANES):  # whatever a call that failed has left there
            cut[c, lo.WANT + i] = 0.0
            store_lane(cut, c, lo.CHILD_FORCE, i, ZERO3, ZERO3)
            store_lane(cut, c, lo.PARENT_FORCE, i, ZERO3, ZERO3)
        if loop[cut_row(loop, c), lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.GOAL]


@value
def motion_of(cut, c, lane, column, acceleration):
    """Work of the unit force of a lane on a spatial acceleration."""
    return dot6(load_lane(cut, c, column, lane), acceleration)


@step
def want_left(tree, link, loop, cut, out):
    """WANT of every row at the accelerations found: what is still missing; returns the largest."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        if loop[row, lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.GOAL] + cut[c, lo.RATIO] * out[tree[p, at.V]] - out[tree[k, at.V]]
        else:
            settle_cut(link, loop, cut, c)
            for i in range(loop[row, lo.COUNT]):
                moved = motion_of(cut, c, i, lo.CHILD_FORCE, load6(link, k, at.ALPHA))
                cut[c, lo.WANT + i] -= moved + motion_of(cut, c, i, lo.PARENT_FORCE, load6(link, p, at.ALPHA))
        for i in range(loop[row, lo.COUNT]):
            largest = max(largest, abs(cut[c, lo.WANT + i]))
    return largest


@value
def hub_vector(loop, room):
    """Innovations of the hubs, then their accelerations."""
    return room[loop[0, lo.RIGHT] : loop[0, lo.RIGHT] + 6 * loop[0, lo.HUBS]]


def make_correction(solve):
    """A correction by `solve`, which turns WANT into multipliers, innovations and accelerations of the hubs."""

    @step
    def correct(tree, link, loop, cut, room, weak, out):
        """Solve for WANT and add what the multipliers change to theta'' and the links."""
        right = hub_vector(loop, room)
        right[:] = 0.0
        for k in range(tree.shape[0]):
            link[k, at.NU] = 0.0
        solve(link, loop, cut, room, right, weak)
        smooth_change(tree, link, loop, room, right, out)

    return correct


def make_refinement(correct):
    """Refinement by a correction made above."""

    @step
    def refine(tree, link, loop, cut, room, weak, out):
        """Correct again for what is still missing, as long as that helps: weak directions take several steps."""
        left = want_left(tree, link, loop, cut, out)
        for _ in range(lo.MOST_STEPS):
            if left == 0.0:
                break
            correct(tree, link, loop, cut, room, weak, out)
            before, left = left, want_left(tree, link, loop, cut, out)
            if not left < 0.5 * before:
                break

    return refine
