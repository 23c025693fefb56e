"""Each sign, read off one sample made up verdict by verdict."""

import pytest
from support.made_runs import one

from ragstone.analysis.signs import SIGNS

CLARIFY = {"expected_behavior": "clarify"}

CASES = [
    ("noise_first", {"chunks": "01"}, True),
    ("noise_first", {"chunks": "110"}, False),
    ("noise_first", {"chunks": "00"}, None),
    ("noise_behind", {"chunks": "1000"}, True),
    ("noise_behind", {"chunks": "0100"}, False),
    ("noise_behind", {"chunks": "110"}, False),
    ("nothing_useful", {"chunks": "000"}, True),
    ("nothing_useful", {"chunks": "001"}, False),
    ("nothing_useful", {"claims": "s"}, None),
    ("mostly_noise", {"chunks": "100"}, True),
    ("mostly_noise", {"chunks": "10"}, False),
    ("useful_last", {"chunks": "01", "recall": "sn"}, True),
    ("useful_last", {"chunks": "10", "recall": "sn"}, False),
    ("useful_last", {"chunks": "01", "recall": "s"}, None),
    ("few_chunks", {"chunks": "10", "recall": "n"}, True),
    ("few_chunks", {"chunks": "10000", "recall": "n"}, False),
    ("no_context", {"values": {"context_recall": 0.0}, "reason": "no_context"}, True),
    ("no_context", {"recall": "n"}, False),
    ("no_context", {"failed": {"context_recall": "timeout"}}, None),
    ("one_chunk", {"chunks": "1"}, True),
    ("one_chunk", {"chunks": "11"}, False),
    ("unsupported", {"claims": "sn"}, True),
    ("unsupported", {"claims": "ss"}, False),
    ("unsupported", {"values": {"faithfulness": 0.5}}, None),
    ("contradicted", {"claims": "sx"}, True),
    ("contradicted", {"claims": "sn"}, False),
    ("added", {"claims": "sn", "recall": "ss"}, True),
    ("added", {"claims": "sn", "recall": "sn"}, None),
    ("added", {"claims": "s", "recall": "s"}, False),
    ("not_fed", {"claims": "sn", "recall": "sn"}, True),
    ("not_fed", {"claims": "s", "recall": "n"}, False),
    ("not_fed", {"claims": "sn"}, None),
    ("nothing_covered", {"recall": "nx"}, True),
    ("nothing_covered", {"recall": "ns"}, False),
    ("partly_covered", {"recall": "sn"}, True),
    ("partly_covered", {"recall": "ss"}, False),
    ("partly_covered", {"recall": "nn"}, False),
    ("point_missing", {"points": "cm", "answer": "s"}, True),
    ("point_missing", {"points": "cc", "answer": "s"}, False),
    ("point_missing", {"points": "mm"}, None),
    ("point_missing", {"points": "mm", "answer": "n", "sample": CLARIFY}, None),
    ("fed_but_missing", {"points": "cm", "answer": "s", "recall": "ss"}, True),
    ("fed_but_missing", {"points": "cm", "answer": "s", "recall": "sn"}, False),
    ("reference_doubtful", {"claims": "ss", "answer": "sx", "points": "cm"}, True),
    ("reference_doubtful", {"claims": "sx", "answer": "sx", "points": "cm"}, False),
    ("refused", {"not_applicable": {"faithfulness": "no_claims"}}, True),
    ("refused", {"values": {"answer_correctness": 0.1}, "detail": {"flags": ["refusal"]}}, True),
    ("refused", {"claims": "s"}, False),
    ("refused", {"not_applicable": {"faithfulness": "no_claims"}, "sample": CLARIFY}, None),
    ("silent", {"not_applicable": {"faithfulness": "no_claims"}}, True),
    ("silent", {"claims": "s"}, False),
    ("silent", {"not_applicable": {"faithfulness": "no_claims"}, "sample": CLARIFY}, None),
    ("point_missing", {"points": "m", "answer": "x", "match": {"a1": ["r1"]}}, None),
    ("point_missing", {"points": "mm", "answer": "x", "match": {"a1": ["r1"]}}, True),
    ("off_question", {"cosines": [0.4], "sample": CLARIFY}, None),
    ("noncommittal", {"cosines": [0.4], "noncommittal": True, "sample": CLARIFY}, None),
    ("should_not_answer", {"claims": "s", "sample": CLARIFY}, True),
    ("should_not_answer", {"not_applicable": {"faithfulness": "no_claims"}, "sample": CLARIFY}, False),
    ("should_not_answer", {"claims": "s"}, None),
    ("off_question", {"cosines": [0.4]}, True),
    ("off_question", {"cosines": [0.6]}, False),
    ("noncommittal", {"cosines": [0.4, 0.4], "noncommittal": True}, True),
    ("noncommittal", {"cosines": [0.4]}, False),
    ("one_question", {"cosines": [0.4]}, True),
    ("one_question", {"cosines": [0.4, 0.5]}, False),
    ("wide_cosines", {"cosines": [0.2, 0.6]}, True),
    ("wide_cosines", {"cosines": [0.4, 0.45]}, False),
    ("wide_cosines", {"cosines": [0.9, 0.5]}, None),
    ("more_than_asked", {"cosines": [0.3], "answer": "snn", "points": "c"}, True),
    ("more_than_asked", {"cosines": [0.3], "answer": "sn", "points": "c"}, False),
    ("more_than_asked", {"cosines": [0.3], "noncommittal": True, "answer": "nn", "points": "m"}, None),
    ("poorly_fed", {"cosines": [0.3], "recall": "n"}, True),
    ("poorly_fed", {"cosines": [0.3], "recall": "s", "chunks": "1"}, False),
    ("intent_wrong", {"cosines": [0.3], "sample": {"meta": {"intent_top1": 0}}}, True),
    ("intent_wrong", {"cosines": [0.3], "sample": {"meta": {"intent_top1": "正确"}}}, False),
    ("intent_wrong", {"cosines": [0.3], "values": {"intent_top1": 0.0}}, True),
    ("intent_wrong", {"cosines": [0.3], "sample": {"meta": {"intent_top1": "billing"}}}, None),
    ("intent_wrong", {"cosines": [0.3], "sample": {"meta": {"intent_top1": "退款", "intent": "退货"}}}, True),
    ("intent_wrong", {"cosines": [0.3], "sample": {"meta": {"intent_top1": "Refund", "intent": "refund"}}}, False),
    ("intent_wrong", {"cosines": [0.9], "sample": {"meta": {"intent_top1": False}}}, None),
    ("lent_points", {"answer": "x", "points": "m", "cosine": 0.9}, True),
    ("lent_points", {"answer": "x", "points": "m", "cosine": 0.2}, False),
    ("lent_points", {"answer": "s", "points": "c", "cosine": 0.9}, False),
    ("directive", {"recall": "ns", "behaviour": True}, True),
    ("directive", {"recall": "ns"}, False),
    ("many_points", {"recall": "nsssss"}, True),
    ("many_points", {"recall": "ns"}, False),
    ("many_points", {"recall": "ssssss"}, None),
    ("keywords_only", {"keywords": "sn"}, True),
    ("keywords_only", {"keywords": "s", "keyword": "值班电话登记在应急联系表的第二页"}, False),
    ("keywords_unheard", {"keywords": "snn", "chunks": "1"}, True),
    ("keywords_unheard", {"keywords": "ssn", "chunks": "1"}, False),
    ("keywords_unheard", {"keywords": "nnn", "chunks": "0"}, None),
    ("cut_short", {"values": {"faithfulness": 1.0}, "detail": {"clipped": {"answer_cut": True}}}, True),
    ("cut_short", {"values": {"faithfulness": 1.0}}, False),
    ("chunks_dropped", {"values": {"faithfulness": 1.0}, "detail": {"clipped": {"contexts_dropped": 2}}}, True),
    ("chunks_dropped", {"chunks": "10", "sample": {"contexts": ["甲", "乙", "丙"]}}, True),
    ("chunks_dropped", {"chunks": "10", "sample": {"contexts": ["甲", "乙"]}}, False),
    ("chunks_dropped", {"chunks": "10", "sample": {"contexts": ["甲", "乙"], "context_ids": ["1", "2", "3"]}}, True),
    ("reply_cut", {"failed": {"faithfulness": "truncated"}}, True),
    ("reply_cut", {"failed": {"faithfulness": "timeout"}}, False),
    ("embedding_lost", {"failed": {"answer_relevancy": "embedding_missing"}}, True),
    ("embedding_lost", {"claims": "s"}, False),
]


@pytest.mark.parametrize(("name", "sample", "wanted"), CASES)
def test_a_sign_is_seen_where_it_is(name, sample, wanted):
    assert SIGNS[name](one(**sample)) is wanted


def test_every_sign_is_tried_with_both_answers():
    tried = {(name, wanted) for name, _, wanted in CASES}
    assert [name for name in SIGNS if (name, True) not in tried] == []
    assert [name for name in SIGNS if (name, False) not in tried] == []


def test_a_sample_without_anything_shows_nothing():
    bare = one(values={"style": 0.5})
    assert {name for name, sign in SIGNS.items() if sign(bare)} == set()
