"""``python -m multiarm`` is the command ``multiarm``."""

from multiarm.cli import main

main()
