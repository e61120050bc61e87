"""`print(model)`: the tree, the cuts, the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphs import draw_tree

if TYPE_CHECKING:
    from multiarm.model import Model

__all__ = ["draw_model"]

MOST_LINES = 1000


def draw_model(model: Model) -> str:
    """The tree with joint kinds and masses, then cuts and couplings, then counts."""
    topology = model.topology
    kinds = {name: place.joint.kind for name, place in model.joints.items()}

    def label(body: str) -> str:
        if body == topology.root:
            return body
        hanging = topology.parent[body]
        name = body if hanging.joint is None else hanging.joint
        kind = "free" if hanging.joint is None else kinds.get(hanging.joint, "fixed")
        arrow = ", reversed" if hanging.sign < 0 else ""
        mass = f"  {model.bodies[body].mass:g} kg" if model.bodies[body].mass else ""
        joint = kind if name == body else f"{name}: {kind}"
        return f"{body} ({joint}{arrow}){mass}"

    lines = [
        f"{model.name}: {len(model.bodies) - 1} bodies, nq {model.nq}, nv {model.nv}",
        draw_tree(topology.root, topology.children, label, limit=MOST_LINES),
    ]
    if model.cuts:
        lines.append("cuts")
        for cut in list(model.cuts.values())[:MOST_LINES]:
            what = f"{cut.kind} grasp" if cut.grasp else cut.kind
            lines.append(f"   {cut.name} ({what}): {cut.parent.body} -> {cut.child.body}, {cut.rows} rows")
    if model.couplings:
        lines.append("couplings")
        for coupling in model.couplings[:MOST_LINES]:
            offset = f" {coupling.offset:+g}" if coupling.offset else ""
            lines.append(f"   {coupling.joint} = {coupling.ratio:g} {coupling.source}{offset}")
    rows = sum(cut.rows for cut in model.cuts.values()) + len(model.couplings)
    lines.append(
        f"constraint rows: {rows}, independent loops: {topology.independent_loops}, "
        f"mobility (Kutzbach): {model.nv - rows}, mass {model.mass:g} kg"
    )
    return "\n".join(lines)
