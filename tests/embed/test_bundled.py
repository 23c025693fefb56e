"""The bundled embedder: the same bits whatever the order, the company or the concurrency."""

import asyncio
import random
import threading

import numpy as np
import pytest

from ragstone.embed.bundled import MAX_CHARACTERS, BundledEmbedder

TEXTS = [
    "第二年员工每年享有十二天年假。",
    "A second-year employee gets 12 days of annual leave.",
    "Returns are accepted within 7 days. 七天内可退货。",
    "保修期为1年",
    "保修期为5年",
    "x",
    "？",
    "年假" * 700,
    "half a pair \ud83d here",
]


@pytest.fixture(scope="module")
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def embedder(loop):
    embedder = BundledEmbedder(max_vectors=4)  # fewer than the texts: most are encoded anew
    yield embedder
    loop.run(embedder.close())


def bits(vectors):
    return [v.tobytes() for v in vectors]


def test_vectors_are_float32_units_and_read_only(loop, embedder):
    for vector in loop.run(embedder.embed(TEXTS)):
        assert vector.dtype == np.float32
        assert vector.shape == (512,)
        assert float(vector @ vector) == pytest.approx(1, abs=1e-5)
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 0


def test_order_company_and_concurrency_change_no_bit(loop, embedder):
    async def gathered(calls):
        return await asyncio.gather(*(embedder.embed(call) for call in calls))

    alone = {text: bits(loop.run(embedder.embed([text]))) for text in TEXTS}
    assert bits(loop.run(embedder.embed(TEXTS))) == [b for text in TEXTS for b in alone[text]]
    for seed in range(3):
        mixed = random.Random(seed).sample(TEXTS, len(TEXTS))
        replies = loop.run(gathered([[text] for text in mixed]))
        assert [bits(r) for r in replies] == [alone[text] for text in mixed]


def test_two_embedders_at_once_agree_and_leave_the_thread_count(loop, embedder):
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    async def both():
        return await asyncio.gather(*(e.embed([text]) for text in TEXTS for e in (embedder, other)))

    other, before = BundledEmbedder(), threads()
    replies = loop.run(both())
    assert [bits(r) for r in replies[::2]] == [bits(r) for r in replies[1::2]]
    assert threads() == before
    loop.run(other.close())


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("年假有多少天？", "员工每年有几天年假？", "食堂几点开门？"),
        ("How many days of leave do I get?", "How much annual leave is there?", "When does the canteen open?"),
        ("How long is the warranty?", "保修期多长？", "退款多久到账？"),
    ],
)
def test_like_meanings_lie_nearer_across_languages(loop, embedder, text, near, far):
    first, like, unlike = loop.run(embedder.embed([text, near, far]))
    assert first @ like > first @ unlike + 0.2


def test_numbers_are_not_blanked_out(loop, embedder):
    one, five = loop.run(embedder.embed(["保修期为1年", "保修期为5年"]))
    assert one @ five < 0.999


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_text_has_no_vector(loop, embedder, blank):
    first, word, last = loop.run(embedder.embed(["a", blank, "b"]))
    assert word == "embedding_zero"
    assert not np.array_equal(first, last)
    assert loop.run(embedder.embed([blank])) == ["embedding_zero"]


def test_text_beyond_the_limit_does_not_count(loop, embedder):
    text = ("carry over " * MAX_CHARACTERS)[:MAX_CHARACTERS]
    long, cut = loop.run(embedder.embed([text + " and 年假 more", text]))
    assert np.array_equal(long, cut)


def test_identity_names_model_version_and_limit(embedder):
    identity = embedder.identity
    assert identity.model.startswith("use-m3-0.")
    assert identity.endpoint == "local"
    assert identity.parameters == {"max_characters": MAX_CHARACTERS}
    assert identity.notice is None


async def test_one_thread_beside_the_loop_that_ends_with_close():
    embedder = BundledEmbedder()
    assert not workers(embedder)  # nothing starts before the first text
    threads = await asyncio.gather(*(embedder.work(threading.current_thread) for _ in range(20)))
    (worker,) = workers(embedder)
    assert set(threads) == {worker} != {threading.current_thread()}
    await embedder.close()
    assert not worker.is_alive()
    with pytest.raises(RuntimeError):
        await embedder.embed(["a"])


def workers(embedder):
    return list(embedder._worker._threads)
