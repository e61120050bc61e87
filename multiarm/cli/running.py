"""`multiarm run`: simulate a scenario, leave result and picture, and say how it went."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiarm.cli.application import app
from multiarm.cli.progress import progress_bar
from multiarm.cli.reporting import EXIT, errors_reported, print_json, print_rows, say
from multiarm.cli.results import ResultFiles, save_figure
from multiarm.errors import MultiArmError, SimulationError

if TYPE_CHECKING:
    from multiarm.scenario.running import Prepared
    from multiarm.trajectory import Trajectory

__all__ = ["run"]


@app.command()
@errors_reported
def run(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A built-in scenario, or a YAML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("."),
    duration: Annotated[float | None, typer.Option(help="Simulated time [s] instead of the scenario's.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step [s] instead of the scenario's.")] = None,
    method: Annotated[str | None, typer.Option(help="euler, rk4, dop853 or radau instead of the scenario's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed instead of the scenario's.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Begin again, dropping an unfinished run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no closing table.")] = False,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw no picture.")] = False,
) -> None:
    """Simulate a scenario; leaves NAME.nc and NAME.png, and prints how it went."""
    from multiarm.scenario import load_scenario
    from multiarm.scenario import running as scenarios
    from multiarm.trajectory import assemble, load_trajectory

    given = {"duration": duration, "dt": dt, "method": method, "seed": seed}
    changes = {name: value for name, value in given.items() if value is not None}
    loaded = load_scenario(scenario).with_simulation(**changes)
    ready = scenarios.prepare(loaded)
    files = ResultFiles.of(output, loaded.name)
    files.make_ready(resume, restart)
    failure: SimulationError | None = None
    began = time.perf_counter()
    with progress_bar(loaded.name, loaded.content.simulation.duration, shown=not quiet and not as_json) as (
        clock,
        tell,
    ):
        try:
            scenarios.run(ready, files.segments, tell, resume).close()
        except SimulationError as error:
            failure = error
        except KeyboardInterrupt:
            _keep(files)
            raise
    elapsed = time.perf_counter() - began
    assemble(files.segments, files.result)
    with load_trajectory(files.result, ready.model) as trajectory:
        stop = next((event for event in trajectory.events if event.kind == "stop"), None)
        outcome = failure or (f"stopped: {stop.message}" if stop is not None else None)
        if failure is None:
            files.remove_segments()
        figure = files.figure if loaded.content.outputs.figure and not no_figure else None
        _report(
            ready, trajectory, files, figure, (elapsed, clock.speed), str(outcome) if outcome else None, as_json, quiet
        )
    if outcome is not None:
        say(f"error: {outcome}" if failure else str(outcome), "bold red")
        raise typer.Exit(EXIT["stopped"])


def _keep(files: ResultFiles) -> None:
    """Make the result of what an interrupted run has done so far, if there is anything."""
    from multiarm.trajectory import assemble

    try:
        assemble(files.segments, files.result)
    except (MultiArmError, OSError) as error:
        say(f"note: {error}", "yellow")
        return
    say(f"wrote what there is to {files.result}; go on with --resume")


def _report(
    ready: Prepared, trajectory: Trajectory, files: ResultFiles, figure: Path | None, pace: tuple[float, float | None],
    outcome: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Picture, table of samples, closing table or JSON."""
    from multiarm.cli.closing import closing_rows
    from multiarm.scenario import running as scenarios

    written = [files.result]
    tracking = scenarios.tracking_of(ready, trajectory)
    if figure is not None:
        save_figure(figure, ready, trajectory, tracking)
        written.append(figure)
    if ready.scenario.content.outputs.csv:
        written.append(trajectory.to_csv(files.table))
    summary = scenarios.summary_of(ready, trajectory, tracking)
    elapsed, speed = pace
    if as_json:
        answer: dict[str, Any] = {"ok": outcome is None, "outcome": outcome or "done", **summary.to_dict()}
        answer |= {"wall_time": elapsed, "speed": speed, "files": [str(path) for path in written]}
        print_json(answer)
    elif not quiet:
        fast = f"{speed:.3g} x real time, " if speed is not None else ""
        last = [("speed", f"{fast}{elapsed:.1f} s with start-up"), ("wrote", ", ".join(map(str, written)))]
        print_rows([*closing_rows(summary), *last])
