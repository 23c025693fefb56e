"""Exporters of a package of somebody else's, installed for a test: entry points as `pip install` leaves them."""

import sys
from pathlib import Path
from typing import Any

MODULE = '''
import os
from ragstone.export.base import FileExporter, FolderExporter, ObjectExporter, Sink
from ragstone.export.receipt import Receipt, Rejected

SENT = []

class Lines(FileExporter):
    name, suffix = "ids", ".txt"
    def write(self, content, file, order):
        for line in content.lines():
            file.write(line.id.encode() + b"\\n")

class Packed(FileExporter):
    name, suffix, binary = "packed", ".bin", True
    def write(self, content, file, order):
        file.write(b"\\0")

class Broken(FileExporter):
    name, suffix = "broken", ".txt"
    def write(self, content, file, order):
        file.write(b"half")
        raise ValueError("no such colour")

class Folder(FolderExporter):
    name = "folder"
    def write_folder(self, content, folder, order):
        for line in content.lines():
            with open(os.path.join(folder, f"{len(os.listdir(folder))}.txt"), "w", encoding="utf-8") as file:
                file.write(line.id)

class Object(ObjectExporter):
    name = "object"
    def make(self, content, order):
        return [line.id for line in content.lines()]

class Bucket(Sink):
    """Takes everything but what `SENT` refuses."""
    name = "bucket"
    refuse = 0
    async def send(self, content, order):
        SENT.append(order)
        due = {"trace": 4, "score": 12}
        facts = content.facts
        common = {"to": self.name, "target": "http://bucket/p", "due": due, "signature": facts.signature, "notice": facts.notice}
        common |= {"unmeasured": {"timeout": 3, "no_claims": 1}, "dry_run": order.dry_run, "requests": 2}
        if order.dry_run:
            return Receipt(**common, kept={"trace": 1})
        lost = tuple(Rejected("score", f"id{i}", "value out of range", f"样本-{i}", "faithfulness") for i in range(self.refuse))
        taken = {"trace": 3, "score": 12 - self.refuse}
        return Receipt(**common, kept={"trace": 1}, accepted=taken, rejected=lost, retried=1, links=("http://bucket/p/run",),
                       notices=("a notice",))

class Failing(Bucket):
    name = "failing"
    async def send(self, content, order):
        raise KeyError("colour")

class Stopped(Bucket):
    name = "stopped"
    async def send(self, content, order):
        from ragstone.errors import AuthError
        raise AuthError("the key was refused")

class Lossy(Bucket):
    name, refuse = "lossy", 7

def no_exporter():
    pass
'''
NAMES = {
    "ids": "Lines",
    "packed": "Packed",
    "broken": "Broken",
    "folder": "Folder",
    "object": "Object",
    "bucket": "Bucket",
    "failing": "Failing",
    "stopped": "Stopped",
    "lossy": "Lossy",
    "none": "no_exporter",
    "gone": "NotThere",
}


def install(folder: Path, monkeypatch: Any) -> None:
    """Install the package for the rest of the test."""
    about = folder / "others_exporters-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "others_exporters.py").write_text(MODULE, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others-exporters\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = others_exporters:{kind}" for name, kind in NAMES.items()]
    (about / "entry_points.txt").write_text("\n".join(["[ragstone.exporters]", *lines]), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "others_exporters", raising=False)
    monkeypatch.syspath_prepend(folder)
