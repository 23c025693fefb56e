"""The locks pin every package by version and hash, name no address, and say what pyproject.toml says."""

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-slow.lock")
MAX_CORE_PACKAGES = 30
PIN = re.compile(r"(?P<name>[a-z0-9.-]+)==(?P<version>[^\s;]+)(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)")
PLATFORMS = [
    {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.0", "sys_platform": system, "os_name": "posix"}
    for minor in (11, 12, 13)
    for system in ("linux", "darwin")
]


def read(lock: str) -> dict[str, tuple[Version, int]]:
    """Return version and number of hashes by package; every line must be a pin with hashes or a comment."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    pins = [PIN.fullmatch(line) for line in lines]
    assert None not in pins, f"{lock}: not a pin with hashes: {lines[pins.index(None)][:100]}"
    return {pin["name"]: (Version(pin["version"]), pin["hashes"].count("--hash")) for pin in pins if pin}


def declared(*extras: str) -> list[Requirement]:
    groups = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    return [Requirement(line) for group in groups for line in group]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert read(lock)
    assert not re.search(r"://|--index|--extra|--find|--trusted|^-|file:/|@ |\.(?:org|com|net|io)\b", text, re.MULTILINE)


@pytest.mark.parametrize(("lock", "extras"), [("requirements.lock", ()), ("requirements-dev.lock", ("dev",))])
def test_a_lock_holds_what_the_project_declares(lock, extras):
    pins = read(lock)
    for requirement in declared(*extras):
        version, _ = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} against {version} in {lock}: run make lock"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_is_closed_on_every_supported_platform(lock):
    pins = read(lock)
    for name in pins.keys() - {"pip", "setuptools", "wheel"}:
        for line in distribution(name).requires or []:
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({**platform, "extra": ""}) for platform in PLATFORMS):
                assert canonicalize_name(needed.name) in pins, f"{name} needs {line}"


def test_developers_use_the_core_that_users_get():
    core, dev = read("requirements.lock"), read("requirements-dev.lock")
    assert {name: dev[name][0] for name in core} == {name: version for name, (version, _) in core.items()}


def test_the_core_stays_small():
    assert len(read("requirements.lock")) + 1 <= MAX_CORE_PACKAGES, "ragstone itself counts"


@pytest.mark.parametrize("package", ["aiohttp", "multidict", "numpy", "orjson", "propcache", "pydantic-core", "yarl"])
def test_compiled_packages_carry_the_hashes_of_every_python_and_platform(package):
    _, hashes = read("requirements.lock")[package]
    assert hashes >= 3 * 4 + 1, "3 Pythons on Linux and macOS, x86_64 and arm64, and the source archive"


def test_the_slow_tests_lock_what_they_ask_for():
    wanted = (ROOT / "requirements-slow.in").read_text(encoding="utf-8").splitlines()
    pins = {line for line in wanted if line and not line.startswith("#")}
    assert pins == {f"{name}=={version}" for name, (version, _) in read("requirements-slow.lock").items()}
