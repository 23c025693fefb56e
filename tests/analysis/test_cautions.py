"""What a reader of a comparison must not overlook."""

import pytest
from support.two_runs import document, row, rows


def codes(found):
    return [warning["code"] for warning in found["warnings"]]


def test_the_same_answers_measured_in_another_way_are_no_judge_noise():
    samples = [{"id": f"q{i:02}", "answer": "a", "contexts": []} for i in range(8)]
    more = {"base_samples": samples, "new_samples": samples, "base_manifest": {"signature": "a"}, "new_manifest": {"signature": "b"}}
    found = document(rows([0.5] * 8), rows([0.6] * 8), **more)
    assert {"measuring_alone", "signature_differs"} <= set(codes(found))
    assert "judge_noise_alone" not in codes(found)


@pytest.mark.parametrize(
    ("base", "new", "low"),
    [
        (10, 10, False),
        (10, 9, False),
        (10, 8, True),
        (9, 10, False),
        (8, 10, True),
    ],
)
def test_fewer_than_nine_in_ten_pairs(base, new, low):
    assert ("coverage_low" in codes(document(rows([0.5] * base), rows([0.5] * new)))) == low


def test_other_questions_are_counted_by_kind():
    base, new = rows(dict.fromkeys("abcd", 0.5)), rows(dict.fromkeys("bcdef", 0.5))
    samples = [[{"id": "b", "question": said}] for said in "xy"]
    fingerprints = {"base_manifest": {"gold_fingerprint": "1"}, "new_manifest": {"gold_fingerprint": "2"}}
    found = document(base, new, base_samples=samples[0], new_samples=samples[1], **fingerprints)
    (text,) = [w["text"] for w in found["warnings"] if w["code"] == "gold_differs"]
    assert "1 only in the base run, 2 only in the new one, 1 with another question" in text


@pytest.mark.parametrize(("held", "words"), [(True, "in something else than ids, questions and references"), (False, "cannot be seen")])
def test_other_fingerprints_with_the_same_questions(held, words):
    fingerprints = {"base_manifest": {"gold_fingerprint": "1"}, "new_manifest": {"gold_fingerprint": "2"}}
    told = dict.fromkeys(("base_samples", "new_samples"), [{"id": "q00", "question": "How many?"}] if held else None)
    (text,) = [w["text"] for w in document(rows([0.5]), rows([0.5]), **fingerprints, **told)["warnings"] if w["code"] == "gold_differs"]
    assert "fingerprints 1 and 2" in text
    assert words in text
    assert "gold_differs" not in codes(document(rows([0.5]), rows([0.5])))


@pytest.mark.parametrize(
    ("failed", "told"),
    [(0, 0), (1, 1), (2, 2)],
)
def test_failed_cells_are_told_by_metric(failed, told):
    found = document(rows([0.5] * 10), rows(["timeout"] * failed + [0.5] * (10 - failed)))
    assert codes(found).count("coverage_low") == told


def test_not_applicable_cells_are_no_low_coverage():
    assert codes(document(rows([0.5] * 10), rows([None] * 5 + [0.5] * 5))) == ["signature_unknown", "judge_noise_unknown"]


def test_two_points_of_coverage_are_no_difference():
    assert "coverage_low" not in codes(document(rows([0.5] * 50), rows(["timeout"] + [0.5] * 49)))


def test_what_a_run_itself_has_to_tell_is_told_with_its_side():
    found = document([*rows([0.5] * 6)], [*rows([0.5] * 6)], new_samples=[{"question": "no id"}])
    (text,) = [w["text"] for w in found["warnings"] if w["code"] == "sample_without_id"]
    assert text.startswith("new run: ")


def test_rows_that_others_replace_are_told():
    found = document([*rows([0.5] * 6), row("q00", 0.7)], rows([0.5] * 6))
    (text,) = [w["text"] for w in found["warnings"] if w["code"] == "cells_doubled"]
    assert text.startswith("base run: 1 row")


def test_several_answers_to_a_question_are_told_where_they_are_not_taken_together():
    samples = [{"id": f"q{i // 2}#{i % 2}", "meta": {"question_id": f"q{i // 2}"}} for i in range(8)]
    scores = [{**row, "sample_id": sample["id"]} for row, sample in zip(rows([0.5] * 8), samples, strict=True)]
    found = document(scores, scores, base_samples=samples, new_samples=samples)
    assert [w["text"].split(" ")[0] for w in found["warnings"] if w["code"] == "repeats_unclustered"] == ["4"]
    assert "repeats_unclustered" not in codes(document(scores, scores, cluster="question_id", base_samples=samples))


def test_samples_without_a_cluster_and_intervals_without_clusters_are_told():
    samples = [{"id": f"q{i:02}", "meta": {"doc": i % 2} if i < 6 else {}} for i in range(8)]
    base, new = rows([0.5] * 8), rows([0.6, 0.7] * 4)
    assert "cluster_missing" in codes(document(base, new, cluster="doc", base_samples=samples))
    assert "cluster_unused" not in codes(document(base, new, cluster="doc", base_samples=samples))
    assert "cluster_unused" in codes(document(base, new, cluster="doc", ci="t", base_samples=samples))
