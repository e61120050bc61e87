"""The commands, and where the program begins."""

from __future__ import annotations

from typing import Annotated

import typer

from multiarm.cli.reporting import set_debugging
from multiarm.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="multiarm",
    help="Closed-chain and multi-arm dynamics: several arms carrying one object.",
    epilog="Exit codes: 0 done, 1 simulation failed or stopped, 2 wrong usage or scenario, 3 result incomplete, "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def begin(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Closed-chain and multi-arm dynamics: several arms carrying one object."""
    set_debugging(debug)


def main() -> None:
    """The program `multiarm`."""
    app()


from multiarm.cli import describing, looking, running, writing  # noqa: E402, F401  (they add themselves to `app`)
