"""From a document to its content: what pydantic finds wrong, said in the words of the file."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from multiarm.scenario.content import Content
from multiarm.scenario.document import Document, Key
from multiarm.scenario.errors import Problem, ScenarioError, choose_from

__all__ = ["content_of"]

_QUOTED = re.compile(r"'([^']*)'")
_LONGEST = 60  # characters of a value that an error repeats

_EXPECTED = {
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "bool_type": "expected true or false",
    "string_type": "expected text",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping (key: value)",
    "model_type": "expected a mapping (key: value)",
    "model_attributes_type": "expected a mapping (key: value)",
    "finite_number": "expected a finite number",
    "string_too_short": "expected a name of at least one character",
}


def content_of(document: Document) -> Content:
    """The checked content of a document, or a `ScenarioError` that lists everything wrong in its form."""
    try:
        return Content.model_validate(document.data)
    except ValidationError as error:
        raise ScenarioError(
            document.file, [_problem(document, detail) for detail in error.errors(include_url=False)]
        ) from error


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    key = _in_document(document, detail["loc"])
    given = _short(detail["input"])
    if kind == "missing" and isinstance(detail["loc"][-1], int):
        return document.problem(key, f"too few values: there is no value number {detail['loc'][-1] + 1}")
    if kind == "missing":
        missing = str(detail["loc"][-1])
        inside = "the file" if len(key) == 0 else "this"
        return document.problem(key, f"{inside} needs the key {missing!r}")
    if kind == "extra_forbidden":
        section = _section_at(Content, detail["loc"][:-1])
        choices = list(section.model_fields) if section else []
        name = str(detail["loc"][-1])
        return document.problem(key, choose_from("key", name, choices), choices, of_key=True)
    if kind in ("literal_error", "union_tag_invalid"):
        choices = _QUOTED.findall(str(context.get("expected", context.get("expected_tags", ""))))
        what = str(key[-1]) if key and isinstance(key[-1], str) else "choice"
        value = detail["input"]
        if kind == "union_tag_invalid":
            value = context.get("tag", value)
            what = str(context.get("discriminator", what)).strip("'")
            if what.endswith("()"):  # a function decides, which only robots have: files are not chosen by name
                what, choices = "robot", [choice for choice in choices if choice not in ("urdf", "mjcf")]
            elif isinstance(detail["input"], dict) and what in detail["input"]:
                key = (*key, what)
        return document.problem(key, choose_from(what, value, choices), choices)
    if kind == "union_tag_not_found":
        tag = str(context.get("discriminator", "'kind'")).strip("'")
        if tag.endswith("()"):
            return document.problem(
                key, f"expected a built-in robot's name, {{name: ...}}, {{urdf: file}} or {{mjcf: file}}, not {given}"
            )
        if not isinstance(detail["input"], dict):
            return document.problem(key, f"expected a mapping with the key {tag!r}, not {given}")
        return document.problem(key, f"this needs the key {tag!r}")
    if kind in ("too_long", "too_short"):
        wanted = context.get("max_length", context.get("min_length"))
        bound = "at most" if kind == "too_long" else "at least"
        return document.problem(key, f"expected {bound} {wanted} values, not {context.get('actual_length')}")
    if kind in _EXPECTED:
        return document.problem(key, f"{_EXPECTED[kind]}, not {given}")
    message = detail["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    if detail["msg"].startswith("Input should be "):
        message = f"expected a value {message}"
    return document.problem(key, f"{message}, not {given}")


def _in_document(document: Document, loc: Sequence[str | int]) -> Key:
    """The part of pydantic's location that exists in the file: tags of unions and added levels are left out."""
    key: Key = ()
    data = document.data
    for part in loc:
        in_list = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if in_list or (isinstance(data, dict) and part in data):
            data = data[part]
            key = (*key, part)
    return key


def _section_at(annotation: Any, loc: Sequence[str | int]) -> type[BaseModel] | None:
    """The section class that pydantic was checking at `loc`, to list its keys."""
    kind = _bare(annotation)
    if not loc:
        return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    part, rest = loc[0], loc[1:]
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        if len(members) == 1:
            return _section_at(members[0], loc)
        for member in members:
            if part in _tags(member):
                return _section_at(member, rest)
        return None
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(str(part))
        return None if field is None else _section_at(field.annotation, rest)
    if origin is dict:
        return _section_at(get_args(kind)[1], rest)
    if origin in (list, tuple):
        return _section_at(get_args(kind)[0], rest)
    return None


def _bare(annotation: Any) -> Any:
    """An annotation without its metadata and without the None of an optional value."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        if get_origin(annotation) in (Union, types.UnionType):
            members = [member for member in get_args(annotation) if member is not type(None)]
            if len(members) == 1:
                annotation = members[0]
                continue
        return annotation


def _tags(member: Any) -> tuple[str, ...]:
    """The words that choose a member of a union: its tag, or the values of its `kind` or `do`."""
    if get_origin(member) is Annotated:
        tags = tuple(note.tag for note in get_args(member)[1:] if isinstance(note, Tag))
        if tags:
            return tags
    section = _bare(member)
    if isinstance(section, type) and issubclass(section, BaseModel):
        for name in ("kind", "do"):
            field = section.model_fields.get(name)
            if field is not None and get_origin(field.annotation) is Literal:
                return get_args(field.annotation)
    return ()


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if value is None:
        return "nothing"
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
