"""What an exporter says when the library it needs is not installed."""

import subprocess
import sys

import pytest

CODE = """
import io, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Hidden())
import ragstone
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.{module} import {kind}
run = ragstone.Run.from_scores([{{"sample_id": "s", "metric": "m", "value": 1.0, "status": "ok"}}])
try:
    {call}
except ragstone.errors.ConfigError as bad:
    print(bad)
"""
WRITE, MAKE = "{kind}().write(Content(run), io.BytesIO(), Order())", "{kind}().make(Content(run), Order())"


@pytest.mark.parametrize(
    ("module", "kind", "call", "hidden", "extra"),
    [
        ("xlsx", "XlsxExporter", WRITE, "openpyxl", "xlsx"),
        ("parquet", "ParquetExporter", WRITE, "pyarrow", "parquet"),
        ("pandas", "PandasExporter", MAKE, "pandas", "pandas"),
        ("dataset", "DatasetExporter", MAKE, "datasets", "datasets"),
    ],
)
def test_the_command_that_installs_it_is_told(module, kind, call, hidden, extra):
    code = CODE.format(hidden=hidden, module=module, kind=kind, call=call.format(kind=kind))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, timeout=300)
    assert f'pip install "ragstone[{extra}]"' in done.stdout, done.stderr
