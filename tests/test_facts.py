from pathlib import Path

import pytest

from ragstone.facts import manifest_if_readable, run_facts


def test_what_a_manifest_does_not_say_is_unknown():
    assert run_facts({}, None, None).to_dict() == dict.fromkeys(("path", "run_id", "signature", "created_at", "gold_fingerprint", "notice"))


def test_what_it_says_is_taken_as_far_as_it_is_of_the_right_kind():
    manifest = {"run_id": 7, "counts": {"requests": 3}, "tokens": "many", "cost": {"total": 1}, "wall_s": 1.5}
    found = run_facts(manifest, Path("runs") / "a", "smoke test")
    assert (found.run_id, found.path, found.notice) == ("7", str(Path("runs") / "a"), "smoke test")
    assert (found.counts, found.tokens, found.cost) == ((("requests", 3), ("wall_s", 1.5)), None, {"total": 1})


@pytest.mark.parametrize(("text", "code"), [(None, "manifest_missing"), ("{", "manifest_unreadable"), ("[1]", "manifest_unreadable")])
def test_a_manifest_that_cannot_be_read_is_told(tmp_path, text, code):
    path = tmp_path / "manifest.json"
    if text is not None:
        path.write_text(text)
    found, notices = manifest_if_readable(path)
    assert (found, [notice.code for notice in notices]) == ({}, [code])
