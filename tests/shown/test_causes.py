import re
from pathlib import Path

import pytest

from ragstone.analysis.causes import CAUSES, LostClaim, Points
from ragstone.analysis.sums import CauseSum
from ragstone.shown.causes import cause_dict, cause_meaning, cause_name, claim_dict, remedies


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_a_name_a_meaning_and_two_to_four_remedies(cause, lang):
    assert cause_name(cause, lang) != cause
    assert cause_meaning(cause, lang).endswith(("。", "."))
    found = remedies(cause, lang)
    assert 2 <= len(found) <= 4
    assert all(step == step.strip() and step.endswith(("。", ".")) for step in found)
    assert len(found) == len(remedies(cause, "en" if lang == "zh" else "zh"))


def test_names_tell_the_causes_apart():
    for lang in ("zh", "en"):
        assert len({cause_name(cause, lang) for cause in CAUSES} | {cause_name("refused", lang, expected=True)}) == len(CAUSES) + 1


def test_an_expected_refusal_asks_for_nothing():
    assert len(remedies("refused", "en", expected=True)) == 1
    one = CauseSum("refused", ("s1",), 2, Points(0.0, 0.5))
    assert cause_dict(one, "en", {"yes": 1})["remedies"] == remedies("refused", "en", expected=True)
    assert cause_dict(one, "en", {"yes": 1, "no": 1})["remedies"] == remedies("refused", "en")


def test_the_objects_of_the_document():
    one = CauseSum("made_up", ("s1", "s2"), 3, Points(0.25, 0.5))
    assert cause_dict(one, "zh") == {
        "cause": "made_up",
        "samples": 2,
        "claims": 3,
        "points": {"faithfulness": 0.25, "answer_correctness": 0.5, "total": 0.75},
        "sample_ids": ["s1", "s2"],
        "remedies": remedies("made_up", "zh"),
    }
    assert claim_dict(LostClaim("refused", "r1", "text", ("c2",), "no", Points(0.0, 0.5))) == {
        "cause": "refused",
        "claim": "r1",
        "text": "text",
        "evidence": ["c2"],
        "expected": "no",
        "points": {"faithfulness": 0.0, "answer_correctness": 0.5, "total": 0.5},
    }


@pytest.mark.parametrize("page", ["diagnose.md", "zh/diagnose.md"])
def test_the_documentation_names_every_cause_in_its_order(page):
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)`[^|]*\|", text, re.MULTILINE) == list(CAUSES)
