"""Write a lock of exactly the packages an .in file pins, with the hashes of all their files: IN OUT.

pip-compile always resolves dependencies; the packages of the slow tests are installed without theirs.
"""

import sys
import tempfile
from pathlib import Path

from pip._internal.req.constructors import install_req_from_line
from piptools.repositories import PyPIRepository

HEADER = "#\n# Written by `make lock` from {source}; installed with --no-deps.\n#\n"


def main(source: Path, target: Path) -> None:
    """Look up the hashes of every pinned line of `source` and write them to `target`."""
    lines = (line.partition("#")[0].strip() for line in source.read_text(encoding="utf-8").splitlines())
    pins = sorted(line for line in lines if line)
    text = HEADER.format(source=source.name)
    with tempfile.TemporaryDirectory() as cache, (repository := PyPIRepository([], cache_dir=cache)).allow_all_wheels():
        for pin in pins:
            hashes = sorted(repository.get_hashes(install_req_from_line(pin)))
            text += " \\\n    ".join([pin, *(f"--hash={digest}" for digest in hashes)]) + "\n"
    target.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
