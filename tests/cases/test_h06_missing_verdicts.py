"""H06: verdicts that did not come are asked for, and never made up; what stays missing makes the cell unmeasured."""

import pytest
from support.fault_server import reply
from support.told_rows import FOUR, shared_out

SIX = [shared_out("six", 4, 6), shared_out("六条", 4, 6, "zh")]


def first(call, count):
    """The good reply cut after `count` items of each list."""
    return reply({name: items[:count] for name, items in call.parsed.items()})


def again(call):
    return "problem" in call.input


@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_the_missing_ones_are_asked_again_by_their_ids(lab, row):
    done = lab.evaluate([row], lambda call: first(call, 3) if call.kind == "check_claims" and not again(call) else None)
    assert done.values() == [pytest.approx(4 / 6, abs=1e-12)]
    checks = [call for call in done.server.calls if call.kind == "check_claims"]
    assert [[claim["id"] for claim in call.input["claims"]] for call in checks] == [[1, 2, 3, 4, 5, 6], [4, 5, 6]]
    assert [line["verdict"] for line in done.row(row.id)["verdicts"]] == ["supported"] * 4 + ["not_found"] * 2
    assert "verdicts 3/6" in [reply["error"] for reply in done.replies], "the short reply is kept, and marked"


@pytest.mark.parametrize(("given", "row"), [(1, SIX[0]), (3, SIX[0]), (3, SIX[1]), (5, SIX[1])], ids=range(4))
def test_h06_what_never_comes_is_not_counted_as_supported(lab, row, given):
    def fault(call):
        if call.kind != "check_claims":
            return None
        return reply({"verdicts": [line for line in call.parsed["verdicts"] if line["id"] <= given]})

    done = lab.evaluate([row, *FOUR], fault if given < 3 else lambda call: fault(call) if call.about(row.id) else None)
    assert done.cell(row.id) == f"verdicts {given}/6"
    assert sum(call.kind == "check_claims" and call.about(row.id) for call in done.server.calls) == 3
    assert done.code == 1


@pytest.mark.parametrize("portions", [(3, 1, 2), (1, 4, 1), (2, 2, 2)])
def test_h06_two_more_portions_complete_the_verdicts(lab, portions):
    turns = iter(portions)
    done = lab.evaluate([SIX[0]], lambda call: first(call, next(turns)) if call.kind == "check_claims" else None)
    assert done.values() == [pytest.approx(4 / 6)]
    assert next(turns, None) is None


@pytest.mark.parametrize("dropped", [[1], [6], [2, 5], [1, 2, 3, 4, 5]])
def test_h06_whichever_is_missing(lab, dropped):
    def fault(call):
        if call.kind != "check_claims" or again(call):
            return None
        return reply({"verdicts": [line for line in call.parsed["verdicts"] if line["id"] not in dropped]})

    done = lab.evaluate(SIX, fault)
    assert done.values() == [pytest.approx(4 / 6)] * 2
    asked = [[c["id"] for c in call.input["claims"]] for call in done.server.calls if again(call)]
    assert asked == [dropped] * 2


@pytest.mark.parametrize("strange", [[7, 8, 9, 10, 11, 12], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], ["a", "b", "c", "d", "e", "f"]])
def test_h06_verdicts_under_other_ids_belong_to_nobody(lab, strange):
    """Six verdicts for six claims are no answer if they are not about those claims."""

    def fault(call):
        if call.kind != "check_claims":
            return None
        return reply({"verdicts": [{**line, "id": id} for line, id in zip(call.parsed["verdicts"], strange, strict=False)]})

    done = lab.evaluate([SIX[0]], fault)
    assert done.values() in (["verdicts 0/6"], ["bad_reply"], ["verdicts 1/6"])


@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_verdicts_counted_from_zero_stay_with_their_claims(lab, row):
    def fault(call):
        good = call.parsed
        return reply({"verdicts": [{**line, "id": line["id"] - 1} for line in good["verdicts"]]}) if "contexts" in call.input else None

    done = lab.evaluate([row], fault, metrics="faithfulness,context_precision")
    assert done.values() == [pytest.approx(4 / 6, abs=1e-12)]
    assert done.values("context_precision") == [1.0]
    assert [line["verdict"] for line in done.row(row.id)["verdicts"]] == ["supported"] * 4 + ["not_found"] * 2


def test_h06_an_empty_list_is_not_every_claim_supported(lab):
    done = lab.evaluate(SIX, lambda call: reply({"verdicts": []}) if call.kind == "check_claims" else None)
    assert done.values() == ["verdicts 0/6"] * 2


def test_h06_contexts_without_a_verdict_are_asked_again(lab):
    done = lab.evaluate(SIX, lambda call: first(call, 2) if not again(call) else None, metrics="context_precision")
    assert done.values("context_precision") == [1.0, 1.0]
    assert [len(call.input["contexts"]) for call in done.server.calls if again(call)] == [3, 3]

    def silent(call):
        return reply({"verdicts": [line for line in call.parsed["verdicts"] if line["id"] <= 2]})

    with lab.server(SIX, silent) as server:
        lost = lab.ask(server, lab.write(SIX), metrics="context_precision", out="lost")
    assert lost.values("context_precision") == ["verdicts 2/5"] * 2


@pytest.mark.parametrize("half", ["answer", "reference"])
def test_h06_both_lists_of_a_match_are_completed(lab, half):
    """The whole request goes out again, and only what was missing is taken from its reply."""

    def fault(call):
        if call.kind != "match_claims":
            return None
        good = call.parsed
        if not again(call):
            return reply({**good, half: good[half][:1]})
        return None

    done = lab.evaluate(FOUR, fault, metrics="answer_correctness")
    assert done.code == 0
    assert all(value > 0.7 for value in done.values("answer_correctness"))

    def lost(call):
        return reply({**call.parsed, half: call.parsed[half][:1]}) if call.kind == "match_claims" else None

    with lab.server(FOUR, lost) as server:
        never = lab.ask(server, lab.write(FOUR), metrics="answer_correctness", out="never")
    assert all(str(value).startswith("verdicts ") for value in never.values("answer_correctness"))


# ------------------------------------------------------------------ the other kinds, and work done in parts
def short_of(call, **lists):
    """The good reply without the last items of some lists: `claims=1` drops one."""
    good = call.parsed
    return reply({name: items[: len(items) - lists.get(name, 0)] for name, items in good.items()})


JOINT = ("--plan", "joint")


@pytest.mark.parametrize("half", ["claims", "contexts"])
@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_both_lists_of_a_joint_check_are_completed(lab, row, half):
    def fault(call):
        return short_of(call, **{half: 2}) if call.kind == "check_all" and not again(call) else None

    done = lab.evaluate([row], fault, *JOINT, metrics="all")
    assert done.cell(row.id) == pytest.approx(4 / 6, abs=1e-12)
    assert done.cell(row.id, "context_precision") == 1.0
    assert done.server.kinds()["check_all"] == 2, "once more, with the whole request"


@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_what_a_joint_check_never_says_costs_only_the_cells_that_need_it(lab, row):
    done = lab.evaluate([row], lambda call: short_of(call, contexts=1) if call.kind == "check_all" else None, *JOINT, metrics="all")
    assert done.cell(row.id, "context_precision") == "verdicts 4/5"
    assert done.cell(row.id) == pytest.approx(4 / 6, abs=1e-12)
    assert isinstance(done.cell(row.id, "context_recall"), float)


@pytest.mark.parametrize("plan", ["separate", "per-context"])
@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_a_context_rated_alone_is_asked_again_alone(lab, row, plan):
    def fault(call):
        return reply({"verdicts": []}) if call.kind == "rate_contexts" and not again(call) else None

    done = lab.evaluate([row], fault, "--plan", plan, metrics="context_precision")
    assert done.values("context_precision") == [1.0]
    assert sum(again(call) for call in done.server.calls) == (1 if plan == "separate" else 5)


@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_a_verdict_missing_in_a_part_is_asked_for_in_that_part(lab, row):
    """The six claims do not fit into one reply; of the second half one is left out at first."""

    def fault(call):
        if call.kind != "check_claims":
            return None
        ids = [claim["id"] for claim in call.input["claims"]]
        return reply("{", finish="length") if len(ids) > 3 else short_of(call, verdicts=1) if 6 in ids and not again(call) else None

    done = lab.evaluate([row], fault)
    assert done.values() == [pytest.approx(4 / 6, abs=1e-12)]
    assert [[c["id"] for c in call.input["claims"]] for call in done.server.calls if again(call)] == [[6]]
    assert done.row(row.id)["detail"]["in_parts"] == ["check_claims"]


@pytest.mark.parametrize("row", SIX, ids=lambda row: row.id)
def test_h06_a_verdict_that_a_part_never_gives_is_missing_in_the_whole(lab, row):
    def fault(call):
        if call.kind != "check_claims":
            return None
        ids = [claim["id"] for claim in call.input["claims"]]
        return reply("{", finish="length") if len(ids) > 3 else short_of(call, verdicts=1) if 6 in ids else None

    assert lab.evaluate([row], fault).values() == ["verdicts 5/6"]
