import importlib

import pytest

import ragstone


def test_every_public_name_loads_and_is_listed() -> None:
    assert sorted(ragstone.__all__) == dir(ragstone)
    for name in ragstone.__all__:
        assert getattr(ragstone, name) is not None
    assert set(ragstone._HOME) == set(ragstone.__all__) - {"__version__"}


def test_names_are_those_of_their_modules() -> None:
    for name, home in ragstone._HOME.items():
        assert getattr(ragstone, name) is getattr(importlib.import_module(home), name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="evaluat"):
        ragstone.evaluat  # noqa: B018
