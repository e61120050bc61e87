"""What is wrong with a scenario file, each problem with its place in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from multiarm.errors import MultiArmError

__all__ = ["Problem", "ScenarioError", "choose_from"]

SHOWN = 20  # choices and problems; more help nobody


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a scenario file.

    Attributes
    ----------
    line, column : int
        Where the value (or the key that should not be there) begins, counted from 1.
    where : str
        The place in the document, such as "arms.left.robot"; empty for the document itself.
    message : str
        What is wrong, with what was given and what is valid.
    choices : tuple of str
        The valid names, where there is a list of them.
    """

    line: int
    column: int
    where: str
    message: str
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}: "
        return place + (f"{self.where}: {self.message}" if self.where else self.message)


class ScenarioError(MultiArmError, ValueError):
    """A scenario file that cannot be used; ``problems`` lists everything found, in the order of the file.

    ``file`` is the file's name, ``line`` and ``column`` those of the first problem.
    """

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))
        self.line, self.column = self.problems[0].line, self.problems[0].column
        lines = [f"{file}:{problem}" for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"{file}: and {len(self.problems) - SHOWN} problems more")
        super().__init__("\n".join(lines))


def choose_from(what: str, given: object, choices: Iterable[str]) -> str:
    """A sentence that says that `given` is no `what`, what was probably meant, and what is valid.

    Examples
    --------
    >>> choose_from("robot", "pandda", ["panda", "ur5"])
    "no robot 'pandda'; did you mean 'panda'? Valid: 'panda', 'ur5'"
    """
    valid = list(dict.fromkeys(choices))
    near = get_close_matches(str(given), valid, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ";"
    shown = ", ".join(repr(choice) for choice in valid[:SHOWN]) or "none"
    more = f", ... ({len(valid)} in all)" if len(valid) > SHOWN else ""
    return f"no {what} {given!r}{guess} Valid: {shown}{more}"
