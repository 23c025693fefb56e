"""What may not change a number: the order of rows and of runs, the language, cells that do not apply, the same pair counted twice."""

import json
import random

import pytest
from support.histories import claim_row
from support.twins import names, run, samples, scores
from support.two_runs import write

from ragstone import Run, compare, diagnose, gate
from ragstone.cli.app import run as command

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def drawn(seed, n=40, steps=None):
    """Scores in thirds and halves, as claims give them, or in other steps; a run and a later one that has half of them anew."""
    source = random.Random(seed)
    old = [source.choice(steps or (0, 1 / 3, 1 / 2, 2 / 3, 1, 1)) for _ in range(n)]
    return old, [source.choice(steps or (0, 1 / 2, 2 / 3, 1, 1)) if source.random() < 0.5 else value for value in old]


SHAPES = {
    "thirds and halves": drawn(1),
    "yes and no": drawn(2, steps=(0, 1)),
    "smooth": drawn(3, steps=[i / 997 for i in range(998)]),
    "few differ": ([0.5] * 40, [*[0.5] * 36, 0.0, 1.0, 1.0, 0.8]),
    "near the ceiling": ([1.0] * 40, [*[1.0] * 39, 0.25]),
    "even gain": ([0.50, 0.88] * 20, [0.52, 0.92] * 20),
}
METHODS = (None, "t", "bounded", "bca", "bootstrap_t")


def numbers(comparison, *without):
    """The document without texts, and without the keys named."""

    def plain(part):
        if isinstance(part, dict):
            return {key: plain(value) for key, value in part.items() if key not in ("text", *without)}
        return [plain(one) for one in part] if isinstance(part, list) else part

    return plain(comparison.to_dict("en"))


def near(one, other):
    """Equal but for the last digits of a sum in another order."""
    assert json.loads(json.dumps(one), parse_float=lambda x: round(float(x), 12)) == json.loads(
        json.dumps(other), parse_float=lambda x: round(float(x), 12)
    )


# ------------------------------------------------------------------ swapped
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_two_runs_the_other_way_round_mirror_every_number(shape, method):
    base, new = (run("zh", values) for values in SHAPES[shape])
    (there,), (back,) = compare(base, new, ci=method).metrics, compare(new, base, ci=method).metrics
    assert back.difference == pytest.approx(-there.difference, abs=1e-12)
    assert (back.wins, back.ties, back.losses) == (there.losses, there.ties, there.wins)
    assert (back.base_mean, back.new_mean, back.sd) == (there.new_mean, there.base_mean, pytest.approx(there.sd, abs=1e-12))
    assert (back.chance.method, back.chance.p) == (there.chance.method, pytest.approx(there.chance.p, abs=1e-12))
    assert (back.needed_n, back.detectable) == (there.needed_n, pytest.approx(there.detectable))
    assert back.bounds == (pytest.approx(-there.bounds[1]), pytest.approx(-there.bounds[0]))
    mirror = {"better": "worse", "worse": "better"}
    assert back.verdict == mirror.get(there.verdict, there.verdict)
    # drawn ends may miss the mirror image by what another seed would change
    by = 1e-12 if there.ci.method == "t" else 0.25 * (there.ci.high - there.ci.low)
    assert (back.ci.low, back.ci.high) == (pytest.approx(-there.ci.high, abs=by), pytest.approx(-there.ci.low, abs=by))


@LANGUAGES
def test_failed_cells_and_missing_rows_change_sides_with_the_runs(lang):
    base, new = run(lang, ["timeout", 0.5, *[0.5] * 8]), run(lang, [0.5, "timeout", *[0.75] * 6])
    there, back = compare(base, new).to_dict("en"), compare(new, base).to_dict("en")
    assert (there["pairs"]["only_base"], there["pairs"]["only_new"]) == (back["pairs"]["only_new"], back["pairs"]["only_base"])
    assert [left["why"] for left in there["metrics"][0]["left_out"]] == ["failed_base", "failed_new"]
    assert [left["why"] for left in back["metrics"][0]["left_out"]] == ["failed_new", "failed_base"]
    ends = there["metrics"][0]["bounds"]
    assert back["metrics"][0]["bounds"] == {"low": pytest.approx(-ends["high"]), "high": pytest.approx(-ends["low"])}


# ------------------------------------------------------------------ counted twice
@pytest.mark.parametrize("shape", SHAPES)
def test_every_pair_twice_as_a_cluster_makes_nothing_surer(shape):
    def doubled(values):
        many = [value for value in values for _ in range(2)]
        return run("en", many, meta=lambda i: {"document": f"d{i // 2}"})

    single, double = ([side(values) for values in SHAPES[shape]] for side in (lambda v: run("en", v), doubled))
    (once,), (twice,), (naive,) = (
        compare(*single, ci="t").metrics,
        compare(*double, cluster="document").metrics,
        compare(*double, ci="t").metrics,
    )
    assert twice.ci.method == "cluster_t"
    assert twice.ci.high - twice.ci.low >= (once.ci.high - once.ci.low) * (1 - 1e-9)
    assert twice.ci.high - twice.ci.low >= naive.ci.high - naive.ci.low
    assert twice.difference == pytest.approx(once.difference, abs=1e-12)
    # a drawn p may miss by four of its errors
    assert twice.chance.p == pytest.approx(once.chance.p, abs=4 * (once.chance.p / 9999) ** 0.5 if once.chance.resamples else 1e-12)
    shown_once, shown_twice = single[0].summary(ci="t").metrics[0], double[0].summary(cluster="document").metrics[0]
    assert shown_twice.ci.high - shown_twice.ci.low >= (shown_once.ci.high - shown_once.ci.low) * (1 - 1e-9)


def test_everything_in_one_cluster_is_one_observation():
    sides = [run("zh", values, meta=lambda i: {"document": "d"}) for values in SHAPES["even gain"]]
    (found,) = compare(*sides, cluster="document").metrics
    assert (found.ci, found.verdict, found.chance.p) == (None, "cannot_tell", 1.0)


# ------------------------------------------------------------------ cells that do not apply
@LANGUAGES
def test_cells_that_do_not_apply_change_no_number(lang):
    base, new = SHAPES["thirds and halves"]
    plain = compare(run(lang, base), run(lang, new))
    more = compare(run(lang, [*base, *[None] * 20]), run(lang, [*new, *[None] * 20]))
    assert [left for left, _ in more.metrics[0].left_out] == names(lang, range(40, 60))
    near(numbers(more, "left_out", "pairs"), numbers(plain, "left_out", "pairs"))
    for values in (base, new):
        (few,), (many,) = (run(lang, held).summary().metrics for held in (values, [*values, *[None] * 20]))
        assert (many.total, many.not_applicable, many.coverage) == (few.total + 20, 20, few.coverage)
        assert (many.mean, many.ci, many.histogram, many.bounds, many.level) == (few.mean, few.ci, few.histogram, few.bounds, few.level)
    assert gate(run(lang, [*new, *[None] * 20]), run(lang, [*base, *[None] * 20])).passed == gate(run(lang, new), run(lang, base)).passed


# ------------------------------------------------------------------ order
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_new_runs_rows_changes_not_a_byte(shape, method):
    (base, new), order = SHAPES[shape], list(range(40))
    random.Random(5).shuffle(order)
    told = samples("zh", range(40), ("pay", "leave"))
    first = Run.from_scores(scores("zh", base), told)
    rows = scores("zh", new)
    straight, mixed = Run.from_scores(rows, told), Run.from_scores([rows[i] for i in order], [told[i] for i in reversed(order)])
    one, other = (compare(first, side, by="category", ci=method).to_dict("zh") for side in (straight, mixed))
    assert json.dumps(one, ensure_ascii=False) == json.dumps(other, ensure_ascii=False)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_of_both_runs_rows_changes_only_the_order_of_lists(shape):
    (base, new), order = SHAPES[shape], list(range(45))
    random.Random(6).shuffle(order)
    told = samples("en", range(45), ("pay", "leave"))
    sides = [scores("en", [*values, *["timeout"] * 5]) for values in (base, new)]
    straight = compare(*(Run.from_scores(rows, told) for rows in sides), by="category")
    mixed = compare(*(Run.from_scores([rows[i] for i in order], [told[i] for i in order]) for rows in sides), by="category")
    near(numbers(straight, "left_out", "slices"), numbers(mixed, "left_out", "slices"))
    assert sorted(straight.metrics[0].left_out) == sorted(mixed.metrics[0].left_out)
    by_value = [{part.value: [m.to_dict() | {"left_out": 0} for m in part.metrics] for part in found.slices} for found in (straight, mixed)]
    assert sorted(by_value[0]) == sorted(by_value[1])
    for value in by_value[0]:
        near(by_value[0][value], by_value[1][value])


def test_the_order_of_rows_changes_no_number_of_show_and_diagnose():
    rows, told, order = scores("zh", SHAPES["thirds and halves"][0]), samples("zh", range(40), ("pay", "leave")), list(range(40))
    random.Random(7).shuffle(order)
    straight, mixed = Run.from_scores(rows, told), Run.from_scores([rows[i] for i in order], [told[i] for i in order])
    near(straight.summary(worst=0).to_dict()["metrics"], mixed.summary(worst=0).to_dict()["metrics"])
    near(
        *(
            {key: diagnose(side).to_dict("en")[key] for key in ("lost", "unattributed", "quadrants", "diagnosed")}
            for side in (straight, mixed)
        )
    )


def test_other_ids_change_no_number():
    base, new = SHAPES["thirds and halves"]
    one, other = (compare(run(lang, base), run(lang, new)) for lang in ("en", "zh"))
    assert numbers(one) == numbers(other)


# ------------------------------------------------------------------ language
COMMANDS = {
    "show": ["show", "NEW", "--by", "category", "--json"],
    "compare": ["compare", "BASE", "NEW", "--by", "category", "--json"],
    "diagnose": ["diagnose", "NEW", "--by", "category", "--json"],
    "gate": ["gate", "NEW", "--baseline", "BASE", "--json"],
    "plan": ["plan", "--from", "BASE", "NEW", "--gap", "0.05", "--json"],
    "history": ["history", "DIR", "--json"],
}


SENTENCES = ("text", "looks", "means", "do", "remedies", "notice")


def without_sentences(part):
    """A document without what stands in the language of the screen."""
    if isinstance(part, dict):
        return {key: without_sentences(value) for key, value in part.items() if key not in SENTENCES}
    return [without_sentences(one) for one in part] if isinstance(part, list | tuple) else part


@pytest.mark.parametrize("name", COMMANDS)
def test_the_language_of_the_screen_changes_no_number(name, tmp_path, capfd, monkeypatch):
    ids, told = names("zh", range(40)), samples("zh", range(40), ("pay", "leave"))
    for side, values, marks in zip(("BASE", "NEW"), SHAPES["smooth"], ("++-", "+-+"), strict=True):
        rows = [*scores("zh", [*values[:38], "timeout", None]), *(claim_row(id, marks) for id in ids)]
        write(tmp_path / side, rows, told, {"gold_fingerprint": "g"})
    places = {"BASE": str(tmp_path / "BASE"), "NEW": str(tmp_path / "NEW"), "DIR": str(tmp_path)}
    args, found = [places.get(arg, arg) for arg in COMMANDS[name]], []
    for lang in ("en", "zh"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = command(args, lang, {})
        found.append({"code": code, **json.loads(capfd.readouterr().out)})
    assert found[0]["code"] in (0, 1)
    assert without_sentences(found[0]) == without_sentences(found[1])
    assert (found[0] != found[1]) == (name != "show")  # which tells codes and numbers, no sentences


@pytest.mark.parametrize("shape", SHAPES)
def test_show_and_compare_give_the_same_means_to_the_last_bit(shape):
    sides = [run("zh", values) for values in SHAPES[shape]]
    (found,) = compare(*sides).metrics
    assert (found.base_mean, found.new_mean) == tuple(side.summary().metrics[0].mean for side in sides)
