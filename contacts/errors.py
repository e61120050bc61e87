"""Errors about shapes and contacts."""

from __future__ import annotations

from graphs.errors import MultiArmError

__all__ = ["ContactError"]


class ContactError(MultiArmError, ValueError):
    """A shape or contact that cannot be."""
