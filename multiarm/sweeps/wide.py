"""Several cuts that share axes, all of their directions strong: K of the cluster factored as a whole.

Arms on one torso, or an object kept in the hand of one arm while others hold it too. The tables are those of a split
cluster: L where the combinations of rows would be, L^-1 E in place of the reach.
"""

from __future__ import annotations

from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.blocks import FAINT, STRONG
from multiarm.sweeps.cholesky import back_table, factor_table, forward_table
from multiarm.sweeps.jit import step
from multiarm.sweeps.lifting import couple_on_axes, full_measure
from multiarm.sweeps.loops import cluster_row, cut_row
from multiarm.sweeps.splitting import gather_reach, product, reflect_row, split_tables


@step
def factor_wide(link, loop, cut, room, white, g):
    """Factor cluster g and reflect its inertia at the hubs; False where it has a weak direction."""
    k, reach, _, _ = split_tables(loop, room, g)
    k[:, :] = 0.0
    couple_on_axes(link, loop, k, white, g, lo.LOCAL_ROW)
    if not factor_table(k, STRONG, FAINT * full_measure(link, loop, cut, g)):
        return False
    gather_reach(loop, cut, reach, g)
    for i in range(k.shape[0]):
        for j in range(i):
            for a in range(reach.shape[1]):
                reach[i, a] -= k[i, j] * reach[j, a]
        for a in range(reach.shape[1]):
            reach[i, a] *= k[i, i]
        reflect_row(loop, room, reach[i], 1.0)
    return True


@step
def reduce_wide(loop, cut, room, right, g):
    """L^-1 want, and what it drives at the hubs (added to `right`)."""
    row = cluster_row(loop, g)
    k, reach, _, want = split_tables(loop, room, g)
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            want[loop[cut_row(loop, c), lo.LOCAL_ROW] + lane] = cut[c, lo.WANT + lane]
    forward_table(k, want)
    for i in range(len(want)):
        for a in range(len(right)):
            right[a] += reach[i, a] * want[i]


@step
def resolve_wide(loop, cut, room, alpha, g):
    """CHANGE = L^-* (L^-1 want - L^-1 E alpha)."""
    row = cluster_row(loop, g)
    k, reach, _, want = split_tables(loop, room, g)
    for i in range(len(want)):
        want[i] -= product(reach[i], alpha)
    back_table(k, want)
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.CHANGE + lane] = want[loop[cut_row(loop, c), lo.LOCAL_ROW] + lane]
