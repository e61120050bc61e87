"""YAML text as plain data with the line and column of every value; refuses whatever could run, blow up or mislead.

Only mappings with text keys, lists, text, numbers, true, false and null. Scalars are read by the rules of YAML 1.2, so
that `1e-3` is a number and `on` and `no` are words; PyYAML's own constructors, which follow YAML 1.1, are not used.
Tags and merge keys are refused. Aliases repeat what their anchor names, up to `MOST_VALUES` values in all, so that a
few lines cannot grow into gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from multiarm.scenario.errors import Problem, ScenarioError

__all__ = ["Document", "Key", "read_document", "read_text", "spell"]

MOST_BYTES = 500_000
MOST_VALUES = 50_000
MOST_DEPTH = 40

Key = tuple[str | int, ...]
Place = tuple[int, int]

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None} | {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_LONGEST_NUMBER = 400  # characters: Python's integers are unlimited, and reading a long one is slow


def spell(key: Key) -> str:
    """A place in the document as people write it.

    Examples
    --------
    >>> spell(("arms", "left", "base", "xyz", 2))
    'arms.left.base.xyz[2]'
    """
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(frozen=True, eq=False)
class Document:
    """The content of a file, and where each value (and key) of it stands."""

    file: str
    text: str = field(repr=False)
    data: Any
    values: dict[Key, Place] = field(repr=False)
    keys: dict[Key, Place] = field(repr=False)

    def place(self, key: Sequence[str | int], of_key: bool = False) -> Place:
        """Line and column of the value at `key`, or of the nearest thing around it that the file has."""
        at = tuple(key)
        if of_key and at in self.keys:
            return self.keys[at]
        while at not in self.values and at:
            at = at[:-1]
        return self.values.get(at, (1, 1))

    def problem(
        self, key: Sequence[str | int], message: str, choices: Sequence[str] = (), of_key: bool = False
    ) -> Problem:
        """A problem with what stands at `key`."""
        line, column = self.place(key, of_key)
        return Problem(line, column, spell(tuple(key)), message, tuple(choices))


def read_document(text: str | bytes, file: str) -> Document:
    """Read YAML text, or raise a `ScenarioError` with the places of what is wrong with it."""

    def refuse(message: str, line: int = 1, column: int = 1) -> ScenarioError:
        return ScenarioError(file, [Problem(line, column, "", message)])

    if len(text) > MOST_BYTES:
        raise refuse(f"the file has {len(text)} bytes; a scenario has at most {MOST_BYTES}")
    raw = text
    if isinstance(raw, bytes):
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise refuse(f"the file is not text in UTF-8 (byte {error.start})", line) from error
    assert isinstance(text, str)
    reader = _Reader(file)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        context = f"{error.context}: " if error.context else ""
        raise refuse(f"this is not YAML: {context}{error.problem}", line, column) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise refuse(f"a character that YAML does not allow: #x{error.character:04x}", line) from error
    except (ValueError, IndexError, AttributeError, AssertionError) as error:
        # PyYAML's scanner lets these through on some malformed directives and escapes
        raise refuse(f"this is not YAML: {error}") from error
    if reader.problems:
        raise ScenarioError(file, reader.problems)
    if not reader.started:
        raise refuse("the file is empty; `multiarm new` writes a template")
    return Document(file, text, reader.root, reader.values, reader.keys)


@dataclass
class _Open:
    """A mapping or list being read."""

    key: Key
    value: dict[str, Any] | list[Any]
    anchor: str | None
    pending: str | None = None
    expects_key: bool = True
    seen: dict[str, Place] = field(default_factory=dict)


class _Reader:
    """Builds data from the events of PyYAML's parser, one at a time, with no recursion."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Any = None
        self.started = False
        self.values: dict[Key, Place] = {}
        self.keys: dict[Key, Place] = {}
        self.problems: list[Problem] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, Key] = {}
        self._open_anchors: set[str] = set()
        self._data: dict[Key, Any] = {}
        self._count = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Add one event."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._fatal(event, "a second document begins here; a scenario file has one")
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            if done.anchor:
                self._open_anchors.discard(done.anchor)
                self._anchors[done.anchor] = done.key

    # ------------------------------------------------------------------ the kinds of nodes

    def _begin(self, event: Any) -> None:
        self._refuse_tag(event)
        if self._at_key():
            raise self._fatal(event, "a key must be text, not a mapping or a list")
        if len(self._stack) >= MOST_DEPTH:
            raise self._fatal(event, f"more than {MOST_DEPTH} levels of nesting")
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        key = self._place(value, event)
        if event.anchor:
            self._open_anchors.add(event.anchor)
        self._stack.append(_Open(key, value, event.anchor))

    def _scalar(self, event: Any) -> None:
        self._refuse_tag(event)
        if self._at_key():
            self._begin_entry(event)
            return
        value = event.value if event.style else self._plain(event)
        key = self._place(value, event)
        if event.anchor:
            self._anchors[event.anchor] = key

    def _alias(self, event: Any) -> None:
        if self._at_key():
            raise self._fatal(event, "a key must be text, not an alias")
        if event.anchor in self._open_anchors:
            raise self._fatal(event, f"*{event.anchor} stands inside what it names")
        if event.anchor not in self._anchors:
            raise self._fatal(event, f"*{event.anchor} names nothing: there is no &{event.anchor} before it")
        source = self._anchors[event.anchor]
        value, key = self._data[source], self._place(self._data[source], event)
        here = _mark(event)
        stack = [(value, key)]
        while stack:  # every value inside counts, and is found where the alias stands
            inside, at = stack.pop()
            named: Any = inside.items() if isinstance(inside, dict) else ()
            for name, entry in enumerate(inside) if isinstance(inside, list) else named:
                self._note((*at, name), entry, here, event)
                stack.append((entry, (*at, name)))

    def _plain(self, event: Any) -> Any:
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if len(text) <= _LONGEST_NUMBER:
            if _INTEGER.fullmatch(text):
                return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
            if _FLOAT.fullmatch(text):
                return float(text)
            if _SPECIAL.fullmatch(text):
                return float(text.replace(".", ""))
        return text

    # ------------------------------------------------------------------ where they go

    def _at_key(self) -> bool:
        top = self._stack[-1] if self._stack else None
        return top is not None and isinstance(top.value, dict) and top.expects_key

    def _begin_entry(self, event: Any) -> None:
        top = self._stack[-1]
        name = event.value
        if event.anchor:
            raise self._fatal(event, "a key has no anchor")
        if name == "<<" and not event.style:
            raise self._fatal(event, "merge keys (<<) are not used in scenario files: repeat the entries")
        here = _mark(event)
        top.pending, top.expects_key = name, False
        if name in top.seen:
            message = f"the key {name!r} stands here a second time; the first is in line {top.seen[name][0]}"
            self.problems.append(Problem(*here, spell((*top.key, name)), message))
            top.pending = f"{name} (again)"  # so that what is inside is not taken for a repetition too
        top.seen[name] = here
        self.keys[(*top.key, top.pending)] = here

    def _place(self, value: Any, event: Any) -> Key:
        """Put a value where the reader is, and return that place."""
        key: Key
        if not self._stack:
            key, self.root, self.started = (), value, True
        else:
            top = self._stack[-1]
            if isinstance(top.value, dict):
                assert top.pending is not None
                key = (*top.key, top.pending)
                top.value.setdefault(top.pending, value)
                top.expects_key = True
            else:
                key = (*top.key, len(top.value))
                top.value.append(value)
        self._note(key, value, _mark(event), event)
        return key

    def _note(self, key: Key, value: Any, place: Place, event: Any) -> None:
        self._count += 1
        if self._count > MOST_VALUES:
            raise self._fatal(event, f"more than {MOST_VALUES} values, counting what aliases repeat")
        self.values.setdefault(key, place)
        self._data.setdefault(key, value)

    # ------------------------------------------------------------------ what is refused

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            raise self._fatal(event, f"tags are not used in scenario files: {event.tag}")

    def _fatal(self, event: Any, message: str) -> ScenarioError:
        return ScenarioError(self.file, [*self.problems, Problem(*_mark(event), self._here(), message)])

    def _here(self) -> str:
        if not self._stack:
            return ""
        top = self._stack[-1]
        inside = top.pending if isinstance(top.value, dict) and not top.expects_key else None
        return spell(top.key if inside is None else (*top.key, inside))


def _mark(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


def read_text(path: Path) -> bytes:
    """The bytes of a regular file of reasonable size."""
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES + 1)
