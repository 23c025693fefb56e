"""The scripted embedder gives texts the cosines of its table."""

import asyncio
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.errors import ConfigError, ScriptError


def embed(embedder, *texts):
    return asyncio.run(embedder.embed(texts))


def cosine(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return a @ b / np.sqrt((a @ a) * (b @ b))


def cosines(embedder, text, *others):
    first, *rest = embed(embedder, text, *others)
    return pytest.approx([cosine(first, v) for v in rest], abs=1e-7)


@pytest.mark.parametrize("numbers", [(0.55, 0.50, 0.52), (0.88, 0.82, 0.86), (0.91, 0.62, 0.55), (0.9,), (-0.25, 0.0)])
@pytest.mark.parametrize(("text", "other"), [("退货怎么寄回去？", "退款多久到账？"), ("How do I return it?", "When is it refunded?")])
def test_the_given_cosines_come_out(numbers, text, other):
    others = [f"{other} {i}" for i in range(len(numbers))]
    embedder = ScriptedEmbedder.from_dict({"cosines": {text: dict(zip(others, numbers, strict=True))}})
    assert cosines(embedder, text, *others) == list(numbers)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=80))
def test_any_cosine_comes_out_to_seven_places(numbers):
    others = [f"q{i}" for i in range(len(numbers))]
    embedder = ScriptedEmbedder.from_dict({"cosines": {"text": dict(zip(others, numbers, strict=True))}})
    vectors = embed(embedder, "text", *others)
    assert {v.dtype for v in vectors} == {np.dtype(np.float32)}
    assert {len(v) for v in vectors} == {max(64, len(vectors))}
    for vector, number in zip(vectors[1:], numbers, strict=True):
        assert abs(cosine(vectors[0], vector) - number) <= 1e-7


@pytest.mark.parametrize("number", [1.0, 0.0, -1.0])
def test_whole_cosines_are_exact(number):
    first, other = embed(ScriptedEmbedder.from_dict({"cosines": {"甲": {"乙": number}}}), "甲", "乙")
    assert cosine(first, other) == number


def test_pairs_hold_in_both_directions_and_after_folding():
    embedder = ScriptedEmbedder.from_dict({"cosines": {"Where is it?": {"It is here.": 0.25}}})
    assert cosines(embedder, "it is HERE", "where is it？") == [0.25]


def test_equal_texts_have_cosine_one_without_an_entry():
    embedder = ScriptedEmbedder.from_dict({"cosines": {"甲": {"乙": 0.5}}})
    assert cosines(embedder, "New text.", "new text", "New  text!") == [1.0, 1.0]
    assert cosines(embedder, "甲", "乙", "甲。", "乙！") == [0.5, 1.0, 0.5]


def test_vectors_come_back_as_they_are():
    embedder = ScriptedEmbedder.from_dict({"vectors": {"a": [3, 4], "b": [1, 0], "没有": [0, 0]}})
    first, second, zero, blank = embed(embedder, "A.", "b", "没有", " ")
    assert first.tolist() == [3, 4]
    assert second.tolist() == [1, 0]
    assert (zero, blank) == ("embedding_zero", "embedding_zero")
    assert cosine(first, second) == pytest.approx(0.6, abs=1e-12)


def test_a_cosine_goes_before_vectors():
    embedder = ScriptedEmbedder.from_dict({"vectors": {"a": [1, 0], "b": [1, 0]}, "cosines": {"b": {"a": 0.125}}})
    assert cosines(embedder, "a", "b") == [0.125]


def test_blank_texts_are_no_vectors():
    embedder = ScriptedEmbedder.from_dict({"cosines": {"甲": {"乙": 0.5}}})
    assert embed(embedder) == []
    assert embed(embedder, "", "\u3000") == ["embedding_zero"] * 2
    first, blank, other = embed(embedder, "甲", " ", "乙")
    assert blank == "embedding_zero"
    assert cosine(first, other) == pytest.approx(0.5, abs=1e-7)
    assert embed(embedder, "", "乙", "unheard")[0] == "embedding_zero"


@pytest.mark.parametrize("others", [["unheard"], ["乙", "unheard"], ["丙", "unheard"]])
def test_an_unknown_pair_is_named(others):
    embedder = ScriptedEmbedder.from_dict({"cosines": {"甲": {"乙": 0.5, "丙": 0.1}}, "vectors": {"unheard": [1.0]}})
    with pytest.raises(ScriptError, match="甲 / unheard"):
        embed(embedder, "甲", *others)


def test_files_merging_and_identity(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({"cosines": {"甲": {"乙": 0.5}}}, ensure_ascii=False), encoding="utf-8")
    embedder = ScriptedEmbedder.from_file(path)
    assert cosines(embedder, "甲", "乙") == [0.5]
    with pytest.raises(ScriptError, match=r"truth\.json"):
        embed(embedder, "甲", "丁")
    merged = ScriptedEmbedder.merge({"cosines": {"甲": {"乙": 0.5}}}, {"cosines": {"甲": {"丙": 0.25}}})
    assert cosines(merged, "甲", "乙", "丙") == [0.5, 0.25]
    assert (merged.identity.model, merged.identity.endpoint) == ("scripted", "scripted")
    with pytest.raises(ConfigError):
        ScriptedEmbedder.merge({"cosines": {"甲": {"乙": 0.5}}}, {"cosines": {"乙": {"甲": 0.4}}})
    asyncio.run(merged.close())


async def test_order_and_concurrency_change_nothing():
    numbers = {f"q{i}": i / 10 for i in range(10)}
    embedder = ScriptedEmbedder.from_dict({"cosines": {"text": numbers}})
    calls = [["text", *list(numbers)[:n]] for n in (1, 3, 10)]
    alone = [np.stack(await embedder.embed(c)) for c in calls]
    together = await asyncio.gather(*(embedder.embed(c) for c in reversed(calls)))
    assert all(np.array_equal(a, np.stack(b)) for a, b in zip(alone, reversed(together), strict=True))
