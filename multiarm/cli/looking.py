"""`multiarm plot` and `export`: a result as a picture or a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiarm.cli.application import app
from multiarm.cli.reporting import errors_reported, say
from multiarm.cli.results import save_figure
from multiarm.errors import BadInputError, MultiArmError

if TYPE_CHECKING:
    from multiarm.scenario.running import Prepared
    from multiarm.trajectory import Trajectory

__all__ = ["export", "plot"]

Result = Annotated[Path, typer.Argument(metavar="RESULT", help="A NetCDF file, or the segments of an unfinished run.")]


@app.command()
@errors_reported
def plot(
    result: Result,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The figure; default RESULT.png.")] = None,
) -> None:
    """Draw a result: tracking, torques, forces, shares, energies, closure."""
    from multiarm.trajectory import load_trajectory

    with load_trajectory(result) as trajectory:
        _require_samples(result, trajectory)
        path = result.with_suffix(".png") if output is None else output
        ready = _scenario_of(trajectory)
        tracking = {}
        if ready is not None:
            from multiarm.scenario.running import tracking_of

            tracking = tracking_of(ready, trajectory)
        save_figure(path, ready, trajectory, tracking)
    say(f"wrote {path}")


@app.command()
@errors_reported
def export(
    result: Result,
    csv: Annotated[Path | None, typer.Option("--csv", help="The table; default RESULT.csv.")] = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", "-c", help="Only this channel; may be given several times.")
    ] = None,
) -> None:
    """Write a result as a table of text."""
    from multiarm.trajectory import load_trajectory

    path = result.with_suffix(".csv") if csv is None else csv
    with load_trajectory(result) as trajectory:
        trajectory.to_csv(path, channel or None)
    say(f"wrote {path}")


def _require_samples(result: Path, trajectory: Trajectory) -> None:
    if not len(trajectory):
        raise BadInputError(f"{result} has no samples")


def _scenario_of(trajectory: Trajectory) -> Prepared | None:
    """The scenario that a result says it comes from; without it the picture has no limits and no paths."""
    from multiarm.scenario import Scenario
    from multiarm.scenario.running import prepare

    text = trajectory.dataset.attrs.get("scenario")
    if not isinstance(text, str):
        return None
    try:
        seed = int(trajectory.dataset.attrs.get("seed", 0))
        ready = prepare(Scenario.read(text, "the scenario of the result").with_simulation(seed=seed))
        same = ready.model.fingerprint == trajectory.dataset.attrs.get("model_fingerprint")
    except (MultiArmError, OSError) as error:
        say(f"note: limits and paths are not drawn: {error}", "yellow")
        return None
    return ready if same else None
