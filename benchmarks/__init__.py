"""Benchmarks against other programs; run as ``python -m benchmarks.NAME``."""
