"""Groups, variants and size."""

import pytest
from support.checking import found


def rows(count, **columns):
    made = []
    for i in range(count):
        row = {"id": f"q{i}", "question": f"第 {i} 条规定是怎么说的？", "reference": f"按第 {i} 条办理。"}
        made.append(row | {name: value(i) for name, value in columns.items()})
    return made


def test_a_category_far_larger_than_the_others_and_small_ones():
    (finding,) = found(rows(60, category=lambda i: "leave" if i < 48 else f"c{i % 3}"), "imbalance")
    assert (finding.column, finding.severity, finding.id) == ("meta.category", "note", None)
    assert "48 of 60" in finding.text("en")
    (finding,) = found(rows(40, category=lambda i: "abc"[i % 3] if i < 38 else "d"), "imbalance")
    assert "d (2)" in finding.text("zh")


def test_even_categories_numbers_and_remarks_are_not_told():
    assert found(rows(40, category=lambda i: "abcd"[i % 4], page=lambda i: i, note=lambda i: f"remark {i}"), "imbalance") == []


def test_few_rows_of_a_behaviour():
    (finding,) = found(rows(30, expected_behavior=lambda i: "refuse" if i < 2 else "answer"), "imbalance")
    assert "refuse (2)" in finding.text("en")
    assert finding.column == "expected_behavior"


def test_a_set_of_one_behaviour_and_a_small_set_are_not_told():
    assert found(rows(30), "imbalance") == []
    assert found(rows(10, expected_behavior=lambda i: "refuse" if i < 2 else "answer"), "imbalance") == []


def variants():
    made = rows(40)
    for i in range(10, 40):
        made[i]["variant_of"] = f"q{i % 10}"
    return made


def repeats():
    return [{**row, "id": f"{row['id']}#{n}", "question_id": row["id"]} for row in rows(4) for n in range(3)]


def test_variants_are_counted_and_cluster_is_named():
    (finding,) = found(variants(), "variants_unclustered")
    assert "30 rows, of 10 questions" in finding.text("en")
    assert "Originals without variant_of: 10" in finding.text("en")
    assert "--cluster variant_of" in finding.fix("zh")
    assert found(variants(), "variants_unclustered", cluster="variant_of") == []


def test_a_variant_of_a_row_that_is_not_there():
    made = variants()
    made[39]["variant_of"] = "q99"
    warnings = [f for f in found(made, "variants_unclustered") if f.severity == "warning"]
    assert [(f.row, f.id) for f in warnings] == [(40, "q39")]


def test_a_label_shared_by_rows_needs_no_row_of_that_name():
    labelled = rows(40, variant_of=lambda i: f"group-{i // 4}")
    assert {f.severity for f in found(labelled, "variants_unclustered")} == {"note"}


@pytest.mark.parametrize(
    ("made", "count", "severity"),
    [
        (rows(25), "Rows: 25", "warning"),
        (rows(40), "Rows: 40", "note"),
        (variants(), "Questions: 10 ", "warning"),
        (repeats(), "Questions: 4 (12 rows, those of one question_id", "warning"),
    ],
)
def test_how_much_the_rows_can_show(made, count, severity):
    (finding,) = found(made, "too_few")
    assert count in finding.text("en")
    assert (finding.severity, finding.values["first"], finding.values["second"]) == (severity, 199, 548)


def test_a_set_that_is_large_enough_is_not_told():
    assert found(rows(548), "too_few") == []
