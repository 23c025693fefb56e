"""Full-width and half-width forms."""

from support.checking import found, with_row


def test_a_token_in_both_widths():
    (finding,) = found(with_row(question="ＡＢＣ系统怎么登录？", reference="打开 ABC 系统，输入工号。"), "width_mix")
    assert (finding.row, finding.severity) == (5, "note")
    assert "“ＡＢＣ” (rows: 5) stands as “ABC”" in finding.text("en")


def test_a_full_width_token_alone_is_no_mixture():
    assert found(with_row(question="ＡＢＣ系统怎么登录？"), "width_mix") == []


def test_half_width_marks_between_chinese_characters_beside_full_width_ones():
    (finding,) = found(with_row(question="食堂几点开门?"), "width_mix")
    assert "门?" in finding.text("zh")


def test_marks_of_english_and_of_numbers_are_in_place():
    assert found(with_row(question="食堂（A座）的 open hours, 即 1,500 人", reference="7:30, Monday."), "width_mix") == []
