"""What the table of kinds says of severities is what checks give."""

import pytest
from checks.planted import PLANTS, planted

import ragstone
from ragstone.checks.kinds import KINDS
from ragstone.shown.check_page import kinds_table

OTHERS = {
    "missing_reference": [{"question": "谁来管理档案？"}],
    "no_answer_reference": [{"question": "谁来管理档案？", "reference": "知识库中没有相关信息。"}],
    "empty_points": [{"question": "谁来管理档案？", "reference_points": ["由行政专员管理", "——"]}],
    "mojibake": [{"question": "谁来管理档案？", "reference": "Itâ€™s the clerk."}],
    "control_characters": [
        {"question": "谁来\u200b管理档案？", "reference": "行政专员。"},
        {"question": "谁来保管公章？", "reference": "总\u200b经理。"},
    ],
    "personal_data": [
        {"question": "怎么找张工？", "reference": "拨打 13912340678。"},
        {"question": "总机是多少？", "reference": "拨打 010-62781234。"},
    ],
}
"""Kind -> rows that give it in every severity."""
CASES = [(kind, planted(lang, kind)) for lang, plants in PLANTS.items() for kind in plants]
CASES += [(kind, [*planted("zh", "giveaway"), *({"id": f"x{i}"} | row for i, row in enumerate(rows))]) for kind, rows in OTHERS.items()]


@pytest.mark.parametrize(("kind", "rows"), CASES, ids=[f"{i}-{kind}" for i, (kind, _) in enumerate(CASES)])
def test_a_kind_comes_with_the_severities_of_the_table_and_no_other(kind, rows):
    findings = ragstone.check(rows).findings
    assert {f.severity for f in findings if f.kind == kind} == set(KINDS[kind])
    assert all(f.severity in KINDS[f.kind] for f in findings)


@pytest.mark.parametrize(("lang", "named"), [("en", "error warning note"), ("zh", "错误 警告 提示")])
def test_the_table_names_them(lang, named):
    words = dict(zip(("error", "warning", "note"), named.split(), strict=True))
    rows = dict(line.strip("| ").split(" | ")[:2] for line in kinds_table(lang).splitlines()[2:])
    comma = "，" if lang == "zh" else ", "
    assert rows == {f"`{kind}`": comma.join(words[severity] for severity in severities) for kind, severities in KINDS.items()}
