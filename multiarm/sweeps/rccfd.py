"""RCCFD1 to RCCFD3 of JPL 88-11-II: three orders in which the same answer can be found, O(n) + O(rows^3).

All three find Omega from what the axes feel of the cuts' unit forces, and differ in what they do before and after.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.closing import smooth_all, smooth_change, want_left
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.lifting import white_table
from multiarm.sweeps.loops import cut_row
from multiarm.sweeps.omega import prepare, release_hubs, solve_omega, spread, want_beside_hubs
from multiarm.sweeps.outward import fits


@value
def hub_vectors(loop, room):
    """Innovations and accelerations of the hubs."""
    n = 6 * loop[0, lo.HUBS]
    return room[loop[0, lo.RIGHT] : loop[0, lo.RIGHT] + n], room[loop[0, lo.ALPHA] : loop[0, lo.ALPHA] + n]


@step
def correct(tree, link, loop, cut, room, turned, out):
    """Solve for WANT and add what the multipliers change to theta''."""
    right, alpha = hub_vectors(loop, room)
    right[:] = 0.0
    for k in range(tree.shape[0]):
        link[k, at.NU] = 0.0
    solve_omega(loop, cut, room, turned)
    spread(link, loop, cut, white_table(loop, room), right)
    release_hubs(loop, room, right, alpha)
    smooth_change(tree, link, loop, room, alpha, out)


@step
def refine(tree, link, loop, cut, room, out):
    """Correct again for what is still missing, as long as that helps: weak directions take several steps."""
    left = want_left(tree, link, loop, cut, out)
    for _ in range(lo.MOST_STEPS):
        if left == 0.0:
            break
        correct(tree, link, loop, cut, room, True, out)
        before, left = left, want_left(tree, link, loop, cut, out)
        if not left < 0.5 * before:
            break


@kernel
def rccfd1(tree, link, loop, cut, room, q, v, tau, out):
    """Free accelerations, forces, correction: Omega f = want - J theta''_f, theta'' = theta''_f + Delta theta''.

    JPL 88-11-II (6.11). Sweeps: outward places, inward filter, outward theta''_f, inward unit forces, outward Delta
    theta''.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right, alpha = hub_vectors(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    release_hubs(loop, room, right, alpha)
    smooth_all(tree, link, loop, room, alpha, out)
    want_left(tree, link, loop, cut, out)
    correct(tree, link, loop, cut, room, turned, out)
    if turned:
        refine(tree, link, loop, cut, room, out)
    return 0


@kernel
def rccfd2(tree, link, loop, cut, room, q, v, tau, out):
    """Forces from the innovations, then one smoother: the free accelerations are never formed.

    JPL 88-11-II (6.18). Sweeps: outward places, inward filter, inward unit forces, outward theta''.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right, alpha = hub_vectors(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    want_beside_hubs(loop, cut, right)
    solve_omega(loop, cut, room, turned)
    spread(link, loop, cut, white_table(loop, room), right)
    release_hubs(loop, room, right, alpha)
    smooth_all(tree, link, loop, room, alpha, out)
    if turned:
        refine(tree, link, loop, cut, room, out)
    return 0


@kernel
def rccfd3(tree, link, loop, cut, room, q, v, tau, out):
    """theta'' = theta''_1 + theta''_2: what the torques drive, and what the constraints' own bias drives.

    JPL 88-11-II (6.22). Sweeps: outward places, inward filter, inward unit forces, outward theta''_1, outward
    theta''_2.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right, alpha = hub_vectors(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.WANT + lane] -= cut[c, lo.GOAL + lane]
    want_beside_hubs(loop, cut, right)
    solve_omega(loop, cut, room, turned)
    spread(link, loop, cut, white_table(loop, room), right)
    release_hubs(loop, room, right, alpha)
    smooth_all(tree, link, loop, room, alpha, out)
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.WANT + lane] = cut[c, lo.GOAL + lane]
    correct(tree, link, loop, cut, room, turned, out)
    if turned:
        refine(tree, link, loop, cut, room, out)
    return 0
