"""Force elements of one model together: packed for the kernels, and evaluated at a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from multiarm.elements.bodies import BodySpring, Bushing
from multiarm.elements.joints import BREAKAWAY_SPEED, JointDamper, JointFriction, JointLimit, JointSpring
from multiarm.elements.pushes import Push, PushTable
from multiarm.elements.table import ElementTable
from multiarm.errors import BadInputError
from multiarm.model import Model
from multiarm.state import State
from multiarm.sweeps import element_layout as el
from multiarm.sweeps import layout as at
from multiarm.sweeps.element_energy import element_energy, element_power, push_power
from multiarm.sweeps.elements import apply_elements
from multiarm.workspace import Workspace, located, raise_for_status
from multiarm.wrench import Wrench

__all__ = ["Element", "Elements"]

Element: TypeAlias = JointSpring | JointDamper | JointFriction | JointLimit | BodySpring | Bushing | Push | PushTable
KINDS = (JointSpring, JointDamper, JointFriction, JointLimit, BodySpring, Bushing, Push, PushTable)


def _element(item: Any) -> Element:
    if not isinstance(item, KINDS):
        raise BadInputError(f"{item!r} is no force element; those are {', '.join(kind.__name__ for kind in KINDS)}")
    return item


class Elements:
    """Force elements of `model`: what they do at a state, and the two tables that compiled code takes.

    Attributes
    ----------
    items : tuple
        The elements as given; iterating goes through them.
    numbers, whole : array
        The tables of ``multiarm.sweeps.element_layout``, read-only; `pack` gives copies for the kernels.
    labels : tuple of str
        For every row of `whole` the element it belongs to.
    breaks : tuple of float
        Times at which forces are not smooth [s], increasing; an integrator should step onto them.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_arm("arm", ma.robots.planar(2))
    >>> model = m.compile()
    >>> elements = ma.Elements(model, [ma.JointSpring("arm", [2.0, 1.0]), ma.JointDamper("arm/joint1", 0.5)])
    >>> tau, external = elements.forces(model.state(q=[0.1, 0.2], v=[2.0, 0.0]))
    >>> tau
    array([-1.2, -0.2])
    """

    def __init__(self, model: Model, items: Iterable[Element] = ()) -> None:
        self.model, self.items = model, tuple(_element(item) for item in items)
        table = ElementTable()
        for item in self.items:
            item.pack(model, table)
        self.numbers, self.whole = table.pack()
        self.labels = tuple(table.labels)
        self.breaks = tuple(
            sorted({t for item in self.items if isinstance(item, Push | PushTable) for t in item.breaks})
        )
        for array in (self.numbers, self.whole):
            array.setflags(write=False)

    @classmethod
    def from_model(cls, model: Model, speed: float = BREAKAWAY_SPEED) -> Elements:
        """Damping and dry friction that the model's joints have, cut ones included (URDF's and MJCF's `dynamics`).

        `speed` is the breakaway speed of `JointFriction` [rad/s or m/s].
        """
        declared = {name: place.joint for name, place in model.joints.items()}
        declared |= {name: cut.joint for name, cut in model.cuts.items() if cut.joint is not None}
        items: list[Element] = []
        for name, joint in declared.items():
            if joint.friction > 0.0:
                items.append(JointFriction(name, joint.friction, joint.damping, speed))
            elif joint.damping > 0.0:
                items.append(JointDamper(name, joint.damping))
        return cls(model, items)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        """`numbers` and `whole`, copies of one's own."""
        return self.numbers.copy(), self.whole.copy()

    def forces(self, state: State, t: float = 0.0) -> tuple[np.ndarray, dict[str, Wrench]]:
        """What the elements do at `state` and time t, as `forward_dynamics` takes it.

        Returns
        -------
        tau : array
            Generalised forces, nv entries.
        external : dict
            By body the wrench on its link, at the link's origin.
        """
        workspace, (numbers, whole) = self._placed(state), self.pack()
        tau = np.zeros(self.model.nv)
        self.check(
            apply_elements(
                workspace.tree, workspace.link, numbers, whole, float(t), np.array(state.q), np.array(state.v), tau
            )
        )
        bodies: dict[int, str] = {}
        for name in self.model.bodies:
            bodies.setdefault(self.model.placement(name).link, name)
        acting = {}
        for k, name in bodies.items():
            wrench = workspace.link[k, at.EXTERNAL : at.EXTERNAL + 6]
            if np.any(wrench):
                acting[name] = Wrench(wrench[:3], wrench[3:], workspace.origin(k), on=name, by="elements")
        return tau, acting

    def energy(self, state: State) -> float:
        """Energy that the springs store [J]."""
        workspace, (numbers, whole) = self._placed(state), self.pack()
        return float(element_energy(workspace.tree, workspace.link, numbers, whole, np.array(state.q)))

    def dissipated_power(self, state: State) -> float:
        """Power that friction and dampers turn into heat [W], not negative."""
        workspace, (numbers, whole) = self._placed(state), self.pack()
        q, v = np.array(state.q), np.array(state.v)
        return float(element_power(workspace.tree, workspace.link, numbers, whole, q, v))

    def supplied_power(self, state: State, t: float = 0.0) -> float:
        """Power that pushes bring in at time t [W]."""
        workspace, (numbers, whole) = self._placed(state), self.pack()
        return float(push_power(workspace.link, numbers, whole, float(t)))

    def check(self, status: int) -> None:
        """Raise what `apply_elements` returned; nothing for 0."""
        if status <= el.ENDS_MEET:
            label = self.labels[el.ENDS_MEET - status]
            raise BadInputError(
                f"{label}: its ends have met, where a spring with a rest length has no direction: use rest_length=0 or "
                f"a Bushing"
            )
        if status:
            raise_for_status(self.model, self.model.link, status)

    def _placed(self, state: State) -> Workspace:
        return located(self.model, state)

    def __repr__(self) -> str:
        return f"<Elements of {self.model.name!r}: {len(self.items)} in {len(self.whole)} rows>"
