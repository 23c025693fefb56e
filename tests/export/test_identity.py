"""When a run began: what its manifest says, as far as that is a time of a run."""

import os

import pytest
from support import hand_made

from ragstone import Run, load
from ragstone.export.content import Content
from ragstone.export.identity import began


@pytest.mark.parametrize(
    ("created_at", "nanoseconds"),
    [
        ("2026-01-05T08:00:00Z", 1_767_600_000_000_000_000),
        ("2026-01-05T08:00:00", 1_767_600_000_000_000_000),
        ("2026-01-05T16:00:00.5+08:00", 1_767_600_000_500_000_000),
        ("0001-01-01T00:00:00+14:00", 0),
        ("0001-01-01T00:00:00", 0),
        ("1970-01-01T00:00:00", 0),
        ("yesterday", 0),
        (None, 0),
    ],
)
def test_a_run_began_when_its_manifest_says(created_at, nanoseconds):
    """A time before there were runs would be a negative one to collectors, which they refuse with all that is sent beside it."""
    run = Run.from_scores(hand_made.ROWS, manifest={**hand_made.MANIFEST, "created_at": created_at})
    assert began(Content(run)) == nanoseconds


def test_else_when_its_scores_were_written(tmp_path):
    folder = hand_made.write_run(tmp_path / "run")
    (folder / "manifest.json").unlink()
    os.utime(folder / "scores.jsonl", ns=(0, 1_767_600_000_000_000_000))
    assert began(Content(load(folder))) == 1_767_600_000_000_000_000
