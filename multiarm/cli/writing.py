"""`multiarm new`: a scenario file to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from multiarm.cli.application import app
from multiarm.cli.reporting import errors_reported, say
from multiarm.errors import BadInputError

__all__ = ["new"]


@app.command()
@errors_reported
def new(
    file: Annotated[Path, typer.Argument(help="The file to write, ending in .yaml or .yml.")],
    source: Annotated[
        str | None, typer.Option("--from", metavar="NAME", help="Begin with this built-in scenario.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented scenario file that runs, to be changed."""
    from multiarm.scenario.scenario import SUFFIXES, built_in_path
    from multiarm.scenario.schema import schema_path

    if file.suffix not in SUFFIXES:
        raise BadInputError(f"{file}: a scenario file ends in {' or '.join(SUFFIXES)}")
    if file.exists() and not force:
        raise BadInputError(f"{file} exists already: choose another name, or replace it with --force")
    template = schema_path().with_name("template.yaml") if source is None else built_in_path(source)
    text = template.read_text(encoding="utf-8")
    name = re.sub(r"[^\w.-]+", "_", file.stem) or "scenario"
    text = re.sub(r"^name: .*$", f"name: {name}", text, count=1, flags=re.MULTILINE)
    file.write_text(text, encoding="utf-8")
    say(f"wrote {file}; check it with: multiarm check {file}")
    say(f"for editors, the schema of scenario files is {schema_path()}")
