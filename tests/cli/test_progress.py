import io

import pytest

from ragstone.cli.progress import clock, reporter, sentence, short
from ragstone.progress import Progress, RowProgress


def at(done: int, elapsed_s: float, total: int = 10, failed: int = 0, left_s: float | None = None, awaited: str = "") -> Progress:
    return Progress(done, total, 7 * done, 1000 * done, 234 * done, failed, elapsed_s, left_s, awaited)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("progress", "en", "zh"),
    [
        (
            at(3, 6.0, failed=1, left_s=14.0),
            "3/10 cells · 21 requests · 3.70k tokens · 1 failed · 0:14 left",
            "3/10 项 · 请求 21 · token 3.70k · 失败 1 · 剩余 0:14",
        ),
        (at(0, 1.0), "0/10 cells · 0 requests · 0 tokens · 0 failed · – left", "0/10 项 · 请求 0 · token 0 · 失败 0 · 剩余 –"),
        (
            at(0, 6.0, awaited="api.example:8000"),
            "0/10 cells · 0 requests · 0 tokens · 0 failed · waiting for the first reply from api.example:8000",
            "0/10 项 · 请求 0 · token 0 · 失败 0 · 正在等待 api.example:8000 的首次答复",
        ),
        (
            at(10, 75.0),
            "10/10 cells · 70 requests · 12.3k tokens · 0 failed · took 1:15",
            "10/10 项 · 请求 70 · token 12.3k · 失败 0 · 用时 1:15",
        ),
        (
            RowProgress(3, 10, 4, 1, 6.0, 14.0),
            "3/10 rows · 4 requests · 1 failed · 0:14 left",
            "3/10 行 · 请求 4 · 失败 1 · 剩余 0:14",
        ),
        (
            RowProgress(3, 10, 4, 1, 6.0, stopped=True),
            "3/10 rows · 4 requests · 1 failed · took 0:06",
            "3/10 行 · 请求 4 · 失败 1 · 用时 0:06",
        ),
        (
            RowProgress(0, 10, 0, 0, 6.0, awaited="rag.example"),
            "0/10 rows · 0 requests · 0 failed · waiting for the first reply from rag.example",
            "0/10 行 · 请求 0 · 失败 0 · 正在等待 rag.example 的首次答复",
        ),
    ],
)
def test_progress_in_words(progress, en, zh):
    assert sentence(progress, "en") == en
    assert sentence(progress, "zh") == zh


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.00k"),
        (12_345, "12.3k"),
        (123_456, "123k"),
        (999_949, "1000k"),
        (999_950, "1.00M"),
        (4_560_000, "4.56M"),
    ],
)
def test_counts_of_tokens_are_short(number, text):
    assert short(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (3725, "1:02:05")])
def test_durations(seconds, text):
    assert clock(seconds) == text


def test_a_log_gets_a_line_every_ten_seconds_and_the_last_state():
    log = io.StringIO()
    with reporter("en", stream=log) as report:
        report.notice("12 rows lack a reference")
        for done in range(1, 9):
            report.progress(at(done, 4.0 * done))
    assert [line.split()[0] for line in log.getvalue().splitlines()] == ["12", "3/10", "6/10", "8/10"]


def test_a_log_tells_the_last_state_only_once():
    log = io.StringIO()
    with reporter("en", stream=log) as report:
        report.progress(at(1, 30.0))
    assert len(log.getvalue().splitlines()) == 1


def test_quiet_says_nothing():
    log = Terminal()
    with reporter("en", quiet=True, stream=log) as report:
        report.notice("x")
        report.progress(at(10, 100.0))
    assert log.getvalue() == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_terminal_gets_one_moving_line_and_notices_above_it(lang, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    screen = Terminal()
    with reporter(lang, stream=screen) as report:
        report.notice("[red]not markup[/red]")
        report.progress(at(5, 20.0))
        report.progress(at(10, 40.0))
    shown = screen.getvalue()
    assert "[red]not markup[/red]" in shown
    assert sentence(at(10, 40.0), lang) in shown
    assert "\x1b[?25h" in shown, "the cursor is shown again"
