"""What every body of an export shares: where it goes, as what, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.config.delivery import LangfuseSettings
from ragstone.export.identity import moment_of
from ragstone.langfuse import ids
from ragstone.langfuse.origin import Origin, origin_of
from ragstone.langfuse.payload import clean
from ragstone.reading.fingerprints import Fingerprint, repeat_in

if TYPE_CHECKING:
    from ragstone.export.content import Content, Line
    from ragstone.types import Language

DATASET = "ragstone"
_ASKED = ("question", "reference", "reference_points", "reference_contexts")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What every body of an export shares. The same run makes the same frame, today and tomorrow."""

    host: str
    """Address of the server, without a slash at its end."""
    project_id: str
    run_name: str
    """Name of the experiment there, and of the session its traces are in."""
    dataset: str
    """Name of the data set, with the fingerprint of the gold set."""
    dataset_id: str | None = None
    """The id it got there; None = not known yet."""
    timestamp: str
    """Of every trace and score: ISO 8601 in UTC, with milliseconds and Z."""
    environment: str = "ragstone"
    run_id: str | None = None
    signature: str | None = None
    notice: str | None = None
    gold_fingerprint: str | None = None
    judge: str | None = None
    """Model that gave the verdicts."""
    repeats: int = 1
    lang: Language = "en"
    """Language of comments on the whole run, and on samples that do not say theirs."""

    @cached_property
    def start(self) -> int:
        """The timestamp in nanoseconds since 1970."""
        return round((datetime.fromisoformat(self.timestamp) - _EPOCH).total_seconds() * 1000) * 1_000_000

    @property
    def run_key(self) -> str:
        """Which run of which data set it is: runs are told apart by name within one."""
        return f"{self.dataset}|{self.run_name}"

    @cached_property
    def experiment_id(self) -> str | None:
        """As Langfuse derives it; None as long as the data set is not there."""
        return None if self.dataset_id is None else ids.experiment_id(self.project_id, self.dataset_id, self.run_name)

    @cached_property
    def known(self) -> dict[str, str]:
        """What stands beside everything: run, signature, gold fingerprint and smoke-test notice, as far as there are some."""
        found = {"run": self.run_id, "signature": self.signature, "gold_fingerprint": self.gold_fingerprint, "notice": self.notice}
        return {name: value for name, value in found.items() if value is not None}

    def within(self, dataset_id: str) -> Frame:
        """Return the same frame once the data set is there."""
        return replace(self, dataset_id=dataset_id)

    def trace_of(self, sample_id: str) -> str:
        """Return the id of a sample's own trace."""
        return ids.trace_id(self.project_id, self.run_name, sample_id)

    def span_of(self, sample_id: str, role: str = "root") -> str:
        """Return the id of an observation in a sample's own trace."""
        return ids.span_id(self.project_id, self.run_name, sample_id, role)

    def origin(self, line: Line) -> Origin | None:
        """Return the trace a sample was read from; None where it was read from elsewhere, another project included."""
        found = origin_of(line.sample)
        return found if found and (found.host, found.project_id) == (self.host, self.project_id) else None


def frame_of(content: Content, settings: LangfuseSettings, *, host: str, project_id: str, otherwise: str) -> Frame:
    """Return the frame of a run; `otherwise`: the timestamp of a run whose manifest names no usable one."""
    facts, manifest = content.facts, content.run.manifest
    language: Language = "zh" if manifest.get("language") == "zh" else "en"
    judge, path = manifest.get("judge"), content.run.path
    gold = facts.gold_fingerprint or _gold_of(content)
    model = judge.get("model") if isinstance(judge, dict) else judge
    return Frame(
        host=host.rstrip("/"),
        project_id=project_id,
        run_name=settings.experiment or facts.run_id or (path.resolve().name if path else None) or DATASET,
        dataset="/".join(part for part in (settings.dataset or DATASET, (gold or "")[:8]) if part),
        timestamp=stamp(facts.created_at) or otherwise,
        environment=settings.environment,
        run_id=facts.run_id,
        signature=facts.signature,
        notice=facts.notice,
        gold_fingerprint=gold,
        judge=model if isinstance(model, str) else None,
        repeats=_count(manifest.get("repeats")),
        lang=language,
    )


def stamp(told: str | None) -> str | None:
    """Return a time as Langfuse takes it (UTC, milliseconds, Z); None for what is no time of a run."""
    time = moment_of(told)
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _gold_of(content: Content) -> str | None:
    """The fingerprint of what was asked, for a run that does not name it; None where it holds no samples."""
    found, held = Fingerprint(), False
    for row in content.run.sample_rows([]):
        meta, held = row.get("meta"), True
        name, repeat = repeat_in(str(row["id"]), meta.get("question_id") if isinstance(meta, dict) else None)
        if repeat:
            continue
        asked = [name, *(row.get(field) for field in _ASKED)]
        try:
            found.add(asked)
        except TypeError:  # half a character
            found.add(clean(asked))
    return found.hex() if held else None


def _count(repeats: Any) -> int:
    return repeats if isinstance(repeats, int) and repeats > 0 else 1
