"""Use an installed ragstone as its users do, outside the checkout: smoke_wheel.py CHECKOUT.

Fails when the wheel lacks a file of the source tree, when the core outgrows its budget, or when a first command does not work.
"""

import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import distributions
from pathlib import Path

MAX_PACKAGES = 30
MAX_MEGABYTES = 160
NOT_RAGSTONE = {"pip", "setuptools", "wheel"}


def missing_files(source: Path, installed: Path) -> list[str]:
    """Return the files of the source tree that the installed package lacks."""
    wanted = (path.relative_to(source) for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(str(path) for path in wanted if not (installed / path).is_file())


def budget(site: Path) -> tuple[int, float]:
    """Return the number of installed packages and the megabytes of their files, compiled files included."""
    packages = [d for d in distributions(path=[str(site)]) if d.metadata["Name"] not in NOT_RAGSTONE]
    skipped = {site / name for name in NOT_RAGSTONE}
    size = sum(p.stat().st_size for p in site.rglob("*") if p.is_file() and not skipped.intersection(p.parents))
    return len(packages), size / 1e6


def use(*arguments: str) -> str:
    """Run one ragstone command in an empty folder and return what it printed; leave with its error text if it fails."""
    command = [str(Path(sys.executable).with_name("ragstone")), *arguments]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(command, cwd=empty, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main(checkout: Path) -> None:
    """Check the files, the budget and the first commands of a new user."""
    import ragstone

    installed = Path(ragstone.__file__).parent
    if checkout in installed.parents:
        sys.exit(f"{installed} is the checkout, not the installed wheel")
    if missing := missing_files(checkout / "src" / "ragstone", installed):
        sys.exit(f"the wheel lacks {', '.join(missing)}")
    packages, megabytes = budget(Path(sysconfig.get_path("purelib")))
    print(f"core: {packages} packages, {megabytes:.0f} MB")
    if packages > MAX_PACKAGES or megabytes > MAX_MEGABYTES:
        sys.exit(f"the core may have {MAX_PACKAGES} packages and {MAX_MEGABYTES} MB")
    for arguments in (("--help",), ("metrics",), ("demo", "--out", "run")):
        print(f"ragstone {' '.join(arguments)}: {len(use(*arguments).splitlines())} lines")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
