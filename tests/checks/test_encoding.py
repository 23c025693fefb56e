"""Garbled texts and unseen characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checking import found, with_row

from ragstone.checks.encoding import garbled, unseen

SENTENCES = [
    "员工每年可以休五天年假",
    "报销单须在三十天内提交给财务部门",
    "請於七日內提出申請",
    "café",
    "It’s 5 °C – really",
    "naïve façade",
]


def latin(text):
    return text.encode().decode("latin-1")


def windows(text):
    return "".join(bytes([b]).decode("cp1252", "replace") if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(b) for b in text.encode())


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("wrong", [latin, windows], ids=["latin-1", "windows-1252"])
def test_utf_8_read_as_a_western_encoding_is_repaired(text, wrong):
    piece, repaired = garbled(wrong(text))
    assert repaired
    assert wrong(text).replace(piece, repaired, 1) != wrong(text)
    assert set(repaired.split()) & set(text) or repaired in text


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (latin("年假"), "年假"),
        (latin(latin("年假五天")), "年假五天"),
        ("员工每年可以休五天年假".encode().decode("gbk", "replace"), None),
        ("你好世界".encode("gbk").decode("latin-1"), "你好世界"),
        (windows("年假").replace("\xa0", " "), "年假"),
        ("ä½ å¥½", "你好"),
        ("“Itâ€™s” and “thatâ€™”", "’"),
        ("thatâ€™”", "’"),
        ("骞村亣", "年假"),
        ("锟斤拷锟斤拷", None),
        ("结果是烫烫烫烫烫", None),
        ("年\ufffd\ufffd", None),
        ("å¹´å‡", None),
        ("Ã¤Â¸", None),
    ],
)
def test_what_a_garbled_text_was(text, repaired):
    found_piece = garbled(text)
    assert found_piece is not None
    if repaired:
        assert found_piece[1] == repaired


@pytest.mark.parametrize("text", SENTENCES[:3])
def test_utf_8_read_as_gbk_is_found(text):
    assert garbled(text.encode().decode("gbk", "ignore")) is not None


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES,
        "联通",
        "«CAFÉ» déjà vu À côté",
        "ÄÖÜ äöüß ÆØÅ æøå",
        "Ångström, São Paulo, Müller & Söhne: 20 °C ± 2 µm, § 5, 10 € ¿Qué?",
        "烫伤后怎么处理？很烫烫到手了",
        "屯里的斤两",
        "Привет, мир. Γειά σου. こんにちは 안녕하세요",
        "浜松、銀行、鍥刻、鐵道",
        "生僻字：㙓、龘、犇、彧、翀、骉",
        "x² + y² = ½ · √2 × π",
    ],
)
def test_a_sound_text_is_left_alone(text):
    assert garbled(text) is None


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=40))
def test_chinese_read_as_latin_1_is_always_found(text):
    assert (garbled(latin(text)) is None) == (text == "")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("年假\u200b几天", ["200b"]),
        ("\ufeff年假", ["feff"]),
        ("a\u202eb", ["202e"]),
        ("soft\u00adhyphen", ["ad"]),
        ("\ue0a1 项目", ["e0a1"]),
        ("a\u0007b", ["7"]),
        ("👩\u200d💻 👨\u200d👩\u200d👧", []),
        ("שלום \u200eabc\u200f", []),
        ("می\u200cخواهم", []),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", []),
        ("一行\n二行\t三\r\n", []),
        ("全角　空格 \u00a0", []),
    ],
)
def test_unseen_characters(text, codes):
    assert sorted(f"{ord(char):x}" for char in unseen(text)) == codes


def test_what_turns_the_direction_is_a_warning_and_a_stray_mark_in_a_passage_a_note():
    (grave,) = found(with_row(reference="可以\u202e不"), "control_characters")
    (slight,) = found(with_row(reference_contexts=["这一段是从网页上复制下来的\u200b文字，员工每年可以休五天年假。"]), "control_characters")
    assert (grave.severity, slight.severity) == ("warning", "note")
    assert "U+202E × 1" in grave.text("en")


def test_the_garbled_piece_and_the_repaired_text_are_shown_with_what_nobody_sees():
    (finding,) = found(with_row(reference=latin("早上’七点")), "mojibake")
    assert (finding.row, finding.column) == (5, "reference")
    assert "\\x80" in finding.text("en")
    assert "早上" in finding.text("zh")
