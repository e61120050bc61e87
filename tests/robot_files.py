"""Where the URDF files of the package example-robot-data lie; tests that need them are skipped without it."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

ROBOT_FILES = {
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
}


@lru_cache(maxsize=1)
def robot_folder() -> Path | None:
    """The folder "robots" of the installed example-robot-data, or None; the package has no Python module to ask."""
    try:
        recorded = files("example-robot-data") or []
    except PackageNotFoundError:
        return None
    for file in recorded:
        if file.name.endswith(".urdf") and "robots" in file.parts:
            located = Path(str(file.locate()))
            depth = len(file.parts) - 1 - file.parts.index("robots")
            return located.parents[depth - 1]
    return None


def robot_file(name: str) -> Path:
    """The URDF file of a robot: a name from `ROBOT_FILES`, or a path below the folder of all robots."""
    folder = robot_folder()
    path = None if folder is None else folder / ROBOT_FILES.get(name, name)
    if path is None or not path.is_file():
        pytest.skip(f"example-robot-data with {name} is not installed")
    return path
