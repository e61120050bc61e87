"""Where a run puts its files, and how they come to be there."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from multiarm.errors import BadInputError

if TYPE_CHECKING:
    from multiarm.scenario.running import Prepared, Tracking
    from multiarm.trajectory import Trajectory

__all__ = ["ResultFiles", "save_figure"]


@dataclass(frozen=True)
class ResultFiles:
    """The files of a run in one folder, named after the scenario.

    `segments` is a folder that samples stream to; it goes when `result` is complete and stays for --resume if not.
    """

    folder: Path
    name: str

    @classmethod
    def of(cls, folder: Path, scenario: str) -> ResultFiles:
        """Files named after a scenario, whose name may contain what a file's may not."""
        return cls(folder, re.sub(r"[^\w.-]+", "_", scenario).strip("._") or "run")

    @property
    def result(self) -> Path:
        """NetCDF file."""
        return self.folder / f"{self.name}.nc"

    @property
    def figure(self) -> Path:
        """Picture."""
        return self.folder / f"{self.name}.png"

    @property
    def table(self) -> Path:
        """CSV file."""
        return self.folder / f"{self.name}.csv"

    @property
    def segments(self) -> Path:
        """Samples of a run that is not complete."""
        return self.folder / f"{self.name}.segments"

    def make_ready(self, resume: bool, restart: bool) -> None:
        """Check that a run may begin, or go on, here."""
        self.folder.mkdir(parents=True, exist_ok=True)
        there = self.segments.exists()
        if resume and not there:
            raise BadInputError(f"there is no unfinished run {self.segments} to go on with")
        if there and restart:
            self.remove_segments()
        elif there and not resume:
            raise BadInputError(
                f"an unfinished run is in {self.segments}: go on with --resume, or begin again with --restart"
            )

    def remove_segments(self) -> None:
        """Delete the samples that are in the result now."""
        shutil.rmtree(self.segments)


def save_figure(path: Path, ready: Prepared | None, trajectory: Trajectory, tracking: dict[str, Tracking]) -> None:
    """Draw a run into a file."""
    from multiarm.scenario.figures import draw_run

    figure = draw_run(
        trajectory.dataset,
        None if ready is None else ready.model.effort_limit,
        {name: (track.time, track.distance) for name, track in tracking.items()},
        [event.to_dict() for event in trajectory.events],
    )
    supported = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in supported:
        raise BadInputError(f"{path}: a figure ends in one of {', '.join('.' + kind for kind in sorted(supported))}")
    figure.savefig(path, dpi=130)
