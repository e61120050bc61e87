"""RCCFD1 to RCCFD3 of JPL 88-11-II: three orders in which the same answer can be found, O(n) + O(rows^3).

All three find Omega from what the axes feel of the cuts' unit forces, and differ in what they do before and after.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.closing import hub_vector, make_correction, make_refinement, smooth_all, want_left
from multiarm.sweeps.jit import kernel
from multiarm.sweeps.loops import cut_row
from multiarm.sweeps.omega import prepare, release_hubs, solve_all, want_beside_hubs
from multiarm.sweeps.outward import fits

correct = make_correction(solve_all)
refine = make_refinement(correct)


@kernel
def rccfd1(tree, link, loop, cut, room, q, v, tau, out):
    """Free accelerations, forces, correction: Omega f = want - J theta''_f, theta'' = theta''_f + Delta theta''.

    JPL 88-11-II (6.11). Sweeps: outward places, inward filter, outward theta''_f, inward unit forces, outward Delta
    theta''.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right = hub_vector(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    release_hubs(loop, room, right)
    smooth_all(tree, link, loop, room, right, out)
    want_left(tree, link, loop, cut, out)
    correct(tree, link, loop, cut, room, turned, out)
    if turned:
        refine(tree, link, loop, cut, room, turned, out)
    return 0


@kernel
def rccfd2(tree, link, loop, cut, room, q, v, tau, out):
    """Forces from the innovations, then one smoother: the free accelerations are never formed.

    JPL 88-11-II (6.18). Sweeps: outward places, inward filter, inward unit forces, outward theta''.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right = hub_vector(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    want_beside_hubs(loop, cut, right)
    solve_all(link, loop, cut, room, right, turned)
    smooth_all(tree, link, loop, room, right, out)
    if turned:
        refine(tree, link, loop, cut, room, turned, out)
    return 0


@kernel
def rccfd3(tree, link, loop, cut, room, q, v, tau, out):
    """theta'' = theta''_1 + theta''_2: what the torques drive, and what the constraints' own bias drives.

    JPL 88-11-II (6.22). Sweeps: outward places, inward filter, inward unit forces, outward theta''_1, outward
    theta''_2.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    right = hub_vector(loop, room)
    bad, turned = prepare(tree, link, loop, cut, room, right, q, v, tau)
    if bad != 0:
        return bad
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.WANT + lane] -= cut[c, lo.GOAL + lane]
    want_beside_hubs(loop, cut, right)
    solve_all(link, loop, cut, room, right, turned)
    smooth_all(tree, link, loop, room, right, out)
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.WANT + lane] = cut[c, lo.GOAL + lane]
    correct(tree, link, loop, cut, room, turned, out)
    if turned:
        refine(tree, link, loop, cut, room, turned, out)
    return 0
