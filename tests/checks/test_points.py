"""Points that no gold passage supports."""

import pytest
from support.checking import found_by_all as found
from support.checking import with_row

from ragstone.checks import points

ZH = ["《热处理规程》第 6 条：炉温降到 60 度以下方可开门取件，取件时须戴隔热手套，并由两人配合完成。"]
EN = ["Heat treatment rules, section 6: the door may be opened below 60 degrees only, with gloves on, and by two people working together."]


def told(**row):
    return [
        said.values["why"].key.removeprefix("check.point_")
        for f in found(with_row(**row), "unsupported_point")
        for said in f.values["points"]
    ]


@pytest.mark.parametrize(
    ("reference", "passages", "why"),
    [
        ("炉温低于 60 度才能开门。炉门钥匙锁在值班长的铁柜，编号 7735。", ZH, ["number"]),
        ("炉温低于 60 度才能开门。食堂的晚餐供应到深夜，周末也不休息。", ZH, ["little"]),
        ("Open it below 60 degrees. The key hangs in the foreman's steel locker, number 7735.", EN, ["number"]),
        ("炉温降到 60 度以下方可开门取件，取件时须由 15 人配合完成。", [ZH[0].replace("两人", "2 人")], ["number"]),
        ("Open it below 60 degrees. Breakfast tickets are sold every morning beside the parking garage.", EN, ["little"]),
        ("Open it below 60 degrees. Ask the local office of Hamburg Insurance about liability coverage.", EN, ["name"]),
        ("炉温低于 60 度才能开门。食堂 11:30 开放。", ZH, ["number"]),
        ("Open it below 60 degrees. The canteen starts lunch at 11:30.", EN, ["number"]),
    ],
)
def test_a_point_that_stands_in_no_passage(reference, passages, why):
    assert told(question="何时可以开炉门？", reference=reference, reference_contexts=passages) == why


@pytest.mark.parametrize(
    ("reference", "passages"),
    [
        ("炉温低于 60 度才能开门，由两个人戴着隔热手套取件。", ZH),
        ("六十度以下可开门；取件要两人配合。", ZH),
        ("60 度以下，例如 45 度。", ZH),
        ("保修 24 个月。", ["整机自购买之日起保修两年，易损件保修三个月，人为损坏不在保修范围内。"]),
        ("Warranty: 24 months.", ["The device carries a warranty of two years from the date of purchase, worn parts of three months."]),
        (
            "2024 年度的余假须在 2025 年 6 月 30 日前用掉。",
            ["自 2024 年度起，未休完的年休假结转期延长至次年 6 月 30 日，逾期作废，不另行折算工资。"],
        ),
        ("The door is opened by two people wearing gloves, below 60 degrees.", EN),
        ("应先问清炉号，不得编造温度。", ZH),
        ("The answer should ask for the furnace, and must not invent a temperature like 900 degrees.", EN),
        ("钥匙编号 7735，锁在值班长的铁柜里。", ["热处理规程", "隔热手套"]),
        ("The key hangs in the foreman's steel locker, number 7735.", ZH),
    ],
)
def test_supported_points_conduct_keywords_and_passages_in_another_language_are_left_alone(reference, passages):
    assert told(question="何时可以开炉门？", reference=reference, reference_contexts=passages) == []


def test_points_written_by_people_are_looked_at_one_by_one():
    written = ["炉温低于 60 度", "【行为】不编造炉号 4711 的温度", "钥匙编号 7735，锁在值班长的铁柜里"]
    (finding,) = found(with_row(question="何时可以开炉门？", reference_points=written, reference_contexts=ZH), "unsupported_point")
    assert (finding.column, [said.values["point"] for said in finding.values["points"]]) == ("reference_points", [written[2]])
    assert "smoke test" in finding.fix("en")


def test_points_beyond_the_most_that_are_embedded_are_told_of(monkeypatch):
    monkeypatch.setattr(points, "MOST_EMBEDDED", 1)
    row = {"question": "何时可以开炉门？", "reference": "食堂的晚餐供应到深夜，周末也不休息。", "reference_contexts": ZH}
    rows = [row | {"id": str(i), "question": f"{row['question']}{i}"} for i in range(3)]
    assert [f.row for f in found(rows, "unsupported_point")] == [1]
    (finding,) = found(rows, "points_not_compared")
    assert (finding.row, finding.id, finding.values["count"]) == (2, None, 2)


def test_points_of_a_row_are_told_together():
    written = [f"钥匙编号 77{i}5，锁在值班长的铁柜里" for i in range(5)]
    (finding,) = found(
        with_row(question="何时可以开炉门？", reference_points=["炉温低于 60 度", *written], reference_contexts=ZH), "unsupported_point"
    )
    for lang, more in (("en", "and 2 more."), ("zh", "，另有 2 个要点。")):
        text = finding.text(lang)
        assert [f"77{i}5" in text for i in range(5)] == [True, True, True, False, False]
        assert text.endswith(more)
