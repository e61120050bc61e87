"""How commands speak: results on standard output, everything else on standard error, one message for an error."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from multiarm.errors import MultiArmError

__all__ = ["EXIT", "errors_reported", "out", "print_json", "print_rows", "say"]

EXIT = {"done": 0, "stopped": 1, "usage": 2, "result": 3, "interrupted": 130}

P = ParamSpec("P")


def out() -> Console:
    """Standard output; plain text where it is no terminal. Made anew, because tests exchange the streams."""
    console = Console(highlight=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, soft_wrap=True, color_system=None, width=120)


def say(message: str, style: str = "") -> None:
    """A line on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text(message, style=style))


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(value, allow_nan=False))


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Labels and values in two columns; each pair on one line where output is no terminal."""
    found = list(rows)
    console = out()
    width = max((len(label) for label, _ in found), default=0)
    if not console.is_terminal:
        for label, value in found:
            typer.echo(f"{label:<{width}}  {value}".rstrip())
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, value in found:
        table.add_row(Text(label), Text(value))
    console.print(table, soft_wrap=False)


def errors_reported(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command end with one clear message and the exit code that fits; with --debug, with the traceback too."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _notes():
                command(*args, **kwargs)
        except KeyboardInterrupt:
            say("interrupted", "bold")
            raise typer.Exit(EXIT["interrupted"]) from None
        except (MultiArmError, OSError) as error:
            if debugging():
                Console(stderr=True).print_exception()
            say(f"error: {_message(error)}", "bold red")
            raise typer.Exit(exit_code_of(error)) from None

    return wrapped


def exit_code_of(error: Exception) -> int:
    """The exit code for an error: 3 for files that cannot be written or read, else 2."""
    return EXIT["result"] if isinstance(error, OSError) else EXIT["usage"]


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


@contextmanager
def _notes() -> Iterator[None]:
    """Warnings as one line each on standard error, every text once."""
    said = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(f"note: {message}", "yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


_state = {"debug": False}


def set_debugging(on: bool) -> None:
    """Whether errors come with a traceback."""
    _state["debug"] = on


def debugging() -> bool:
    """Whether errors come with a traceback."""
    return _state["debug"]
