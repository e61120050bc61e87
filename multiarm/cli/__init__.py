"""The command line: `multiarm run`, `list`, `show`, `check`, `new`, `plot`, `export`.

Exit codes: 0 done; 1 the simulation failed, or stopped at an event that was told to stop it; 2 wrong usage or a wrong
scenario; 3 the result could not be written or is incomplete; 130 interrupted.
"""

from __future__ import annotations

from multiarm.cli.application import app, main

__all__ = ["app", "main"]
