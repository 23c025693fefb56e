"""What a server was found to take is remembered for one version of it, and forgotten when it no longer fits."""

from pathlib import Path

import pytest

from ragstone.langfuse.strategy import WAYS, Strategy
from ragstone.transport.memory import Memory

URL = "https://h.example"


def test_nothing_is_known_at_first(tmp_path: Path):
    for memory in (None, Memory(tmp_path)):
        new = Strategy(URL, "5.0.1", memory)
        assert (new.way, new.run_items, new.sure) == (None, None, False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("links", [True, False])
def test_what_was_taken_is_remembered(tmp_path: Path, way, links):
    first = Strategy(URL, "4.16.0", Memory(tmp_path))
    first.took(way)
    first.links(links)
    assert first.sure
    again = Strategy(URL, "4.16.0", Memory(tmp_path))
    assert (again.way, again.run_items) == (way, links)
    assert not again.sure, "an earlier process was sure, this one is not yet"


def test_another_version_or_host_is_another_server(tmp_path: Path):
    Strategy(URL, "4.16.0", Memory(tmp_path)).took("events")
    assert Strategy(URL, "5.0.1", Memory(tmp_path)).way is None
    assert Strategy("https://other.example", "4.16.0", Memory(tmp_path)).way is None


def test_what_no_longer_fits_is_forgotten(tmp_path: Path):
    first = Strategy(URL, "v", Memory(tmp_path))
    first.took("events")
    first.unfit("array")
    assert Strategy(URL, "v", Memory(tmp_path)).way == "events"
    first.unfit("events")
    assert (first.way, first.sure) == (None, False)
    assert Strategy(URL, "v", Memory(tmp_path)).way is None


@pytest.mark.parametrize("held", [{"scores": "carrier pigeon", "run_items": "yes"}, {"scores": ["array"]}, {"scores": None}])
def test_a_memory_that_makes_no_sense_is_none(tmp_path: Path, held):
    Memory(tmp_path).keep(URL, "langfuse", {**held, "version": "v"})
    found = Strategy(URL, "v", Memory(tmp_path))
    assert (found.way, found.run_items) == (None, None)
