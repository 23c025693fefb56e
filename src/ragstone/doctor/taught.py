"""Which lessons hold after an examination: those of its own probes, and the older ones that these did not disprove. No I/O."""

from collections.abc import Sequence
from typing import Any

from ragstone.judge import lessons
from ragstone.judge.dialect import Dialect
from ragstone.judge.lessons import Lesson
from ragstone.transport.memory import DAYS


def lessons_now(dialect: Dialect, more: Sequence[Lesson], held: Any, now: float, *, limit_name: str | None) -> list[dict[str, Any]]:
    """Return the lessons to be kept, as they are written.

    Args:
        dialect: what the questions taught.
        more: what other probes taught.
        held: the lessons kept so far, as they were written.
        now: the time, in seconds since 1970.
        limit_name: the name under which a length limit was kept to, if one was found.
    """
    fresh = [lessons.dated(lesson, now) for lesson in (*dialect.lessons, *more)]
    known = lessons.read(held, now - DAYS * 86400)
    return lessons.written(lessons.together([old for old in known if not _disproved(old, dialect, limit_name)], fresh))


def _disproved(lesson: Lesson, dialect: Dialect, limit_name: str | None) -> bool:
    """True if what the lesson says is refused was accepted just now."""
    sent = dialect.shape.parameters
    match lesson.change:
        case "format":
            return lesson.name in dialect.shape.formats[:1]
        case "rename":
            return lesson.name == limit_name
        case "drop" | "send":
            return lesson.name in sent and lesson.means(sent[lesson.name])
    return False
