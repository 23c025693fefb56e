import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.sentences import cut, halved, sentences, spans

TEXTS = st.text(st.one_of(st.sampled_from("甲乙。！？；.!?\n\r ”」\"')1.2-aB"), st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("须在15天内提交。超期须签字！发票可用电子版代替；", ["须在15天内提交。", "超期须签字！", "发票可用电子版代替；"]),
        ("She gets 12 days. They lapse on 31 March!", ["She gets 12 days.", "They lapse on 31 March!"]),
        ("没有标点的一句话", ["没有标点的一句话"]),
        ("no closing punctuation at all", ["no closing punctuation at all"]),
        ("价格为3.5元。版本2.0.1可用。", ["价格为3.5元。", "版本2.0.1可用。"]),
        ("It costs 3.5 euro. Version 2.0.1 works.", ["It costs 3.5 euro.", "Version 2.0.1 works."]),
        ("Dr. Smith of Acme Inc. wrote it, e.g. in Fig. 3.", ["Dr. Smith of Acme Inc. wrote it, e.g. in Fig. 3."]),
        ("It opens at 5 p.m. The shop is big.", ["It opens at 5 p.m.", "The shop is big."]),
        ("No. 5 is free. No. You cannot.", ["No. 5 is free.", "No.", "You cannot."]),
        ("John F. Kennedy spoke. Take vitamin C. It helps.", ["John F. Kennedy spoke.", "Take vitamin C.", "It helps."]),
        ("他说：“可以。”然后走了。", ["他说：“可以。”", "然后走了。"]),
        ('He said "yes." Then he left.', ['He said "yes."', "Then he left."]),
        ("真的吗?是的!好。", ["真的吗?", "是的!", "好。"]),
        ("真的吗？！好", ["真的吗？！", "好"]),
        ("1. 退货\n2. 保修\n- 运费", ["1. 退货", "2. 保修", "- 运费"]),
        ("1. Returns\n2. Repairs.\n- Freight", ["1. Returns", "2. Repairs.", "- Freight"]),
        ("Steps: 1. Do this. 2. Do that.", ["Steps: 1. Do this.", "2. Do that."]),
        ("We sold 12. The rest stayed.", ["We sold 12.", "The rest stayed."]),
        ("a line that goes\non in lower case\nA new one", ["a line that goes\non in lower case", "A new one"]),
        ("Ask at https://a.example/b?c=1. Then go.", ["Ask at https://a.example/b?c=1.", "Then go."]),
        ("标题\n---\n正文", ["标题\n---", "正文"]),
        ("甲。\r\n乙。", ["甲。", "乙。"]),
        ("  ", []),
        ("", []),
        ("。。。", ["。。。"]),
    ],
)
def test_where_sentences_end(text, pieces):
    assert sentences(text) == pieces


@given(TEXTS)
def test_sentences_lose_nothing(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXTS)
def test_spans_cover_the_text_without_gaps(text):
    found = spans(text)
    if text.strip():
        assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]
        assert found[-1][1] == len(text)
    else:
        assert found == []


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("第一句。第二句。第三句。", 9, "第一句。第二句。"),
        ("First one. Second one. Third.", 24, "First one. Second one."),
        ("第一句。", 10, "第一句。"),
        ("一二三四五六七八九十", 4, "一二三四"),
        ("one two three four five", 15, "one two three"),
    ],
)
def test_cutting_at_a_sentence_end(text, limit, kept):
    assert cut(text, limit) == kept


@given(TEXTS, st.integers(1, 70))
def test_a_cut_text_is_a_beginning_within_the_limit(text, limit):
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= limit
    assert kept == text or len(text) > limit


def test_cutting_a_long_text_takes_no_quadratic_time():
    text = "一句话。" * 50_000
    assert len(cut(text, 150_001)) == 150_000


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("甲须签字。乙在3.5天内答复！丙不得转让。", ("甲须签字。乙在3.5天内答复！", "丙不得转让。")),
        ("One is here. Two is 3.5 m there. Three.", ("One is here.", " Two is 3.5 m there. Three.")),
        ("甲须签字，乙须答复，丙不得转让", ("甲须签字，", "乙须答复，丙不得转让")),
        ("a fee of 1,000 yuan is due, and so is a form", ("a fee of 1,000 yuan is due,", " and so is a form")),
        ("甲须签字。。。", None),
        ("no mark at all", None),
        ("，。！", None),
        ("", None),
    ],
)
def test_halving_at_sentences_then_at_clauses(text, pieces):
    assert halved(text) == pieces


@pytest.mark.parametrize(
    ("text", "least", "pieces"),
    [
        ("one two three four", 4, ("one two ", "three four")),
        ("一二三四五六七八", 4, ("一二三四", "五六七八")),
        ("一二三四五六七八", 5, None),
        ("oneword twowords", 8, ("oneword ", "twowords")),
        ("x " + "一" * 10, 4, ("x " + "一" * 4, "一" * 6)),
        ("一句话。第二句话。", 100, ("一句话。", "第二句话。")),
    ],
)
def test_halving_inside_a_clause_keeps_pieces_of_some_length(text, least, pieces):
    assert halved(text, least) == pieces


@given(TEXTS, st.none() | st.integers(1, 9))
def test_halves_are_the_text_and_both_say_something(text, least):
    pieces = halved(text, least)
    if pieces is not None:
        assert "".join(pieces) == text
        assert all(any(c.isalnum() for c in piece) for piece in pieces)


@given(st.lists(st.sampled_from(["甲须签字，乙须答复。", "丙不得转让！", "One, two is due. ", "Is it so?\n"]), min_size=1, max_size=30))
def test_a_text_is_halved_down_to_its_sentences_before_one_is_cut(told):
    def down(text):
        pieces = halved(text) if len(spans(text)) > 1 else None
        return [text] if pieces is None else [part for piece in pieces for part in down(piece)]

    assert [piece.strip() for piece in down("".join(told))] == sentences("".join(told))
