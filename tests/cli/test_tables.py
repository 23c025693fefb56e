import dataclasses
import re
from pathlib import Path

import pytest
from support.hand_made import MANIFEST, METRICS, ROWS, SAMPLES

from ragstone.analysis.intervals import Interval
from ragstone.cli.chain import chain_diagram
from ragstone.cli.numbers import metric_label, number, percent
from ragstone.cli.tables import metric_table, print_summary, slice_table, summary_table, worst_list
from ragstone.cli.width import width
from ragstone.figures import REASONS, interval
from ragstone.results import Run

GOLDEN = Path(__file__).parent / "golden"
RUN = Run.from_scores(ROWS, SAMPLES, MANIFEST)
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def ok(sample_id, value, metric="faithfulness"):
    return {"sample_id": sample_id, "metric": metric, "value": value, "status": "ok"}


def failed(sample_id, metric="faithfulness"):
    return {"sample_id": sample_id, "metric": metric, "value": None, "status": "failed", "reason": "timeout"}


@LANGUAGES
def test_the_whole_table(lang):
    summary = RUN.summary(by="category")
    text = "\n\n".join(
        [
            summary_table(summary, lang, details=True),
            "\n".join(slice_table(summary.slices, lang)),
            "\n".join(worst_list(summary.worst, lang, 10)),
        ]
    )
    assert text + "\n" == (GOLDEN / f"table.{lang}.txt").read_text(encoding="utf-8")


@LANGUAGES
def test_every_line_but_the_signature_fits_80_columns(lang):
    summary = RUN.summary(by="category")
    lines = [
        *summary_table(summary, lang, details=True).split("\n"),
        *slice_table(summary.slices, lang),
        *worst_list(summary.worst, lang, 10),
    ]
    assert [line for line in lines if width(line) > 80 and line != MANIFEST["signature"]] == []


@LANGUAGES
def test_columns_of_numbers_end_in_one_place(lang):
    head, rule, *rows = metric_table(RUN.summary().metrics, lang)
    for part in ("66.7%", "50.0%", "75.0%"):
        ends = {width(row[: row.index(part)]) + len(part) for row in rows if part in row}
        assert ends <= {width(head[: head.index("coverage" if lang == "en" else "覆盖率")]) + (8 if lang == "en" else 6)}
    assert width(rule) >= max(map(width, rows))


@LANGUAGES
def test_numbers_of_a_large_run_still_fit(lang):
    metric = dataclasses.replace(RUN.summary().metrics[4], n=100000, total=123456, failed=23000, not_applicable=456)
    assert all(width(line) <= 80 for line in metric_table([metric], lang))


@LANGUAGES
def test_a_metric_with_parameters_keeps_its_whole_name(lang):
    name = "answer_correctness(beta=2,weights=[0.5,0.5])"
    summary = Run.from_scores([ok("a", 0.5, name)]).summary()
    assert "(beta=2,weights=[0.5,0.5])" in "\n".join(metric_table(summary.metrics, lang))
    assert all(width(line) <= 80 for line in summary_table(summary, lang).split("\n"))


def test_the_notice_of_the_local_judge_stands_above_and_below():
    lines = summary_table(RUN.summary(), "en").split("\n")
    assert lines[0] == lines[-1] == "*** local heuristic judge: smoke test, not a measurement ***"
    assert "***" not in summary_table(Run.from_scores(ROWS).summary(), "en")


def test_a_bare_run_says_what_is_unknown():
    text = summary_table(Run.from_scores([ok("a", 1.0)]).summary(), "en")
    assert "signature unknown" in text
    assert "samples: 1" in text


def test_print_summary_prints_the_table(capsys):
    summary = RUN.summary()
    print_summary(summary, "zh", chain=False)
    assert capsys.readouterr().out == summary_table(summary, "zh", chain=False) + "\n"


# ------------------------------------------------------------------ the chain
@LANGUAGES
@pytest.mark.parametrize(
    "metrics", [METRICS, METRICS[:1], METRICS[1:2], METRICS[2:4], (*METRICS, "my_own", "answer_relevancy(strictness=1)")]
)
def test_the_chain_is_aligned_and_shows_every_metric_at_its_place(metrics, lang):
    lines = chain_diagram(Run.from_scores([ok("a", 0.5, metric) for metric in metrics]).summary(), lang)
    boxes = next(i for i, line in enumerate(lines) if line.startswith("│"))
    assert [width(line) for line in lines[boxes - 1 : boxes + 2]] == [width(lines[boxes])] * 3
    assert all(width(line) <= 80 for line in lines)
    drawn = [metric for metric in metrics if metric != "my_own"]
    assert sum("0.500 1/1" in line for line in lines) == len(drawn)
    for metric in drawn:
        (at,) = [i for i, line in enumerate(lines) if metric_label(metric, lang) + " " in line]
        assert (at < boxes) == metric.startswith("answer")


@LANGUAGES
def test_lines_of_the_chain_meet(lang):
    """Every knot has its line above or below it, in the same column of the screen."""
    grid = [list("".join(c + ("\0" if width(c) == 2 else "") for c in line)) for line in chain_diagram(RUN.summary(), lang)]

    def at(row, column):
        return grid[row][column] if 0 <= row < len(grid) and column < len(grid[row]) else " "

    for row, line in enumerate(grid):
        for column, letter in enumerate(line):
            if letter in "┐┤┬│├":
                assert at(row + 1, column) in "│┤┴┘└├", (row, column)
            if letter in "┘┤┴│├└":
                assert at(row - 1, column) in "│┤┬┐┌├", (row, column)


def test_a_run_of_foreign_metrics_has_no_chain():
    assert chain_diagram(Run.from_scores([ok("a", 1.0, "my_own")]).summary(), "en") == []


def test_a_name_too_long_for_the_chain_is_cut_but_its_numbers_are_not():
    name = "faithfulness(" + "x" * 60 + "=1)"
    line = next(
        line for line in chain_diagram(Run.from_scores([ok("a", 0.5, name), ok("a", 1, "context_recall")]).summary(), "en") if "…" in line
    )
    assert "0.500 1/1" in line


# ------------------------------------------------------------------ numbers, slices, lowest scores
@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (1, "1.000"), (0, "0.000"), (0.9999, "0.999"), (0.0001, "0.001"), (2 / 3, "0.667"), (0.5, "0.500")]
)
def test_rounding_makes_nothing_perfect(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(("share", "shown"), [(None, "–"), (1.0, "100.0%"), (0.99996, "99.9%"), (0.95, "95.0%"), (0.0, "0.0%")])
def test_a_share_is_whole_only_if_it_is(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("metric", "en", "zh"),
    [
        ("faithfulness", "faithfulness", "忠实度"),
        ("answer_relevancy(strictness=1)", "answer_relevancy(strictness=1)", "答案相关性(strictness=1)"),
        ("my[red]own", "my[red]own", "my[red]own"),
    ],
)
def test_metric_label(metric, en, zh):
    assert (metric_label(metric, "en"), metric_label(metric, "zh")) == (en, zh)


def test_many_metrics_take_several_slice_tables():
    samples = [{"id": str(i), "meta": {"k": i % 2}} for i in range(12)]
    rows = [ok(str(i), 0.5, f"metric_number_{m}") for i in range(12) for m in range(7)]
    lines = slice_table(Run.from_scores(rows, samples).summary(by="k").slices, "en")
    assert sum(line.startswith("by k") for line in lines) > 1
    assert all(width(line) <= 80 for line in lines)
    assert sum("0.500 6/6 (0." in line for line in lines) > 0
    assert "* fewer" not in "\n".join(lines)
    assert "In brackets: the interval." in "\n".join(lines)


def test_slices_without_a_metric_show_a_dash():
    samples = [{"id": name, "meta": {"k": name}} for name in "ab"]
    lines = slice_table(Run.from_scores([ok("a", 1.0), ok("b", 1.0, "other")], samples).summary(by="k").slices, "en")
    assert any(line.split() == ["a", "*", "1", "1.000", "1/1", "–"] for line in lines)
    assert "fewer than 5" in lines[-1]
    assert "In brackets" not in "\n".join(lines), "there is no interval"


def test_perfect_scores_are_no_worst_ones():
    assert worst_list(Run.from_scores([ok("a", 1.0)]).summary().worst, "en", 10) == ["No score below 1."]
    assert worst_list((), "en", 0) == []


def test_a_mean_that_covers_too_little_has_no_level():
    def level(**limit):
        summary = Run.from_scores([ok("a", 1.0), failed("b")]).summary(**limit)
        (row,) = [line for line in summary_table(summary, "en").split("\n") if line.startswith("faithfulness ")]
        assert summary.metrics[0].level == "high", "documents keep it"
        return row.split()[-1]

    assert level() == level(min_coverage=0.51) == "–"
    assert level(min_coverage=0.5) == "high"


REASONS_SEEN = ["contexts_missing", "missing:reference", "verdicts 3/6", "collect:timeout", "timeout", "my_own"]


@pytest.mark.parametrize(
    ("lang", "meanings"),
    [
        ("en", ["the row has no contexts", "the row lacks", "left some", "collecting the row", "in time"]),
        ("zh", ["该行没有检索片段", "该行缺少", "漏掉", "采集该行", "未按时"]),
    ],
)
def test_a_reason_is_explained_where_it_stands_first_and_an_unknown_one_is_bare(lang, meanings):
    metrics = ("faithfulness", "context_recall")
    rows = [{**failed(str(i), metric), "reason": reason} for i, reason in enumerate(REASONS_SEEN) for metric in metrics]
    lines = summary_table(Run.from_scores(rows).summary(), lang).split("\n")
    text = "".join("".join(lines).split())  # a line may break anywhere
    assert [text.count("".join(meaning.split())) for meaning in meanings] == [1] * len(meanings)
    assert text.count("my_own1") == 2
    assert not re.search(r"my_own1[(（]", text)
    assert all(width(line) <= 80 for line in lines)


@LANGUAGES
def test_every_known_reason_has_a_meaning(lang):
    rows = [{**failed(word), "reason": word} for word in REASONS]
    text = "".join(summary_table(Run.from_scores(rows).summary(), lang).split())
    assert [word for word in REASONS if not re.search(rf"{word}1[(（]", text)] == []


@pytest.mark.parametrize(
    ("ci", "shown"),
    [((-0.2, 0.3), "0.000–0.300"), ((0.9, 1.04), "0.900–1.000"), ((0.0004, 0.9999), "0.001–0.999"), (None, "–")],
)
def test_an_interval_is_cut_off_where_no_mean_can_lie(ci, shown):
    metric = dataclasses.replace(RUN.summary().metrics[4], ci=ci and Interval(*ci, 0.95, "t"))
    assert interval(metric) == shown
    assert f" {shown} " in metric_table([metric], "en")[2]


def test_failed_cells_have_their_bounds_below_the_table():
    text = summary_table(Run.from_scores([ok("a", 1.0), failed("b"), ok("a", 0.5, "other")]).summary(), "en")
    assert "If every failed cell were 0, or 1, the mean would be: faithfulness 0.500–1.000." in " ".join(text.split())
    assert "If every failed cell" not in summary_table(Run.from_scores([ok("a", 1.0)]).summary(), "en")


def test_low_coverage_is_told_with_its_reasons():
    text = " ".join(summary_table(Run.from_scores([ok("a", 1.0), failed("b")]).summary(), "en").split())
    assert "! incomplete: coverage below 95.0%: faithfulness 50.0%." in text
    assert "faithfulness: timeout 1" in text
