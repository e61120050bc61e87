"""Things that happen at one moment of a run: a grasp made or lost, a limit hit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.trajectory.errors import CorruptRecordingError
from multiarm.trajectory.plain import clean_text, from_json, to_json

__all__ = ["Event", "event_columns", "event_line", "events_json", "read_events"]


@dataclass(frozen=True)
class Event:
    """What happened (`kind`, such as "slip") to whom (`subject`, a name) at `time` [s]; `data` are its numbers.

    Examples
    --------
    >>> print(Event(1.25, "slip", "left", "friction limit reached"))
    1.25 s  slip  left: friction limit reached
    """

    time: float
    kind: str
    subject: str = ""
    message: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            time = float(self.time)
        except (TypeError, ValueError) as error:
            raise BadInputError(f"event {self.kind!r}: {self.time!r} is no time") from error
        if not math.isfinite(time):
            raise BadInputError(f"event {self.kind!r}: time {time} is not finite")
        object.__setattr__(self, "time", time)
        for name in ("kind", "subject", "message"):
            object.__setattr__(self, name, clean_text(getattr(self, name)))
        data = from_json(to_json(dict(self.data), f"data of event {self.kind!r}"))
        object.__setattr__(self, "data", MappingProxyType(data))

    @classmethod
    def of(cls, value: Event | Mapping[str, Any]) -> Event:
        """The event itself, or one from a mapping with its fields."""
        if isinstance(value, Event):
            return value
        names = [entry.name for entry in fields(cls)]
        for name in value:
            if name not in names:
                raise UnknownNameError("field of an event", name, names)
        for name in ("time", "kind"):
            if name not in value:
                raise BadInputError(f"an event needs its {name!r}, not only {', '.join(map(repr, value)) or 'nothing'}")
        return cls(**value)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        named = {"time": self.time, "kind": self.kind, "subject": self.subject, "message": self.message}
        return {**named, "data": dict(self.data)}

    def __reduce__(self) -> tuple[Any, ...]:  # the read-only view of the data does not pickle
        return Event, (self.time, self.kind, self.subject, self.message, dict(self.data))

    def __repr__(self) -> str:
        return f"Event({self.time!r}, {self.kind!r}, {self.subject!r}, {self.message!r}, {dict(self.data)!r})"

    def __str__(self) -> str:
        return f"{self.time:.9g} s  {self.kind}  {self.subject}" + (f": {self.message}" if self.message else "")


def event_line(event: Event) -> bytes:
    """One line of JSON."""
    return to_json(event.to_dict(), "an event").encode() + b"\n"


def read_events(path: Path) -> list[Event]:
    """Events of a file of JSON lines; a last line cut short is left out."""
    if not path.exists():
        return []
    content = path.read_bytes()
    events: list[Event] = []
    start = 0
    while (stop := content.find(b"\n", start) + 1) > 0:
        try:
            events.append(Event.of(from_json(content[start:stop])))
        except (ValueError, TypeError, AttributeError) as error:
            if stop == len(content):  # the system may have kept the end of a line and not its beginning
                break
            raise CorruptRecordingError(path, f"line {len(events) + 1} is damaged: {error}") from error
        start = stop
    return events


def event_columns(events: Sequence[Event]) -> dict[str, list[str]]:
    """The texts of all events by name of the variable that holds them; `event_data` is JSON."""
    return {
        "event_kind": [event.kind for event in events],
        "event_subject": [event.subject for event in events],
        "event_text": [event.message for event in events],
        "event_data": [to_json(event.data, "an event") for event in events],
    }


def events_json(events: Iterable[Event]) -> str:
    """All events as one JSON text."""
    return to_json([event.to_dict() for event in events], "events")
