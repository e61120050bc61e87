"""Recordings of a run: samples that stream to disk, labelled results, NetCDF files."""
