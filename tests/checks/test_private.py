"""Data of persons; the numbers are made up."""

import unicodedata

import pytest
from support.checking import found, with_row

import ragstone
from ragstone.checks.persons import mask, masked, personal


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("张工的手机是13912340678，", ["mobile"]),
        ("请打 139 1234 0678 找我", ["mobile"]),
        ("+86 13912340678", ["mobile"]),
        ("身份证 11010519491231002X", ["identity"]),
        ("身份证 110105194912310021", []),
        ("卡号 6222 0212 3405 6716", ["card"]),
        ("卡号 4539578763621486", ["card"]),
        ("卡号 4539578763621487", []),
        ("write to li.ming@corp.cn, please", ["mail"]),
        ("write to support@corp.cn or hr-team@corp.cn", ["office", "office"]),
        ("write to someone@example.com", []),
        ("客服热线：13912340678", ["office"]),
        ("总机 010-62781234", ["office"]),
        ("电话（021）62781234-801", ["office"]),
        ("call +1 415 867 2093", ["office"]),
        ("call (415) 867-2093 or 415-867-2094", ["office", "office"]),
        ("her mobile is 415-867-2093, at home +1 415 867 2094", ["phone", "phone"]),
        ("our help desk: 800-867-2093, trial number 415-555-0173, part 415-867-20931", []),
        ("the test card 4242 4242 4242 4242", []),
        ("电话 010-XXXX", ["placeholder"]),
        ("电话：138****1234", ["placeholder"]),
        ("拨打 12345、95588、400-820-8820、110 或 10086", []),
        ("订单号 20240131123456789，版本 1.13912340678", []),
        ("ISBN 9787111407010，QQ 1391234", []),
        ("示例：13800000000", []),
        ("手机 13812345678 或 138 1234 5678", ["mobile", "mobile"]),
        ("电话 010-12345678", []),
        ("金额 13912340678.50 元", []),
        ("2024-01-15 至 2024-02-15，0.13912340678", []),
        ("commit 4539578763621486a0ff", []),
        ("x = 3 * 4 * 5；Xxx", []),
    ],
)
def test_what_looks_personal(text, kinds):
    assert [kind for kind, _ in personal(text)] == kinds


@pytest.mark.parametrize(
    ("piece", "masked"), [("13912340678", "139******78"), ("li.ming@corp.cn", "l***@corp.cn"), ("010-XXXX", "010-XXXX")]
)
def test_it_is_shown_masked(piece, masked):
    assert mask(piece) == masked


def test_a_finding_never_holds_the_number_itself():
    (finding,) = found(with_row(reference="找张工，13912340678。"), "personal_data")
    assert (finding.row, finding.column, finding.severity) == (5, "reference", "warning")
    assert "13912340678" not in repr(finding) + finding.text("en") + finding.text("zh") + finding.fix("en")
    assert "手机号码：139******78" in finding.text("zh")


def test_an_office_number_is_a_note():
    (finding,) = found(with_row(reference="总机 010-62781234。"), "personal_data")
    assert finding.severity == "note"


def test_no_other_finding_tells_it_either():
    rows = with_row(question="13912340678 是谁的电话？")
    (finding,) = found([*rows, rows[-1] | {"id": "y"}], "duplicate_question")
    assert "“139******78 是谁的电话？”" in finding.text("en")
    assert masked("总机 010-62781234，电话 010-XXXX") == "总机 010-62781234，电话 010-XXXX"


WIDE = [
    "１３９１２３４０６７８",
    "１３９12340678",
    "1391234067８",
    "139１2340678",
    "１３９　１２３４　０６７８",
    "１３９－１２３４－０６７８",
    "li.ming＠corp.cn",
    "ｌｉ．ｍｉｎｇ＠ｃｏｒｐ．ｃｎ",
    "xu.fang＠corp.cn",
    "１１０１０５１９４９１２３１００２Ｘ",
    "４539578763621486",
]


@pytest.mark.parametrize("piece", WIDE)
def test_full_width_forms_are_found_and_shown_masked(piece):
    text = f"请找张工，{piece}。"
    ((kind, held),) = personal(text)
    assert kind in ("mobile", "mail", "identity", "card")
    assert held == piece
    assert piece not in masked(text)
    assert "**" in mask(piece)
    assert mask(piece).isascii()


@pytest.mark.parametrize("piece", WIDE)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_output_holds_the_data_of_a_person_in_full_width(piece, lang):
    narrow = unicodedata.normalize("NFKC", piece)
    rows = with_row(
        question=f"{piece} 是谁的？", reference=f"Call {narrow} or {piece}.", reference_points=[piece], reference_contexts=[piece]
    )
    checked = ragstone.check([*rows, rows[-1] | {"id": "y", "reference": "TODO"}, rows[-1] | {"id": "z", "reference_contexts": [narrow]}])
    said = str(checked.to_dict(lang)) + checked.to_markdown(lang) + checked._repr_html_()
    assert "personal_data" in said
    assert piece not in said
    assert narrow not in said


@pytest.mark.parametrize(
    "text",
    [
        "型号 ＡＢ－１３９１２３４０６７８",
        "金额 １３９１２３４０６７８．５０ 元",
        "见 ＠张工",
        "总价１，３９１，２３４元",
        "write to someone＠example.com",
    ],
)
def test_full_width_forms_of_what_is_no_data_of_a_person(text):
    assert list(personal(text)) == []
