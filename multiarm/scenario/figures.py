"""A picture of a run: what the engineer looks at first, drawn from the labelled samples of a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PANELS", "draw_run"]

# Okabe and Ito's colours, told apart with any kind of colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
POINTS = 2000  # samples drawn; a screen has no more columns
NOTHING = 1e-9  # of any unit drawn here
STEADY = 1e-6  # of a value: less change than this is none
FLOOR = 1e-18  # m: below it nothing is drawn on a logarithmic scale


def draw_run(
    dataset: xr.Dataset,
    limits: Sequence[float] | np.ndarray | None = None,
    tracking: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
) -> Figure:
    """Draw torques, grasp forces, shares, slip margins, energies and closure error over time, as far as recorded.

    Parameters
    ----------
    dataset : xarray.Dataset
        Of a `Trajectory`.
    limits : array, optional
        Largest torque of every entry along `velocity`; torques are then drawn as a part of them.
    tracking : mapping, optional
        Object -> (times [s], distance from its path [m]).
    events : sequence of mappings
        With keys time and kind; a line at each.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved; it does not belong to pyplot.
    """
    from matplotlib.figure import Figure

    thin = dataset.isel(time=slice(None, None, max(1, -(-dataset.sizes["time"] // POINTS))))
    panels: list[tuple[str, Callable[[Axes], bool]]] = [
        (title, partial(draw, data=thin, limits=limits)) for title, draw in PANELS.items()
    ]
    if tracking:
        panels.insert(0, ("distance from the path [mm]", partial(_tracking, tracking=tracking)))
    figure = Figure()
    drawn: list[Axes] = []
    for title, draw in panels:
        ax = figure.add_subplot()
        if draw(ax):
            ax.set_title(title, loc="left", fontsize=9)
            drawn.append(ax)
        else:
            ax.remove()
    rows = max(1, -(-len(drawn) // 2))
    height = 1.1 + 2.2 * rows
    figure.set_size_inches(11, height)
    grid = figure.add_gridspec(
        rows, 2, left=0.07, right=0.98, bottom=0.5 / height, top=1.0 - 0.6 / height, hspace=0.3, wspace=0.18
    )
    for i, ax in enumerate(drawn):
        ax.set_subplotspec(grid[i // 2, i % 2])
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.3)
        _widen(ax)
        for event in list(events)[:50]:
            ax.axvline(float(event["time"]), color="0.5", linewidth=0.8, linestyle=":")
        if i >= len(drawn) - 2:
            ax.set_xlabel("time [s]", fontsize=8)
        handles, labels = ax.get_legend_handles_labels()
        if 0 < len(labels) <= 10:
            ax.legend(handles, labels, fontsize=7, ncols=2, frameon=False)
    figure.suptitle(str(dataset.attrs.get("title", "")), fontsize=11)
    return figure


def _widen(ax: Axes) -> None:
    """Give constant values a range: rounding errors blown up to the height of a panel say nothing."""
    low, high = ax.get_ylim()
    middle = (low + high) / 2
    if ax.get_yscale() == "linear" and max(abs(low), abs(high)) < NOTHING:
        ax.set_ylim(-0.1, 1.0)
    elif ax.get_yscale() == "linear" and high - low < STEADY * abs(middle):
        ax.set_ylim(middle - 0.05 * abs(middle), middle + 0.05 * abs(middle))


def _line(ax: Axes, i: int, time: np.ndarray, values: np.ndarray, label: str) -> None:
    """Colour and dashes by number, so that curves on top of each other are seen."""
    style = (0, ()) if i == 0 else (0, (6, 1 + i % 3, 2, 1 + i % 3)) if i % 2 else (0, (3, 2 + i % 3))
    ax.plot(time, values, color=COLOURS[i % len(COLOURS)], linestyle=style, label=label, linewidth=1.3)


def _tracking(ax: Axes, tracking: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> bool:
    for i, (name, (time, distance)) in enumerate(tracking.items()):
        _line(ax, i, time, 1e3 * np.asarray(distance), name)
    return True


def _torques(ax: Axes, data: xr.Dataset, limits: Sequence[float] | np.ndarray | None) -> bool:
    """The largest part of its limit that a joint of each arm uses; where there are no limits the largest torque."""
    if "tau" not in data:
        return False
    parts = (
        [str(name) for name in data["velocity_part"].values]
        if "velocity_part" in data.coords
        else [str(name) for name in data["velocity"].values]
    )
    tau = np.abs(data["tau"].values)
    most = np.full(tau.shape[1], np.inf) if limits is None else np.asarray(limits, float)
    moving = [part for part in dict.fromkeys(parts) if tau[:, [p == part for p in parts]].any()]
    held = [part for part in moving if np.isfinite(most[[p == part for p in parts]]).any()]
    limited = bool(held)
    moving = held or moving  # beside parts of limits a torque without one has no place
    for i, part in enumerate(moving):
        own = np.array([p == part for p in parts])
        values = tau[:, own] / most[own] if limited else tau[:, own]
        _line(ax, i, data["time"].values, values.max(axis=1), part)
    ax.set_ylabel("part of limit" if limited else "N m or N", fontsize=8)
    return bool(moving)


def _speeds(ax: Axes, data: xr.Dataset, limits: Any) -> bool:
    """The fastest joint of each arm or the fastest entry of a body."""
    if "v" not in data or "velocity_part" not in data.coords:
        return False
    parts = [str(name) for name in data["velocity_part"].values]
    for i, part in enumerate(dict.fromkeys(parts)):
        own = np.array([p == part for p in parts])
        speed = np.abs(data["v"].values[:, own]).max(axis=1)
        _line(ax, i, data["time"].values, speed, part)
    ax.set_ylabel("rad/s or m/s", fontsize=8)
    return True


def _by_grasp(ax: Axes, data: xr.Dataset, channel: str, unit: str) -> bool:
    if channel not in data or not data.sizes.get("grasp"):
        return False
    values = data[channel].values
    values = (
        np.linalg.norm(values[:, :, 3:], axis=2) if values.ndim == 3 else np.where(np.isfinite(values), values, np.nan)
    )
    if np.isnan(values).all():
        return False
    for i, name in enumerate(data["grasp"].values):
        if not np.isnan(values[:, i]).all():
            _line(ax, i, data["time"].values, values[:, i], str(name))
    ax.set_ylabel(unit, fontsize=8)
    return True


def _energies(ax: Axes, data: xr.Dataset, limits: Any) -> bool:
    names = [name for name in ("kinetic_energy", "potential_energy", "work", "dissipated") if name in data]
    for i, name in enumerate(names):
        values = data[name].values
        shown = values - values[0] if name == "potential_energy" and len(values) else values
        label = {"kinetic_energy": "kinetic", "potential_energy": "potential, change"}.get(name, name)
        _line(ax, i, data["time"].values, shown, label)
    ax.set_ylabel("J", fontsize=8)
    return bool(names)


def _closure(ax: Axes, data: xr.Dataset, limits: Any) -> bool:
    if "closure_error" not in data or not np.isfinite(data["closure_error"].values).any():
        return False
    ax.semilogy(data["time"].values, np.fmax(data["closure_error"].values, FLOOR), color=COLOURS[0], linewidth=1.0)
    ax.set_ylabel("m or rad", fontsize=8)
    return True


PANELS: dict[str, Callable[..., bool]] = {
    "largest torque": _torques,
    "largest speed": _speeds,
    "grasp force": lambda ax, data, limits: _by_grasp(ax, data, "wrench", "N"),
    "internal force": lambda ax, data, limits: _by_grasp(ax, data, "internal", "N"),
    "share of the load": lambda ax, data, limits: _by_grasp(ax, data, "share", "1"),
    "slip margin": lambda ax, data, limits: _by_grasp(ax, data, "slip_margin", "1"),
    "energy": _energies,
    "closure error": _closure,
}
