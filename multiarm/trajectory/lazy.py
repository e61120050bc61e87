"""A folder of segments as a backend of xarray; imported only where xarray is in use."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from multiarm.trajectory.dataset import dataset_of
from multiarm.trajectory.reader import SegmentReader

__all__ = ["SegmentBackend"]


class SegmentArray(BackendArray):  # type: ignore[misc, unused-ignore]
    """One channel, read where it is indexed."""

    def __init__(self, reader: SegmentReader, name: str) -> None:
        kind, shape = reader.layout.fields[name]
        self.reader, self.name = reader, name
        self.shape, self.dtype = (reader.samples, *shape), kind.newbyteorder("=")

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        rows, *rest = key
        if not isinstance(rows, slice):
            return self.reader.read(self.name, int(rows), int(rows) + 1)[(0, *rest)]
        wanted = range(len(self.reader))[rows]
        rising = wanted if wanted.step > 0 else wanted[::-1]
        read = self.reader.read(self.name, rising.start, max(rising.stop, 0), rising.step)
        return (read if wanted.step > 0 else read[::-1])[(slice(None), *rest)]


class SegmentBackend(BackendEntrypoint):
    """`xarray.open_dataset(folder, engine=SegmentBackend)`."""

    description = "Folders of samples as multiarm records them"

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None) -> xr.Dataset:
        """The folder as a dataset; each channel is read when it is used."""
        reader = SegmentReader(os.fspath(filename_or_obj))
        lazy = {name: indexing.LazilyIndexedArray(SegmentArray(reader, name)) for name in reader.layout.fields}
        dataset = dataset_of(reader.layout, lazy, reader.events)
        return dataset if drop_variables is None else dataset.drop_vars(drop_variables)
