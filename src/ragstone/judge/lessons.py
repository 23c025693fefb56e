"""What an endpoint taught about a model, one lesson a change, and how lessons are written down for the next run. No I/O."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from time import gmtime, strftime
from typing import Any, Literal, get_args

Change = Literal["format", "drop", "send", "rename", "add", "limit"]
Scope = Literal["value", "all_but_one", "all"]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One change of the requests, and why it was made."""

    change: Change
    """format: a reply format is not asked for. drop: a parameter is left out. send: it gets another value. rename: the length limit
    gets its other name. add: a switch is put in. limit: the longest reply the model gives, in tokens."""
    name: str
    """The format, the parameter, or the names of what was put in."""
    why: str
    """The endpoint's words."""
    refused: Any = None
    """The value that was refused; of a limit None if nobody refused it and replies merely ended there."""
    sent: Any = None
    """The value, name, keys or limit that holds instead."""
    scope: Scope = "value"
    """What the refusal means: the value refused, all values but 1, or the parameter altogether."""
    at: float = 0.0
    """When it was taught, in seconds since 1970."""
    since: str = ""
    """The day an earlier run was taught it; empty for what this run was taught."""

    @property
    def told(self) -> str:
        """Why, and since when that is known."""
        return f"{self.why} (remembered since {self.since})" if self.since else self.why

    def means(self, value: Any) -> bool:
        """True if a parameter with this value would be refused, as far as the lesson tells."""
        if self.scope == "all" or (self.scope == "all_but_one" and value != 1):
            return True
        return bool(value == self.refused)

    def same(self, other: "Lesson") -> bool:
        """True if the other lesson takes this one's place: the same thing taught, or a limit or its name taught anew."""
        alike = self.change == other.change
        return alike and (self.change in ("rename", "limit") or (self.name, self.refused) == (other.name, other.refused))


def written(lessons: Iterable[Lesson]) -> list[dict[str, Any]]:
    """Return lessons as they are kept."""
    return [{name: value for name, value in asdict(lesson).items() if name != "since" and value is not None} for lesson in lessons]


def read(held: Any, oldest: float) -> list[Lesson]:
    """Return the lessons that are kept, those older than `oldest` and those that are damaged left out."""
    return [lesson for row in held if (lesson := _read(row)) and lesson.at >= oldest] if isinstance(held, list) else []


def _read(row: Any) -> Lesson | None:
    if not isinstance(row, dict) or row.get("change") not in get_args(Change) or row.get("scope") not in get_args(Scope):
        return None
    if not isinstance(row.get("name"), str) or not isinstance(row.get("why"), str) or not isinstance(row.get("at"), int | float):
        return None
    wanted = {"add": dict, "limit": int, "rename": str}.get(row["change"], object)
    if not isinstance(row.get("sent"), wanted):
        return None
    known = {name: row.get(name) for name in ("change", "name", "why", "refused", "sent", "scope", "at")}
    return Lesson(**known, since=strftime("%Y-%m-%d", gmtime(row["at"])))  # type: ignore[arg-type]


def together(known: Iterable[Lesson], taught: Iterable[Lesson]) -> list[Lesson]:
    """Return what is known with what was taught now, which takes the place of what it makes out of date."""
    fresh = list(taught)
    return [lesson for lesson in known if not any(new.same(lesson) for new in fresh)] + fresh


def dated(lesson: Lesson, now: float) -> Lesson:
    """Return a lesson with the moment it was taught; one that was remembered keeps its own."""
    return lesson if lesson.since else replace(lesson, at=now)
