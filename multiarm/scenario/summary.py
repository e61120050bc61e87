"""What a run amounts to: the numbers of the closing table, from the labelled samples of a trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ArmSummary", "GraspSummary", "RunSummary", "TrackingError", "energy_drift", "summarise"]

ENOUGH = 0.01  # of the largest net force: below it shares of the load say little
SAMPLES = 20_000  # read at a time, so that a long run needs little memory


@dataclass(frozen=True)
class ArmSummary:
    """Largest torque of an arm (or of a joint outside of arms) and how much of its limit that is.

    `torque` [N m or N] and `joint` are of the joint nearest to its limit, or of the largest torque where there are no
    limits; `used` is NaN then.
    """

    torque: float
    joint: str
    unit: str
    used: float


@dataclass(frozen=True)
class GraspSummary:
    """A grasp over the run: its share of the load, internal force [N] and least slip margin.

    `share` is the sum of f_i . F over that of |F|^2, F the net force of the grasps on the object, so that moments in
    which F vanishes do not count; `share_range` is over those with at least a hundredth of the largest F. NaN where
    something was never defined: a grasp that never held, a rigid one that cannot slip.
    """

    body: str
    share: float
    share_range: tuple[float, float]
    internal_mean: float
    internal_peak: float
    slip_margin: float


@dataclass(frozen=True)
class TrackingError:
    """How far an object was from its path: largest and last distance [m] and angle [rad]."""

    position: float
    position_last: float
    angle: float
    angle_last: float


@dataclass(frozen=True)
class RunSummary:
    """The closing table of a run.

    Attributes
    ----------
    time : float
        How long the run lasted [s].
    energy_drift : float
        Largest change of T + V - work + losses [J], which is zero without integration error.
    energy_scale : float
        What to compare it with [J]: the largest kinetic energy.
    closure : float
        Largest gap of a closed loop [m or rad].
    """

    title: str
    time: float
    samples: int
    steps: int
    tracking: dict[str, TrackingError]
    arms: dict[str, ArmSummary]
    grasps: dict[str, GraspSummary]
    energy_drift: float
    energy_scale: float
    closure: float
    events: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; numbers that are not finite are None."""
        from dataclasses import asdict

        plain = _plain(asdict(self))
        assert isinstance(plain, dict)
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else None
    return value


def summarise(
    dataset: xr.Dataset,
    limits: Sequence[float] | np.ndarray | None = None,
    tracking: Mapping[str, TrackingError] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
) -> RunSummary:
    """Summarise a trajectory.

    Parameters
    ----------
    dataset : xarray.Dataset
        Of a `Trajectory`; channels that it lacks are left out of the summary.
    limits : array, optional
        Largest torque of every entry along `velocity` [N m or N].
    tracking : mapping, optional
        Errors by object, which the samples alone do not tell.
    events : sequence of mappings
        What happened, with keys time, kind, subject, message.
    """
    time = dataset["time"].values
    drift, scale = energy_drift(dataset)
    closure = max((float(np.nanmax(x, initial=0.0)) for x in _blocks(dataset, "closure_error")), default=np.nan)
    steps = int(dataset["step"].values[-1]) if "step" in dataset and len(time) else len(time)
    return RunSummary(
        title=str(dataset.attrs.get("title", "")),
        time=float(time[-1] - time[0]) if len(time) else 0.0,
        samples=len(time),
        steps=steps,
        tracking=dict(tracking or {}),
        arms=_arms(dataset, limits),
        grasps=_grasps(dataset),
        energy_drift=drift,
        energy_scale=scale,
        closure=closure,
        events=[{name: event[name] for name in ("time", "kind", "subject", "message")} for event in events],
    )


def energy_drift(dataset: xr.Dataset) -> tuple[float, float]:
    """Largest change of T + V - work + losses over the run, and the largest kinetic energy [J]; NaN if unknown."""
    if "kinetic_energy" not in dataset or "potential_energy" not in dataset or not dataset.sizes["time"]:
        return np.nan, np.nan
    kinetic = dataset["kinetic_energy"].values
    total = kinetic + dataset["potential_energy"].values
    if "work" in dataset:
        total = total - dataset["work"].values
    if "dissipated" in dataset:
        total = total + dataset["dissipated"].values
    return float(np.nanmax(np.abs(total - total[0]))), float(np.nanmax(kinetic))


def _arms(dataset: xr.Dataset, limits: Sequence[float] | np.ndarray | None) -> dict[str, ArmSummary]:
    if "tau" not in dataset or "velocity" not in dataset.coords:
        return {}
    joints = [str(name) for name in dataset["velocity"].values]
    parts = _labels(dataset, "velocity_part", joints)
    units = _labels(dataset, "tau_unit", [str(dataset["tau"].attrs.get("units", "N m"))] * len(joints))
    peaks = np.zeros(len(joints))
    for tau in _blocks(dataset, "tau"):
        peaks = np.fmax(peaks, np.nanmax(np.abs(tau), axis=0, initial=0.0))
    most = np.full(len(joints), np.inf) if limits is None else np.asarray(limits, float)
    found = {}
    for part in dict.fromkeys(parts):
        own = [i for i, name in enumerate(parts) if name == part]
        if not peaks[own].any():
            continue  # a free body, or an arm that nothing drives
        limited = [i for i in own if np.isfinite(most[i])]
        worst = max(limited, key=lambda i: peaks[i] / most[i]) if limited else max(own, key=lambda i: peaks[i])
        used = float(peaks[worst] / most[worst]) if limited else np.nan
        found[part] = ArmSummary(float(peaks[worst]), joints[worst], units[worst], used)
    return found


def _grasps(dataset: xr.Dataset) -> dict[str, GraspSummary]:
    if "grasp" not in dataset.coords:
        return {}
    names = [str(name) for name in dataset["grasp"].values]
    bodies = _labels(dataset, "grasp_body", [""] * len(names))
    shares = _shares(dataset, bodies)
    slips = _extremes(dataset, "slip_margin", len(names))
    inside = _extremes(dataset, "internal", len(names))
    return {
        name: GraspSummary(
            bodies[i],
            share=float(shares[0, i]),
            share_range=(float(shares[1, i]), float(shares[2, i])),
            internal_mean=float(inside[0, i]),
            internal_peak=float(inside[2, i]),
            slip_margin=float(slips[1, i]),
        )
        for i, name in enumerate(names)
    }


def _shares(dataset: xr.Dataset, bodies: list[str]) -> np.ndarray:
    """Mean weighted by |F|^2, least and largest share f_i . F / |F|^2 by grasp."""
    count = len(bodies)
    along, square, peak, held = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, bool)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    same = np.array([[one == other for other in bodies] for one in bodies], float).reshape(count, count)
    for look in ("sums", "range"):
        for block in _blocks(dataset, "wrench"):
            forces = np.nan_to_num(block[:, :, 3:])
            net = np.einsum("gh,thi->tgi", same, forces)
            product, norm = (forces * net).sum(axis=2), (net * net).sum(axis=2)
            if look == "sums":
                along, square = along + product.sum(axis=0), square + norm.sum(axis=0)
                peak = np.fmax(peak, norm.max(axis=0, initial=0.0))
                held |= ~np.isnan(block[:, :, 3]).all(axis=0)
                continue
            enough = (norm > ENOUGH**2 * peak) & ~np.isnan(block[:, :, 3])
            share = np.divide(product, norm, out=np.full(norm.shape, np.nan), where=enough)
            some = enough.any(axis=0)
            if some.any():
                low[some] = np.fmin(low[some], np.nanmin(share[:, some], axis=0))
                high[some] = np.fmax(high[some], np.nanmax(share[:, some], axis=0))
    mean = np.divide(along, square, out=np.full(count, np.nan), where=held & (square > 0.0))
    return np.array([mean, low, high])


def _extremes(dataset: xr.Dataset, channel: str, count: int) -> np.ndarray:
    """Mean, least and largest over time by grasp, of wrenches the size of their forces; NaN where there is nothing."""
    total, number = np.zeros(count), np.zeros(count)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    for block in _blocks(dataset, channel):
        values = np.linalg.norm(block[:, :, 3:], axis=2) if block.ndim == 3 else block
        known = np.isfinite(values)
        total += np.where(known, values, 0.0).sum(axis=0)
        number += known.sum(axis=0)
        some = ~np.isnan(values).all(axis=0)
        if some.any():
            low[some] = np.fmin(low[some], np.nanmin(values[:, some], axis=0))
            high[some] = np.fmax(high[some], np.nanmax(values[:, some], axis=0))
    mean = np.divide(total, number, out=np.full(count, np.nan), where=number > 0)
    return np.array([mean, low, high])


def _labels(dataset: xr.Dataset, name: str, default: list[str]) -> list[str]:
    return [str(text) for text in dataset[name].values] if name in dataset.coords else default


def _blocks(dataset: xr.Dataset, channel: str) -> Iterator[np.ndarray]:
    if channel not in dataset:
        return
    for start in range(0, dataset.sizes["time"], SAMPLES):
        yield dataset[channel].isel(time=slice(start, start + SAMPLES)).values
