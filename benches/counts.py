"""Rows that count at the server: requests, tokens, failed cells, and what a second run asks again. Exact, so one run is enough."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab import Figure, Figures, Lab, figure
from made import LARGE_CLAIMS
from tools import METRICS, OURS, Job, Ran, Tool

JOINT = ("--plan", "joint")


def counted(lab: Lab, tool: Tool, extra: tuple[str, ...] = ()) -> tuple[Job, Ran]:
    """Return the run whose requests are counted: a rival's at the slow server too, where its time is measured in the same run."""
    samples = lab.samples_of(tool)
    job = Job(lab.plain(), samples, 0 if tool.name == OURS else lab.size.slow_ms, extra=extra)
    return job, lab.run(tool, job)


def _per_sample(lab: Lab, tool: Tool, count: str, extra: tuple[str, ...] = (), over: Callable[[int], float] = float) -> Figure:
    job, ran = counted(lab, tool, extra)
    return figure([ran], lambda ran: ran.stats.get(count, 0) / over(job.samples))


def chat_requests(lab: Lab) -> Figures:
    """Chat requests per sample, plan separate; rivals: as they come."""
    return {tool.name: _per_sample(lab, tool, "chat") for tool in lab.all}


def chat_requests_joint(lab: Lab) -> Figures:
    """Chat requests per sample, plan joint."""
    return {OURS: _per_sample(lab, lab.ours, "chat", JOINT)}


def _large(lab: Lab, claims: int, extra: tuple[str, ...] = ()) -> Figures:
    ran = lab.run(lab.ours, Job(lab.large(claims), lab.size.large, extra=extra))
    return {OURS: figure([ran], lambda ran: ran.stats["chat"] / lab.size.large)}


def large_requests(lab: Lab) -> Figures:
    """Chat requests per sample with 12 contexts, 20 claims in the answer and 20 in the reference, plan separate."""
    return _large(lab, LARGE_CLAIMS)


def large_requests_joint(lab: Lab) -> Figures:
    """Chat requests per sample with 12 contexts and 20 claims in all, which one request checks, plan joint."""
    return _large(lab, LARGE_CLAIMS // 2, JOINT)


def prompt_tokens(lab: Lab) -> Figures:
    """Prompt tokens over the content floor of the same samples."""
    return {tool.name: _over_floor(lab, tool) for tool in lab.all}


def prompt_tokens_joint(lab: Lab) -> Figures:
    """Prompt tokens over the content floor, plan joint."""
    return {OURS: _over_floor(lab, lab.ours, JOINT)}


def _over_floor(lab: Lab, tool: Tool, extra: tuple[str, ...] = ()) -> Figure:
    return _per_sample(lab, tool, "chat_pt", extra, lambda samples: samples * lab.floor(samples))


def embedding_requests(lab: Lab) -> Figures:
    """Embedding requests per sample."""
    return {tool.name: _per_sample(lab, tool, "emb") for tool in lab.all}


def failed_cells(lab: Lab) -> Figures:
    """Cells without a value at a server that refuses and garbles a part of its replies, scaled to 250."""
    job = Job(lab.plain(), lab.size.faulty, lab.size.quick_ms, faults=True)
    found = {tool.name: figure([lab.run(tool, job)], lambda ran: (ran.failed or 0) * 250 / (METRICS * job.samples)) for tool in lab.all}
    return {name: replace(failed, failed=0) for name, failed in found.items()}  # the number says it


# ------------------------------------------------------------------ a second run
def second_run(lab: Lab) -> Figures:
    """Requests of a second run over the same samples with the same cache."""
    again, _ = lab.once("second run", lambda: _second_runs(lab))
    return {OURS: again}


def answers_changed(lab: Lab) -> Figures:
    """Requests and texts for the gold side that are asked again after the answers changed: those the server has seen before."""
    _, anew = lab.once("second run", lambda: _second_runs(lab))
    return {OURS: anew}


def _second_runs(lab: Lab) -> tuple[Figure, Figure]:
    """Three runs on one cache, the server remembering all requests: first, same samples again, same questions with other answers."""
    job = Job(lab.plain(), lab.size.counted, extra=("--cache", str(lab.folder / "cache")))
    first = lab.run(lab.ours, job)
    again = lab.run(lab.ours, job, turn=1, begin=False)
    anew = lab.run(lab.ours, replace(job, data=lab.answered_anew()), begin=False)
    return _new(first.stats, again, "chat", "emb"), _new(again.stats, anew, "chat_repeat", "emb_texts_repeat")


def _new(before: Mapping[str, Any], ran: Ran, *names: str) -> Figure:
    return figure([ran], lambda ran: sum(ran.stats.get(name, 0) - before.get(name, 0) for name in names))
