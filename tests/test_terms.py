import pytest

from ragstone import ConfigError, Run
from ragstone.analysis.levels import Levels
from ragstone.analysis.slices import SampleFacts
from ragstone.analysis.summary import Terms
from ragstone.terms import check_cluster, terms_of, unknown_key

ROWS = [{"sample_id": name, "metric": "faithfulness", "value": 0.5, "status": "ok"} for name in "ab"]


@pytest.fixture(params=["en", "zh"])
def lang(request, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", request.param)
    return request.param


@pytest.mark.parametrize(
    ("wanted", "en", "zh"),
    [
        (
            {"ci": "bca2"},
            'no interval "bca2" (there are: t, bounded, bca, bootstrap_t, cluster_t); did you mean bca?',
            "没有名为“bca2”的区间算法",
        ),
        ({"ci": "wald"}, 'no interval "wald" (there are: t, bounded', "没有名为“wald”的区间算法（可用的有"),
        ({"ci": "cluster_t"}, "--cluster KEY", "--cluster KEY"),
        ({"confidence": 95}, "confidence is 95", "confidence 为 95"),
        ({"confidence": 1.0}, "between 0 and 1", "介于 0 与 1 之间"),
        ({"seed": -1}, "seed is -1", "seed 为 -1"),
        ({"cluster": "doc"}, "holds no samples.jsonl", "没有 samples.jsonl"),
    ],
)
def test_what_cannot_be_had_is_refused(lang, wanted, en, zh):
    with pytest.raises(ConfigError) as refused:
        Run.from_scores(ROWS).summary(**wanted)
    assert {"en": en, "zh": zh}[lang] in str(refused.value)


def test_a_key_that_no_sample_has_is_no_cluster(lang):
    facts = SampleFacts(cluster="dok")
    facts.add(0, {"meta": {"doc": 1, "dok": None}, "language": "en"})
    with pytest.raises(ConfigError) as refused:
        check_cluster(facts)
    assert {"en": 'no sample has "dok"', "zh": "没有样本带有“dok”"}[lang] in str(refused.value)
    assert "doc, language" in str(refused.value)
    facts.add(1, {"meta": {"dok": 1}})
    check_cluster(facts)


def test_what_can_be_had_is_taken():
    assert terms_of() == Terms()
    assert terms_of("cluster_t", "doc", 0.9, 7, Levels(0.9)) == Terms(ci="cluster_t", confidence=0.9, seed=7, levels=Levels(0.9))
    check_cluster(SampleFacts())


def test_a_key_to_slice_by_that_there_is_not_is_a_notice():
    assert str(unknown_key("a", ["b", "c"])) == "key_unknown: key=a, known=b, c"
    assert str(unknown_key("a", [])) == "keys_missing: key=a"
