"""`multiarm list`, `show` and `check`: what there is, what it is, and whether a file is right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from multiarm.cli.application import app
from multiarm.cli.reporting import errors_reported, out, print_json, print_rows, say

__all__ = ["check", "list_scenarios", "show"]

ScenarioName = Annotated[str, typer.Argument(metavar="SCENARIO", help="A built-in scenario, or a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


@app.command("list")
@errors_reported
def list_scenarios(as_json: AsJson = False) -> None:
    """List the built-in scenarios."""
    from multiarm.scenario import scenarios

    known = scenarios()
    if as_json:
        print_json({"scenarios": [{"name": name, "description": text} for name, text in known.items()]})
        return
    print_rows(known.items())


@app.command()
@errors_reported
def show(
    scenario: ScenarioName,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw the topology into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a scenario's mechanism: tree, cuts, constraint rows and mobility at its start."""
    from multiarm.scenario import load_scenario
    from multiarm.scenario.overview import overview_of

    loaded = load_scenario(scenario)
    overview = overview_of(loaded)
    if figure is not None:
        _draw(overview.model.topology, figure)
    if as_json:
        print_json(overview.to_dict())
        return
    console = out()
    console.print(loaded.name, style="bold")
    if loaded.content.description:
        console.print(" ".join(loaded.content.description.split()), soft_wrap=False)
    console.print()
    console.print(str(overview.model), markup=False)
    console.print()
    print_rows(overview.rows())
    if figure is not None:
        say(f"wrote {figure}")


def _draw(topology: Any, path: Path) -> None:
    from matplotlib.figure import Figure

    from graphs.drawing import draw_topology
    from multiarm.errors import BadInputError

    drawing = Figure(figsize=(10, 7))
    draw_topology(topology, drawing.add_axes((0.01, 0.01, 0.98, 0.98)))
    supported = drawing.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in supported:
        raise BadInputError(f"{path}: a figure ends in one of {', '.join('.' + kind for kind in sorted(supported))}")
    drawing.savefig(path, dpi=150)


@app.command()
@errors_reported
def check(
    file: ScenarioName,
    as_json: AsJson = False,
) -> None:
    """Check a scenario file: its form, its names, that its loops close, and that its paths can be followed."""
    from multiarm.scenario import ScenarioError, load_scenario
    from multiarm.scenario.overview import overview_of

    try:
        overview = overview_of(load_scenario(file), along_paths=True)
    except ScenarioError as error:
        if not as_json:
            raise
        problems = [
            {"line": p.line, "column": p.column, "where": p.where, "message": p.message, "choices": list(p.choices)}
            for p in error.problems
        ]
        print_json({"ok": False, "file": error.file, "problems": problems})
        raise typer.Exit(2) from None
    if as_json:
        print_json({"ok": True, **overview.to_dict()})
        return
    print_rows(overview.rows())
    typer.echo(f"{file}: ok")
