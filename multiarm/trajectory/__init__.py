"""Recordings of a run: samples that stream to disk, labelled results, NetCDF files.

A `Layout` says what a sample is (`layout_of(model)`). `SegmentWriter` appends blocks of samples to a folder, in which
`SegmentReader` finds them after any kind of end, and `assemble` makes a NetCDF file of them. `Trajectory` is what users
work with: made in memory (`Trajectory.from_blocks`) or opened from a file or folder (`load_trajectory`).
"""

from multiarm.trajectory.checkpoints import Checkpoint, read_checkpoint
from multiarm.trajectory.errors import CorruptRecordingError, RecordingError
from multiarm.trajectory.events import Event
from multiarm.trajectory.layout import Block, Channel, Label, Layout
from multiarm.trajectory.model_layout import coordinate_labels, layout_of, velocity_labels
from multiarm.trajectory.netcdf import assemble
from multiarm.trajectory.reader import SegmentReader
from multiarm.trajectory.segments import SegmentWriter
from multiarm.trajectory.trajectory import Trajectory, load_trajectory

__all__ = [
    "Block",
    "Channel",
    "Checkpoint",
    "CorruptRecordingError",
    "Event",
    "Label",
    "Layout",
    "RecordingError",
    "SegmentReader",
    "SegmentWriter",
    "Trajectory",
    "assemble",
    "coordinate_labels",
    "layout_of",
    "load_trajectory",
    "read_checkpoint",
    "velocity_labels",
]
