"""The README's code runs, and its commands are the two that CI runs."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_python_blocks_run_one_after_the_other():
    scope = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)
    solution = scope["sol"]
    assert solution.residual < 1e-12
    assert (
        abs(
            scope["inverse"] @ (scope["ma"].mass_matrix(scope["model"], scope["state"]) @ solution.a) - solution.a
        ).max()
        < 1e-9
    )


def test_two_commands_set_everything_up():
    commands = blocks("bash")
    assert len(commands) == 2
    assert all(command.count("\n") == 1 for command in commands)
    assert "multiarm run two_pandas_lift" in commands[0]
    assert "pytest" in commands[1]
