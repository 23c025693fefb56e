"""Points that no gold passage supports."""

import pytest
from support.checking import found_by_all as found
from support.checking import with_row

ZH = ["《热处理规程》第 6 条：炉温降到 60 度以下方可开门取件，取件时须戴隔热手套，并由两人配合完成。"]
EN = ["Heat treatment rules, section 6: the door may be opened below 60 degrees only, with gloves on, and by two people working together."]


def told(**row):
    return [f.values["why"].key.removeprefix("check.point_") for f in found(with_row(**row), "unsupported_point")]


@pytest.mark.parametrize(
    ("reference", "passages", "why"),
    [
        ("炉温低于 60 度才能开门。炉门钥匙锁在值班长的铁柜，编号 7735。", ZH, ["number"]),
        ("炉温低于 60 度才能开门。食堂的晚餐供应到深夜，周末也不休息。", ZH, ["little"]),
        ("Open it below 60 degrees. The key hangs in the foreman's steel locker, number 7735.", EN, ["number"]),
        ("Open it below 60 degrees. Breakfast tickets are sold every morning beside the parking garage.", EN, ["little"]),
        ("Open it below 60 degrees. Ask the local office of Hamburg Insurance about liability coverage.", EN, ["name"]),
    ],
)
def test_a_point_that_stands_in_no_passage(reference, passages, why):
    assert told(question="何时可以开炉门？", reference=reference, reference_contexts=passages) == why


@pytest.mark.parametrize(
    ("reference", "passages"),
    [
        ("炉温低于 60 度才能开门，由两个人戴着隔热手套取件。", ZH),
        ("六十度以下可开门；取件要两人配合。", ZH),
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
    points = ["炉温低于 60 度", "【行为】不编造炉号 4711 的温度", "钥匙编号 7735，锁在值班长的铁柜里"]
    (finding,) = found(with_row(question="何时可以开炉门？", reference_points=points, reference_contexts=ZH), "unsupported_point")
    assert (finding.column, finding.values["point"]) == ("reference_points", points[2])
    assert "smoke test" in finding.fix("en")
