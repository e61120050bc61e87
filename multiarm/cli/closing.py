"""The closing table of a run, as lines of label and value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from multiarm.scenario.summary import RunSummary

__all__ = ["closing_rows"]

EVENTS = 12  # listed one by one; more fill the screen


def closing_rows(summary: RunSummary) -> Iterator[tuple[str, str]]:
    """Label and value of each line."""
    yield "simulated", f"{summary.time:g} s, {summary.steps} steps, {summary.samples} samples"
    for name, track in summary.tracking.items():
        yield (
            f"tracking error of {name}",
            f"at most {_length(track.position)} and {_angle(track.angle)}, "
            f"{_length(track.position_last)} and {_angle(track.angle_last)} at the end",
        )
    for name, arm in summary.arms.items():
        used = f", {arm.used:.0%} of its limit" if np.isfinite(arm.used) else ""
        yield f"peak torque of {name}", f"{arm.torque:.4g} {arm.unit} at {arm.joint}{used}"
    for name, grasp in summary.grasps.items():
        if np.isfinite(grasp.share):
            low, high = grasp.share_range
            spread = f" ({low:.3g} to {high:.3g})" if high - low > 5e-4 else ""
            yield f"load share of {name}", f"{grasp.share:.4g}{spread}"
    for name, grasp in summary.grasps.items():
        if np.isfinite(grasp.internal_mean):
            yield f"internal force of {name}", f"{_force(grasp.internal_mean)} mean, {_force(grasp.internal_peak)} peak"
    if np.isfinite(summary.energy_drift):
        part = f", {summary.energy_drift / summary.energy_scale:.1e} of the peak kinetic energy"
        yield "energy balance", f"off by {summary.energy_drift:.1e} J{part if summary.energy_scale > 0.0 else ''}"
    if np.isfinite(summary.closure):
        yield "closure error", f"at most {summary.closure:.1e} m or rad"
    for name, grasp in summary.grasps.items():
        if not np.isnan(grasp.slip_margin) and grasp.slip_margin != np.inf:
            verdict = "" if grasp.slip_margin >= 0.0 else ": it slipped"
            yield f"slip margin of {name}", f"{grasp.slip_margin:.3g} at least{verdict}"
    yield "events", f"{len(summary.events)}" if summary.events else "none"
    for event in summary.events[:EVENTS]:
        subject = f" {event['subject']}" if event["subject"] else ""
        yield "", f"{event['time']:.6f} s  {event['kind']}{subject}: {event['message']}"
    if len(summary.events) > EVENTS:
        yield "", f"and {len(summary.events) - EVENTS} more"


def _length(metres: float) -> str:
    return f"{1e3 * metres:.3g} mm"


def _angle(radians: float) -> str:
    return f"{np.degrees(radians):.2g} deg"


def _force(newtons: float) -> str:
    return f"{newtons:.4g} N" if newtons >= 1e-6 else "0 N"
