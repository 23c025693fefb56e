"""H07: a reply cut by length is never read; it is asked with a larger limit, then in parts, and the user's limit reaches the wire."""

import pytest
from support.fault_server import reply
from support.told_rows import EN, FOUR, ZH, shared_out

CHECKS = "check_claims"


def cut(call, share=0.6, **more):
    return reply(call.good[: int(len(call.good) * share)], finish="length", **more)


def limit_of(call):
    body = call.seen.body
    return body.get("max_tokens") or body.get("max_completion_tokens") or 0


@pytest.mark.parametrize("row", FOUR, ids=lambda row: row.id)
def test_h07_a_larger_limit_brings_the_whole_reply(lab, row):
    done = lab.evaluate([row], lambda call: None if limit_of(call) > 1000 else cut(call), metrics="all")
    assert all(isinstance(cell["value"], float) for cell in done.scores)
    assert done.code == 0
    assert len(done.server.calls) == 14, "each of the seven once more"
    assert all(row["attempts"] == 2 for row in done.replies if row["kind"] != "cosine")


@pytest.mark.parametrize(("limit", "how"), [(64, "flag"), (700, "file"), (5000, "environment"), (3000, "flag")])
def test_h07_the_users_limit_is_seen_on_the_wire_and_grows_once(lab, limit, how):
    flags = ("--max-tokens", str(limit)) if how == "flag" else ()
    if how == "file":
        (lab.folder / "ragstone.toml").write_text(f"[judge]\nmax_tokens = {limit}\n")
    environ = {"RAGSTONE_MAX_TOKENS": str(limit)} if how == "environment" else None
    done = lab.evaluate([EN, ZH], lambda call: None if limit_of(call) > limit else cut(call), *flags, environ=environ)
    assert done.values() == [1.0, 1.0]
    limits = [limit_of(call) for call in done.server.calls]
    assert limits.count(limit) == 4
    assert all(other > limit for other in limits if other != limit)
    assert done.manifest["judge"]["parameters"]["max_tokens"] == limit


@pytest.mark.parametrize(
    ("word", "share"), [("length", 0.0), ("length", 1.0), ("max_tokens", 0.3), ("MAX_TOKENS", 1.0), ("model_length", 0.6)]
)
def test_h07_a_cut_reply_is_not_read_even_if_it_looks_whole(lab, word, share):
    def fault(call):
        text = call.good.replace("supported", "not_found") if share == 1 else call.good
        return None if limit_of(call) else reply(text[: int(len(text) * share)], finish=word)

    done = lab.evaluate([EN, ZH], fault)
    assert (done.values(), done.code) == ([1.0, 1.0], 0)


@pytest.mark.parametrize(("most", "language"), [(1, "en"), (3, "zh"), (5, "en"), (6, "zh")])
def test_h07_work_that_never_fits_is_done_in_parts(lab, most, language):
    row = shared_out("seven", 4, 7, language)
    done = lab.evaluate([row], lambda call: cut(call) if call.kind == CHECKS and len(call.input["claims"]) > most else None)
    assert done.values() == [pytest.approx(4 / 7, abs=1e-12)]
    assert [line["verdict"] for line in done.row("seven")["verdicts"]] == ["supported"] * 4 + ["not_found"] * 3


def test_h07_a_long_text_is_split_at_its_sentences(lab):
    row = shared_out("seven", 3, 6, "zh")
    (text,) = [text for text in row.truth["claims"] if "第6条" in text]
    sentences = [part + "。" for part in text.split("。") if part]

    def fault(call):
        if call.kind != "split_claims":
            return None
        held = [s for s in sentences if s in call.input["text"]]
        return cut_text(held) if len(held) > 2 else reply({"claims": [{"text": s.rstrip("。")} for s in held]})

    def cut_text(held):
        return reply('{"claims":[{"text":"' + held[0], finish="length")

    done = lab.evaluate([row], fault)
    assert done.values() == [0.5]
    assert len(done.row("seven")["verdicts"]) == 6


def test_h07_what_is_always_cut_is_truncated_and_nothing_else(lab):
    cut_off = reply('{"claims":[{"text":"A locker', finish="length")
    done = lab.evaluate([EN, ZH], lambda call: cut_off if call.about("Locker", "locker", "desk") else None, metrics="all")
    assert {done.cell(EN.id, metric) for metric in {row["metric"] for row in done.scores}} == {"truncated"}
    assert done.cell(ZH.id) == 1.0
    assert done.code == 1
    assert len(done.server.calls) < 60, "no loop"


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_h07_a_reply_cut_without_saying_so_is_asked_again(lab, share):
    def fault(call):
        broken = call.nth == 0 and "problem" not in call.input
        return reply(call.good[: int(len(call.good) * share)]) if broken and call.kind == CHECKS else None

    done = lab.evaluate([EN, ZH, shared_out("x", 1, 4)], fault)
    assert done.values() == [1.0, 1.0, 0.25]


def test_h07_tokens_of_the_cut_try_are_counted_too(lab):
    done = lab.evaluate([EN], lambda call: None if limit_of(call) else cut(call))
    assert done.manifest["tokens"]["prompt"] == 40 * 4
