"""The modules of benches/ for tests. They are scripts: they find one another in their own folder, which stands on no path here."""

import importlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"


def load(name: str) -> Any:
    """Return a module of benches/."""
    sys.path.insert(0, str(BENCHES))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHES))
