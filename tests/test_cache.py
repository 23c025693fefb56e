"""The reply cache as a run uses it: gathered reads, writes beside the loop, and a failure that ends nothing."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragstone import cache as cache_module
from ragstone.cache import ReplyCache, cache_folder, key_of, open_cache, parts_of, scope_of
from ragstone.cache_file import NAME, CacheFile, look
from ragstone.config import Config
from ragstone.errors import ConfigError
from ragstone.judge.base import Identity


async def test_a_value_is_there_for_the_next_run(tmp_path):
    first = ReplyCache(tmp_path / "c", 100)
    first.put(b"a", b"1")
    first.put(b"v", b"2", vector=True)
    await first.close()
    second = ReplyCache(tmp_path / "c", 100)
    both = await asyncio.gather(second.get([b"a", b"x"]), second.get([b"v"]), second.get([]))
    assert both == [{b"a": b"1"}, {b"v": b"2"}, {}]
    await second.close()
    info = look(tmp_path / "c")
    assert (info.replies, info.vectors) == (1, 1)


async def test_another_run_sees_a_value_soon_after_it_came(tmp_path):
    one, other = ReplyCache(tmp_path / "c", 100), ReplyCache(tmp_path / "c", 100)
    one.put(b"a", b"1")
    async with asyncio.timeout(60):
        while not await other.get([b"a"]):
            await asyncio.sleep(0.02)
    one.put(b"b", b"2")  # what comes after a first batch is written as well
    async with asyncio.timeout(60):
        while not await other.get([b"b"]):
            await asyncio.sleep(0.02)
    await one.close()
    await other.close()


async def test_what_nobody_else_can_have_written_need_not_be_looked_up(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "LOOK", 0.0)
    one = ReplyCache(tmp_path / "c", 100)
    one.put(b"a", b"1")
    assert not one.foreign
    await one.close()
    other, third = ReplyCache(tmp_path / "c", 100), ReplyCache(tmp_path / "d", 100)
    assert other.foreign
    assert not third.foreign
    with closing(CacheFile(tmp_path / "d", 100)) as file:
        file.write([(b"b", False, b"2")])
    assert third.foreign
    await other.close()
    await third.close()


async def test_a_write_waits_for_another_process_and_not_the_run(tmp_path):
    cache = ReplyCache(tmp_path / "c", 100)
    with closing(sqlite3.connect(tmp_path / "c" / NAME, isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")
        cache.put(b"a", b"1")
        await asyncio.sleep(3 * cache_module.WAIT)
        assert await cache.get([b"a"]) == {}
        busy.execute("ROLLBACK")
    async with asyncio.timeout(30):
        while not await cache.get([b"a"]):
            await asyncio.sleep(0.02)
    await cache.close()


async def test_a_long_run_carries_its_log_over_and_keeps_the_file_to_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "WAIT", 0.0)
    cache, path = ReplyCache(tmp_path / "c", 4), tmp_path / "c" / NAME
    for i in range(60):
        cache.put(i.to_bytes(2, "big"), bytes(200_000))
        await asyncio.sleep(0.01)
    async with asyncio.timeout(30):
        while look(tmp_path / "c").bytes > 5_000_000:
            cache.put(b"more", bytes(200_000))
            await asyncio.sleep(0.01)
    assert path.stat().st_size > 1_000_000, "carried over before the end"
    await cache.close()
    assert look(tmp_path / "c").bytes <= 4_000_000


async def test_a_read_counts_as_use(tmp_path):
    first = ReplyCache(tmp_path / "c", 100)
    first.put(b"a", b"1")
    await first.close()
    before = look(tmp_path / "c").oldest
    second = ReplyCache(tmp_path / "c", 100)
    await second.get([b"a"])
    await second.close()
    assert look(tmp_path / "c").oldest > before


async def test_a_reader_that_gives_up_takes_nothing_from_the_others(tmp_path):
    cache = ReplyCache(tmp_path / "c", 100)
    cache.put(b"a", b"1")
    quitter, other = asyncio.ensure_future(cache.get([b"a"])), asyncio.ensure_future(cache.get([b"b"]))
    await asyncio.sleep(0)
    quitter.cancel()
    assert await other == {}
    await cache.close()


async def test_a_cache_that_breaks_is_told_once_and_left_alone(tmp_path):
    told: list[str] = []
    cache = ReplyCache(tmp_path / "c", 100, told.append)
    with sqlite3.connect(tmp_path / "c" / NAME) as db:
        db.execute("DROP TABLE entries")
    db.close()
    cache.put(b"a", b"1")
    assert await cache.get([b"a"]) == {}
    assert await cache.get([b"a"]) == {}
    await cache.close()
    (line,) = told
    assert f'--cache "{tmp_path / "c"}"' in line
    assert "no such table" in line


# ------------------------------------------------------------------ from settings
def test_the_folder_is_the_users_own_or_the_one_that_was_named(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder(Config()).name == cache_folder(Config(cache="")).name == "ragstone"
    assert cache_folder(Config(cache="缓存")) == Path("缓存")
    assert cache_folder(Config(cache="~/x")) == Path.home() / "x"


def test_the_home_of_nobody_is_an_error():
    with pytest.raises(ConfigError, match="~nosuchuser/x"):
        cache_folder(Config(cache="~nosuchuser/x"))


def test_no_cache_means_none(tmp_path):
    assert open_cache(Config(no_cache=True, cache=str(tmp_path / "c")), pytest.fail) is None
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_named_folder_that_cannot_be_used_is_an_error(tmp_path, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"file.*--no-cache"):
        open_cache(Config(cache=str(tmp_path / "file")), pytest.fail)


def test_the_users_own_that_cannot_be_used_is_a_notice(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "ragstone").mkdir()
    (tmp_path / "ragstone" / NAME).write_bytes(b"something else" * 100)
    told: list[str] = []
    assert open_cache(Config(), told.append) is None
    assert f'ragstone cache clear --cache "{tmp_path / "ragstone"}"' in told[0]


# ------------------------------------------------------------------ keys
def test_no_two_lists_of_parts_share_a_key():
    lists = [("a", "b"), ("ab",), ("", "ab"), ("ab", ""), (b"a", b"c"), ("b", "a"), ("问",), ("问", ""), ()]
    assert len({key_of(*parts) for parts in lists}) == len(lists)
    assert len(key_of("a")) == 16
    assert [key_of(*parts[1:], after=parts_of(*parts[:1])) for parts in lists] == [key_of(*parts) for parts in lists]


@pytest.mark.parametrize(
    "other",
    [
        (Identity("m2", "http://h/v1"), {"temperature": 0}),
        (Identity("m", "http://other/v1"), {"temperature": 0}),
        (Identity("m", "http://h/v1"), {"temperature": 1}),
        (Identity("m", "http://h/v1"), {"temperature": 0, "seed": 1}),
    ],
)
def test_a_scope_is_endpoint_model_and_requested_parameters(other):
    assert scope_of(Identity("m", "http://h/v1"), {"temperature": 0}) != scope_of(*other)


def test_effective_parameters_and_their_order_are_no_part_of_a_scope():
    one = scope_of(Identity("m", "u", {"temperature": 0}), {"a": 1, "b": 2})
    assert one == scope_of(Identity("m", "u", {"dropped": {"temperature": "HTTP 400"}}), {"b": 2, "a": 1})


def test_a_cache_whose_folder_is_gone_cannot_be_opened(tmp_path):
    (tmp_path / "f").touch()
    with pytest.raises(OSError, match="f"):
        CacheFile(tmp_path / "f" / "c", 1)
