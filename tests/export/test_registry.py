"""Exporters by name: ours, those of other packages, and what is said of a name that is none."""

import importlib.util

import pytest
from support import exporters

from ragstone.errors import ConfigError
from ragstone.export.base import Exporter, FileExporter
from ragstone.export.registry import BUILT_IN, EXTRAS, MEANT, exporter, names, origin_of


@pytest.fixture(autouse=True)
def _others(tmp_path, monkeypatch):
    exporters.install(tmp_path / "site", monkeypatch)


def test_names_hold_ours_first_and_then_those_of_packages():
    assert names()[: len(BUILT_IN)] == tuple(BUILT_IN)
    assert {"ids", "bucket", "mlflow", "otel"} <= set(names())
    assert len(set(names())) == len(names())


@pytest.mark.parametrize("name", [*BUILT_IN, "mlflow", "otel", "pandas", "dataset"])
def test_each_of_ours_loads_under_its_own_name_without_its_library(name):
    found = exporter(name)
    assert (found.name, origin_of(found)) == (name, None)
    assert (found.extra or "") == EXTRAS.get(name, "")


def test_files_of_ours_have_a_suffix_of_their_own():
    found = [one for name in names() if name not in ("none", "gone") and isinstance(one := exporter(name), FileExporter)]
    ours = [one.suffix for one in found if origin_of(one) is None]
    assert all(suffix.startswith(".") for suffix in ours)
    assert len(set(ours)) == len(ours)


def test_one_of_another_package_is_told_apart():
    found = exporter("ids")
    assert isinstance(found, Exporter)
    assert origin_of(found) == "others_exporters:Lines"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("excel", "xlsx"),
        ("xls", "xlsx"),
        ("CSV", "csv"),
        (".csv", "csv"),
        ("markdown", "md"),
        ("ndjson", "jsonl"),
        ("jsonlines", "jsonl"),
        ("opentelemetry", "otel"),
        ("langfues", "langfuse"),
        ("parket", "parquet"),
        ("xml", "junit"),
        ("dataframe", "pandas"),
        ("zzz", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_unknown_name_lists_all_and_gets_the_one_that_is_meant(monkeypatch, name, meant, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError) as refused:
        exporter(name)
    text = str(refused.value)
    assert all(one in text for one in names())
    assert 'pip install "ragstone[…]"' in text
    extras = {one: f"（ragstone[{extra}]）" if lang == "zh" else f" (ragstone[{extra}])" for one, extra in EXTRAS.items()}
    assert all(one + extra in text for one, extra in extras.items())
    said = {"en": "Did you mean", "zh": "是否指"}[lang]
    assert (f"{said} {meant}" in text) if meant else (said not in text)


def test_every_other_name_means_one_that_there_is():
    assert set(MEANT.values()) <= set(names())
    assert not set(MEANT) & set(names())


@pytest.mark.parametrize(("name", "value"), [("none", "others_exporters:no_exporter"), ("gone", "others_exporters:NotThere")])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_that_is_none_or_does_not_load_is_told_with_its_package(monkeypatch, name, value, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError) as refused:
        exporter(name)
    assert value in str(refused.value)
    assert "ragstone.exporters" in str(refused.value)


def test_every_module_that_is_named_is_there():
    assert [name for name, where in BUILT_IN.items() if importlib.util.find_spec(where.partition(":")[0]) is None] == []
