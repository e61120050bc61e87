"""The published JSON schema of scenario files: `python -m multiarm.scenario.schema FILE ...` writes it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from multiarm.scenario.content import Content

__all__ = ["json_schema", "schema_path"]


def json_schema() -> dict[str, Any]:
    """What a scenario file may contain, for editors and other programs."""
    schema = Content.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "multiarm scenario"}


def schema_path() -> Path:
    """The schema as it is installed."""
    return Path(__file__).with_name("scenario.schema.json")


def write(paths: list[str]) -> None:
    """Write the schema to files."""
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"
    for path in paths:
        Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
