"""`ragstone.compare` and what it returns: the document, options, and bad input in words."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.two_runs import compared, document, row, rows, write

import ragstone
from ragstone.cli.blocks import COLUMNS, screen
from ragstone.cli.width import width
from ragstone.errors import ConfigError, RagstoneError, RunFolderError

KEYS = {"base", "new", "pairs", "family", "alpha", "seed", "resamples", "metrics", "slices", "claims", "warnings"}
META = [{"id": f"q{i:02}", "meta": {"doc": i % 3, "kind": "x"}} for i in range(8)]


def test_the_keys_of_the_document():
    found = document(rows([0.5] * 8), rows([0.6] * 8), by="doc", base_samples=META)
    assert set(found) == KEYS
    assert set(found["base"]) == {"path", "run_id", "signature", "created_at", "gold_fingerprint", "notice"}
    assert set(found["claims"]) == {"gained", "lost", "newly_contradicted", "newly_unsupported"}
    assert set(found["slices"][0]) == {"key", "value", "small", "metrics"}
    assert set(found["slices"][0]["metrics"][0]) == set(found["metrics"][0])
    assert set(found["warnings"][0]) == {"code", "text"}


def test_texts_in_the_language_asked_for(monkeypatch):
    found = compared(rows([0.5] * 8), rows([0.6] * 8))
    assert "变好" in found.to_dict("zh")["metrics"][0]["text"]
    assert "better" in found.to_dict("en")["metrics"][0]["text"]
    monkeypatch.setenv("RAGSTONE_LANG", "zh")
    assert found.to_dict() == found.to_dict("zh")


def test_folders_and_runs_are_the_same(tmp_path):
    base = write(tmp_path / "a", rows([0.5] * 8))
    new = write(tmp_path / "b", rows([0.6] * 8))
    one, two = ragstone.compare(base, str(new)), ragstone.compare(ragstone.load(base), ragstone.load(new))
    assert one.to_dict("en") == two.to_dict("en")
    assert one.to_dict()["base"]["path"] == str(base)


def test_a_run_beside_itself_is_told(tmp_path):
    folder = write(tmp_path / "a", rows([0.5] * 8))
    found = ragstone.compare(folder, folder).to_dict("en")
    assert found["warnings"][0]["code"] == "same_run"
    assert found["metrics"][0]["verdict"] == "identical"


def test_a_smoke_test_says_so_first():
    found = document(rows([0.5] * 8), rows([0.6] * 8), new_manifest={"judge": {"model": "local", "endpoint": "local"}})
    assert found["warnings"][0]["code"] == "smoke_test"
    assert found["new"]["notice"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metrics": "faithfulnes"}, 'has a metric "faithfulnes"; the nearest: faithfulness'),
        ({"metrics": ["x"]}, '"x"; the nearest: faithfulness'),
        ({"cluster": "doz"}, '"doz", so it cannot say.*doc, kind'),
        ({"alpha": 0}, "alpha is 0"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"alpha": 1e-17}, "alpha is 1e-17"),
        ({"alpha": "0.05"}, "alpha is 0.05"),
        ({"alpha": None}, "alpha is None"),
        ({"margin": "1"}, "margin"),
        ({"margin": True}, "margin"),
        ({"seed": 2**64}, "seed is"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"seed": None}, "seed is None"),
        ({"seed": True}, "seed is True"),
        ({"margin": 0}, "margin is 0"),
        ({"margin": -0.1}, "margin is -0.1"),
        ({"margin": float("nan")}, "margin is nan"),
        ({"ci": "exact"}, '"exact".*t, bounded, bca, bootstrap_t, cluster_t'),
        ({"ci": "cluster_t"}, "--cluster"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_is_wrong_is_named(options, text):
    with pytest.raises(ConfigError, match=text):
        compared(rows([0.5] * 8), rows([0.6] * 8), base_samples=META, **options)


def test_clusters_without_samples_are_refused():
    with pytest.raises(ConfigError, match=r"no samples\.jsonl"):
        compared(rows([0.5] * 8), rows([0.6] * 8), cluster="doc")


def test_no_common_id():
    base, new = rows({f"a{i}": 0.5 for i in range(40)}), rows({f"b{i}": 0.5 for i in range(38)})
    with pytest.raises(RunFolderError, match="0 of 40 ids match"):
        compared(base, new)
    samples = [[{"id": f"{side}{i}", "question": f"Q{i}"} for i in range(38)] for side in "ab"]
    with pytest.raises(RunFolderError, match="38 questions are the same under another id"):
        compared(base, new, base_samples=samples[0], new_samples=samples[1])


def test_all_changed():
    samples = [[{"id": "a", "question": said}] for said in "xy"]
    with pytest.raises(RunFolderError, match="1 of 1 ids match, but"):
        compared(rows({"a": 0.5}), rows({"a": 0.5}), base_samples=samples[0], new_samples=samples[1])


def test_no_common_metric():
    with pytest.raises(RunFolderError, match=r"BASE has: faithfulness\. NEW has: other"):
        compared(rows([0.5]), rows([0.5], "other"))
    with pytest.raises(RunFolderError, match="no such metric"):
        compared([*rows([0.5]), *rows([0.5], "x")], rows([0.5]), metrics="x")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_refusals_in_both_languages(language, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", language)
    with pytest.raises(RagstoneError) as caught:
        compared(rows({"a": 0.5}), rows({"b": 0.5}))
    assert ("个 id" in str(caught.value)) == (language == "zh")


BAD = {
    "all failed": (rows(["timeout"] * 8), rows(["timeout"] * 8)),
    "failed on one side": (rows([0.5] * 8), rows(["timeout"] * 8)),
    "none applicable": (rows([None] * 8), rows([None] * 8)),
    "one sample": (rows([0.5]), rows([0.6])),
    "one failed sample": (rows(["timeout"]), rows([0.6])),
    "constant": (rows([1.0] * 8), rows([1.0] * 8)),
    "constant and far apart": (rows([0.0] * 8), rows([1.0] * 8)),
    "no verdict lines": ([row("a", 0.5, verdicts=[])], [row("a", 0.5, verdicts=[{}, 3])]),
    "odd details": (
        [row("a", 0.5, "answer_correctness", detail={"f1": None, "cosine": "x"})],
        [row("a", 0.5, "answer_correctness", detail=7)],
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("options", [{}, {"ci": "bca"}, {"ci": "bootstrap_t"}, {"ci": "bounded"}, {"cluster": "doc", "by": "kind"}])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_bad_runs_are_words_and_no_nan(name, options, language):
    samples = META if "cluster" in options and name not in ("no verdict lines", "odd details") else None
    options = options if samples or "cluster" not in options else {}
    found = compared(*BAD[name], base_samples=samples, **options)
    text = json.dumps(found.to_dict(language), allow_nan=False) + found.to_markdown(language) + found._repr_html_()
    assert all(m["verdict"] in ("too_few", "identical", "better", "cannot_tell") for m in found.to_dict()["metrics"])
    assert not any(word in text for word in ("NaN", "nan%", "inf ", "None →"))


CELL = st.tuples(
    st.sampled_from("abcdefgh"),
    st.sampled_from(["faithfulness", "answer_correctness", "其他指标"]),
    st.sampled_from([0.0, 0.25, 1 / 3, 1.0, None, "timeout"]),
    st.integers(0, 2),
)
WORDS = st.lists(st.sampled_from(["supported", "not_found", "contradicted", "covered", "missing", 3]), max_size=3)


@st.composite
def any_run(draw):
    held = [row("a", 0.5, "faithfulness")]
    for name, metric, value, repeat in draw(st.lists(CELL, max_size=30)):
        lines = [{"text": f"t{i}", "verdict": word} for i, word in enumerate(draw(WORDS))]
        held.append(row(name, value, metric, repeat=repeat, verdicts=lines, detail={"f1": value, "cosine": draw(st.floats(-1, 1))}))
    return held, [
        {"id": name, "question": name, "meta": draw(st.sampled_from([{}, {"k": 1}, {"k": "x"}, {"k": [2]}]))} for name in "abcdefgh"
    ]


@settings(max_examples=60)
@given(any_run(), any_run(), st.sampled_from([{}, {"by": "k"}, {"margin": 0.1, "ci": "bounded"}]))
def test_any_two_runs_can_be_written_and_shown(base, new, options):
    found = compared(base[0], new[0], base_samples=base[1], new_samples=new[1], **options)
    for lang in ("en", "zh"):
        json.dumps(found.to_dict(lang), allow_nan=False)
        assert max(width(line) for line in screen(found.blocks(lang)).split("\n")) <= COLUMNS
    for metric in found.to_dict()["metrics"]:
        assert metric["wins"] + metric["ties"] + metric["losses"] == metric["n"]
        assert metric["verdict"] is None or (metric["verdict"] == "too_few") == (metric["n"] < 6)


@pytest.mark.parametrize(
    ("base", "new", "told"),
    [
        ("2026-03-02T10:00:00+00:00", "2026-03-01T10:00:00+00:00", True),
        ("2026-03-02T10:00:00Z", "2026-03-01T10:00:00Z", True),
        ("2026-03-01T10:00:00+00:00", "2026-03-02T10:00:00+00:00", False),
        ("2026-03-02T10:00:00+00:00", None, False),
        ("yesterday", "2026-03-01T10:00:00+00:00", False),
        (5, 3, False),
    ],
)
def test_a_base_that_was_made_later_is_told(base, new, told):
    found = compared(rows([0.5] * 8), rows([0.6] * 8), base_manifest={"created_at": base}, new_manifest={"created_at": new})
    assert ("base_is_newer" in [warning["code"] for warning in found.to_dict("zh")["warnings"]]) is told


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    run = ragstone.Run.from_scores([{"sample_id": f"q{i}", "metric": "m", "value": i / 10, "status": "ok"} for i in range(10)])
    found = ragstone.compare(run, run, seed=np.int64(3), alpha=np.float64(0.1), margin=np.float64(0.2))
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_dict() == ragstone.compare(run, run, seed=3, alpha=0.1, margin=0.2).to_dict()
