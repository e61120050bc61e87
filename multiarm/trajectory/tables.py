"""Recordings as tables of text."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from multiarm.trajectory.durable import replaced
from multiarm.trajectory.errors import RecordingError
from multiarm.trajectory.layout import Block, Layout

__all__ = ["column_names", "write_csv"]


def column_names(layout: Layout, name: str) -> list[str]:
    """A heading for every entry of a channel: "wrench left fx [N]"."""
    channel = layout.channel(name)
    labels = list(product(*(layout.coordinates[dim] for dim in channel.dims)))
    per_entry = not isinstance(channel.unit, str)
    units = (
        channel.unit * (len(labels) // len(channel.unit))
        if per_entry and labels
        else (channel.unit_text,) * len(labels)
    )
    headings = [" ".join((name, *label)) + f" [{unit}]" for label, unit in zip(labels, units, strict=True)]
    return [" ".join(heading.split()) for heading in headings]  # a line break in a label would end the row


def write_csv(path: Path, layout: Layout, names: Sequence[str], blocks: Iterable[Block]) -> None:
    """A row per sample, a column per entry, numbers such that they read back exactly; a block at a time."""
    headings = ["time [s]", *(heading for name in names for heading in column_names(layout, name))]
    try:
        with replaced(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(headings)
            for block in blocks:
                samples = len(block["time"])
                columns = [block["time"].tolist()]
                for name in names:
                    columns += block[name].reshape(samples, -1).T.tolist() if block[name].size else []
                table.writerows(zip(*columns, strict=True))
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(path, f"cannot write the table: {error.strerror or error}") from error
