"""Whether grasps hold: how far each contact is from the edge of its friction limit.

JPL 88-11-II, App. A: contacts are taken not to slip, an assumption that "must be continually verified".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from contacts import grasp_kind
from multiarm.checks import as_number
from multiarm.errors import BadInputError, DescriptionError
from multiarm.kinematics import kinematics
from multiarm.model import Model
from multiarm.solution import Solution
from multiarm.state import State, as_numbers
from multiarm.sweeps import slip as sl

__all__ = ["SlipMargin", "friction_table", "slip_margin", "slip_margins"]

# The inward normal of each kind's contact frame.
NORMALS = {"rigid": sl.NO_LIMIT, "revolute": sl.NORMAL_X, "soft_finger": sl.NORMAL_Z, "point": sl.NORMAL_Z}


@dataclass(frozen=True)
class SlipMargin:
    """How far a contact is from slipping: positive holds, negative slips, inf where there is no limit.

    Attributes
    ----------
    force : float
        friction * (normal force) - |tangential force| [N].
    torsion : float
        torsional * (normal force) - |moment about the normal| [N m]; inf for a point, which carries none, NaN where
        `torsional` is not given.
    relative : float
        The smaller of 1 - |load| / (what friction can carry), at most 1; -inf for a contact that pulls, 0 for one that
        carries nothing. A torsional limit that is not given does not enter; NaN where `friction` is not given.
    determinate : bool
        Whether the force of this grasp has only one possible value; where not, the margin is that of the least one.
    """

    force: float
    torsion: float
    relative: float
    determinate: bool = True

    @property
    def holds(self) -> bool | None:
        """Whether the contact holds; None where its friction is not known."""
        return None if np.isnan(self.relative) else self.relative >= 0.0


def slip_margin(kind: str, friction: float | None, torsional: float | None, wrench: ArrayLike) -> SlipMargin:
    """Margins of a contact for the wrench [torque; force] on the object in the contact frame (its axes and origin).

    Point and soft finger (inward normal z): mu f_z - |(f_x, f_y)|, and for the soft finger torsional f_z - |n_z|.
    Revolute, as a line contact along z with inward normal x: mu f_x - |(f_y, f_z)| and torsional f_x - |n_x|; its
    moment about y is carried by the spread of the pressure along the line, whose length is not known here, and not
    checked. Rigid: no limit.

    Examples
    --------
    >>> slip_margin("point", 0.5, None, [0, 0, 0, 3, 0, 10])
    SlipMargin(force=2.0, torsion=inf, relative=0.4, determinate=True)
    >>> slip_margin("soft_finger", 0.5, 0.01, [0, 0, 0.2, 3, 0, 10]).holds
    False
    """
    limits = _limits(kind, friction, torsional, f"{kind} contact")[None]
    numbers = as_numbers(wrench, (6,), f"wrench of a {kind} contact [torque; force]")
    out = np.empty((1, sl.MARGIN_COLUMNS))
    sl.slip_margin(limits, np.array(numbers), out)
    return _margin(out[0])


def _limits(kind: str, friction: float | None, torsional: float | None, what: str) -> np.ndarray:
    """A row of the friction table."""
    normal = NORMALS[grasp_kind(kind).name]
    row = [normal]
    for quantity, number in (("friction", friction), ("torsional", torsional)):
        if number is not None and as_number(number, f"{what}: {quantity}") < 0.0:
            raise DescriptionError(f"{what}: {quantity} must not be negative, but is {number}")
        row.append(np.nan if number is None else float(number))
    if kind == "point":  # its n_z is zero whatever it presses with
        row[sl.TORSIONAL] = np.inf
    return np.array(row)


def _margin(numbers: np.ndarray) -> SlipMargin:
    force, torsion, relative = (float(x) for x in numbers)
    return SlipMargin(force, torsion, relative)


def friction_table(model: Model, names: Iterable[str]) -> np.ndarray:
    """The limits of the named cuts as `sweeps.slip.slip_margins` takes them, a row each; none for joints.

    `names` are those of ``compiled(model).loops.names``, the rows of its `cut` table.
    """
    rows = [
        _limits(grasp.kind, grasp.friction, grasp.torsional, f"grasp {name!r}")
        if name in model.cuts and (grasp := model.cuts[name].grasp) is not None
        else np.array([sl.NO_LIMIT, np.nan, np.nan])
        for name in names
    ]
    return np.array(rows).reshape(-1, sl.FRICTION_COLUMNS)


def slip_margins(model: Model, state: State, solution: Solution) -> dict[str, SlipMargin]:
    """Margins of every grasp whose force the solution knows: all, cut or in the tree, if it closed the loops."""
    model.own(state)
    if not (np.array_equal(solution.state.q, state.q) and np.array_equal(solution.state.v, state.v)):
        raise BadInputError(
            "slip margins are those of a solution at the same state: pass the one computed from `state`"
        )
    model = solution.model
    kin = kinematics(model, state)
    sure = getattr(solution, "determinate", {})
    margins = {}
    for name, grasp in model.grasps.items():
        if name in solution.left_open:
            continue
        contact = kin.joint(name).child_frame
        wrench = solution.forces[name].about(contact.translation)
        local = np.concatenate([contact.rotation.inv().apply(part) for part in (wrench.torque, wrench.force)])
        found = slip_margin(grasp.kind, grasp.friction, grasp.torsional, local)
        margins[name] = replace(found, determinate=sure.get(name, True))
    return margins
