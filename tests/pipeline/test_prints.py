"""Fingerprints: equal content, equal fingerprint, and no other."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ragstone.pipeline.prints import fingerprint, of_file, of_files, of_run

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))
def test_the_order_of_keys_does_not_matter(value):
    assert fingerprint(dict(reversed(value.items()))) == fingerprint(value)


@given(VALUES, VALUES)
def test_other_values_have_other_fingerprints(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def test_a_run_is_its_scores_samples_and_manifest_but_not_its_time(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        return of_run(tmp_path)

    first = write(scores_jsonl="1", samples_jsonl="2", manifest_json='{"seed": 0, "wall_s": 1.5}')
    assert write(manifest_json='{"wall_s": 9, "seed": 0}') == first
    assert write(manifest_json='{"seed": 1}') != first
    assert write(manifest_json='{"seed": 0}', scores_jsonl="3") != first
    assert write(manifest_json="{") != write(manifest_json="[") != first


def test_files_and_folders(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_text("a", encoding="utf-8")
    (tmp_path / "b").write_text("a", encoding="utf-8")
    found = of_files([tmp_path / "deep", tmp_path / "b", tmp_path / "gone"])
    assert found == {
        str(tmp_path / "deep" / "a"): of_file(tmp_path / "b"),
        str(tmp_path / "b"): of_file(tmp_path / "b"),
        str(tmp_path / "gone"): None,
    }
    assert of_file(tmp_path / "deep") is None
