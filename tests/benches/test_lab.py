from pathlib import Path

import pytest
from support.benches import load

counts = load("counts")
given = load("given")
lab = load("lab")
pace = load("pace")
tools = load("tools")

NOBODY = given.Given(given.STAND_IN, "python", None, None, {})


class Forgetful:
    """A mock judge that is told how to behave and writes it down."""

    base_url = "http://127.0.0.1:1/v1"

    def __init__(self):
        self.told = []

    def behave(self, latency_ms, *, faults):
        self.told.append((latency_ms, faults))

    def stats(self):
        return {"chat": 7}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    made = lab.Lab(NOBODY, Forgetful(), tmp_path, lab.QUICK)
    ran: list[str] = []
    monkeypatch.setattr(lab.Lab, "_run", lambda self, tool, job, out: ran.append(tool.name) or tools.Ran(1.0, len(ran) / 10, stats={}))
    made.ran = ran
    return made


def job(samples=4, **more):
    return tools.Job(Path("rows.jsonl"), samples, **more)


# ------------------------------------------------------------------ figures
@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([tools.Ran(0, 2.0)], lab.Figure(2.0)),
        ([tools.Ran(0, 2.0), tools.Ran(0, 1.5)], lab.Figure(1.5, every=(2.0, 1.5))),
        ([tools.Ran(0, 2.0, failed=3)], lab.Figure(2.0, failed=3)),
        ([tools.Ran(0, 2.0), tools.Ran(0, 0.1, problem=("timeout", "300"))], lab.Figure(why="timeout", detail="300")),
    ],
)
def test_the_least_of_several_tries_or_why_there_is_none(runs, expected):
    assert lab.figure(runs, lambda ran: ran.cpu_s) == expected


# ------------------------------------------------------------------ runs
def test_a_run_that_two_rows_ask_for_is_made_once(bench):
    assert bench.run(bench.ours, job()) is bench.run(bench.ours, job())
    assert bench.run(bench.ours, job(), turn=1) is not bench.run(bench.ours, job())
    assert len(bench.ran) == 2


def test_the_server_is_told_the_latency_and_the_faults(bench):
    bench.run(bench.ours, job(latency_ms=50, faults=True))
    bench.run(bench.ours, job(latency_ms=500), begin=False)
    assert bench.mock.told == [(50, True)]


def test_tools_take_turns(bench):
    other = tools.Tool("ragas-legacy", driver=Path("drive.py"))
    runs = bench.by_turns({bench.ours: job(), other: job()}, {bench.ours: 3, other: 1})
    assert bench.ran == ["ragstone", "ragas-legacy", "ragstone", "ragstone"]
    assert [len(found) for found in runs.values()] == [3, 1]


def test_a_tool_that_fails_once_is_not_tried_again(bench, monkeypatch):
    monkeypatch.setattr(lab.Lab, "_run", lambda self, tool, job, out: tools.Ran(0, 0, problem=("timeout", "300")))
    assert len(bench.by_turns({bench.ours: job()}, {bench.ours: 5})["ragstone"]) == 1


def test_samples_are_written_once(bench):
    first = bench.plain()
    first.write_text("kept", encoding="utf-8")
    assert bench.plain().read_text(encoding="utf-8") == "kept"


# ------------------------------------------------------------------ rows from counts
def stats_of(monkeypatch, *stats):
    left = list(stats)
    monkeypatch.setattr(lab.Lab, "_run", lambda self, tool, job, out: tools.Ran(1.0, 1.0, failed=0, stats=left.pop(0)))


def test_requests_are_per_sample(bench, monkeypatch):
    stats_of(monkeypatch, {"chat": 28, "emb": 6})
    assert counts.chat_requests(bench) == {"ragstone": lab.Figure(7.0)}
    assert counts.embedding_requests(bench) == {"ragstone": lab.Figure(1.5)}  # the same run


def test_tokens_are_over_the_floor_of_the_same_samples(bench, monkeypatch):
    samples = bench.size.counted
    stats_of(monkeypatch, {"chat_pt": 2 * samples * bench.floor(samples)})
    assert counts.prompt_tokens(bench) == {"ragstone": lab.Figure(2.0)}


def test_a_second_run_counts_what_is_new_and_changed_answers_what_is_repeated(bench, monkeypatch):
    first = {"chat": 28, "emb": 4}
    again = {"chat": 30, "emb": 4, "chat_repeat": 2}  # two requests too many
    anew = {"chat": 46, "emb": 8, "chat_repeat": 5, "emb_texts_repeat": 4}  # sixteen new ones, three old ones, four old texts
    stats_of(monkeypatch, first, again, anew)
    assert counts.second_run(bench) == {"ragstone": lab.Figure(2.0)}
    assert counts.answers_changed(bench) == {"ragstone": lab.Figure(7.0)}


def test_failed_cells_are_scaled_to_250(bench, monkeypatch):
    monkeypatch.setattr(lab.Lab, "_run", lambda self, tool, job, out: tools.Ran(1.0, 1.0, failed=2))
    assert counts.failed_cells(bench) == {"ragstone": lab.Figure(25.0)}  # 2 of 4 samples' 20 cells


# ------------------------------------------------------------------ rows of time
def test_the_span_is_told_in_latencies_and_over_the_ideal(bench, monkeypatch):
    slow = bench.size.slow_ms / 1000
    ideal = 7 * bench.size.span * slow / 16
    stats_of(monkeypatch, *[{"span_s": ideal + slow * 2, "chat_latency_s": 7 * bench.size.span * slow}] * bench.size.best_of)
    assert pace.slow_excess(bench)["ragstone"].value == pytest.approx(2.0)
    assert pace.slow_span(bench)["ragstone"].value == pytest.approx((ideal + slow * 2) / ideal, abs=1e-4)


@pytest.mark.parametrize(("measured", "value", "why"), [(0.87654, 0.877, None), (-0.2, None, "noise")])
def test_a_slope_below_nothing_is_no_figure(bench, measured, value, why):
    bench.once("request cpu", lambda: {"ms": measured})
    found = pace.request_cpu(bench)["ragstone"]
    assert (found.value, found.why) == (value, why)
    assert found.parts == {"ms": measured}


def test_the_slope_of_a_rival_is_that_of_its_best_tries(bench):
    rival = tools.Tool("deepeval-local", driver=Path("drive.py"))
    few, many = ([tools.Ran(0, cpu, stats={"chat": chat}) for cpu in tries] for chat, tries in ((100, (3.0, 2.0)), (400, (8.0, 9.0))))
    bench.once("rival cpu", lambda: {"deepeval-local": (few, many)})
    assert pace._slope(bench, rival) == lab.Figure(20.0)  # 6 s over 300 requests
