"""The shell of every export: what is refused before any work, what stands on the disk afterwards, and what is said of it."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest
from support import exporters, hand_made

from ragstone import Receipt, Written, aexport_run, export_run, load
from ragstone.errors import AuthError, ConfigError, RunFolderError, StoppedError
from ragstone.export.base import Order

IDS = "".join(f"{row['id']}\n" for row in hand_made.SAMPLES).encode()


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    """A run folder in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    exporters.install(tmp_path / "site", monkeypatch)
    return hand_made.write_run(tmp_path / "run")


def left():
    """What lies in the working folder besides what was there before."""
    return sorted(path.relative_to(".").as_posix() for path in Path().rglob("*") if path.parts[0] not in ("run", "site"))


# ------------------------------------------------------------------ files
def test_a_file_is_written_whole_and_told(run):
    done = export_run(run, "ids", "out.txt")
    assert isinstance(done, Written)
    assert Path("out.txt").read_bytes() == IDS
    assert (done.path, done.bytes, done.samples, done.cells, done.exit_code) == ("out.txt", len(IDS), 4, 20, 0)
    assert done.unmeasured
    assert done.unmeasured == dict(sorted(done.unmeasured.items(), key=lambda item: (-item[1], item[0])))
    assert (done.signature, done.notice) == (load(run).signature, load(run).notice)
    assert left() == ["out.txt"]


@pytest.mark.parametrize("given", [str, Path, load])
def test_a_run_is_named_or_given(run, given):
    export_run(given(run), "ids", Path("out.txt"))
    assert Path("out.txt").read_bytes() == IDS


def test_missing_folders_are_made(run):
    export_run(run, "ids", "a/b/out.txt")
    assert left() == ["a", "a/b", "a/b/out.txt"]


def test_an_existing_file_is_kept_unless_forced(run):
    Path("out.txt").write_bytes(b"mine")
    with pytest.raises(ConfigError, match="--force"):
        export_run(run, "ids", "out.txt")
    assert Path("out.txt").read_bytes() == b"mine"
    export_run(run, "ids", "out.txt", force=True)
    assert Path("out.txt").read_bytes() == IDS


def test_a_replaced_file_keeps_its_mode_and_a_link_its_place(run):
    Path("real.txt").write_bytes(b"old")
    Path("real.txt").chmod(0o640)
    Path("link.txt").symlink_to("real.txt")
    export_run(run, "ids", "link.txt", force=True)
    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_bytes() == IDS
    assert stat.S_IMODE(Path("real.txt").stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_of_every_new_file(run):
    old = os.umask(0o027)
    try:
        export_run(run, "ids", "out.txt")
    finally:
        os.umask(old)
    assert stat.S_IMODE(Path("out.txt").stat().st_mode) == 0o640


REFUSED = [
    ("a folder", "ids", "folder_here", {}, "folder_here"),
    ("a file above", "ids", "file_here/out.txt", {}, "file_here"),
    ("a file of the run", "ids", "run/scores.jsonl", {"force": True}, "run/scores.jsonl"),
    ("the run", "folder", "run", {"force": True}, "run"),
    ("a folder above the run", "folder", ".", {"force": True}, "run"),
    ("a file for a folder", "folder", "file_here", {"force": True}, "file_here"),
    ("a folder that holds something", "folder", "folder_here", {}, "--force"),
    ("no file", "ids", None, {}, "-o"),
    ("a file for a sink", "bucket", "out.txt", {}, "-o"),
    ("an object", "object", "out.txt", {}, "ragstone.load"),
    ("an unknown name", "excel", "out.xlsx", {}, "xlsx"),
    ("a setting there is not", "bucket", None, {"experimnt": "x"}, "experimnt"),
    ("a setting of another", "ids", "out.txt", {"experiment": "x"}, "experiment"),
]


@pytest.mark.parametrize(("to", "path", "more", "part"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_cannot_be_is_refused_before_any_work(run, monkeypatch, to, path, more, part, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    Path("file_here").write_bytes(b"mine")
    Path("folder_here").mkdir()
    Path("folder_here/mine.txt").write_bytes(b"mine")
    before = left()
    with pytest.raises(ConfigError) as refused:
        export_run(run, to, path, **more)
    assert part in str(refused.value)
    assert any("\u4e00" <= char <= "\u9fff" for char in str(refused.value)) == (lang == "zh")
    assert left() == before
    assert (run / "scores.jsonl").read_bytes()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write into")
def test_a_json_export_that_is_exported_is_kept(run):
    export_run(run, "json", "run.json")
    with pytest.raises(ConfigError, match=r"run\.json"):
        export_run("run.json", "ids", "run.json", force=True)
    assert load("run.json") == load(run)


def test_a_place_that_cannot_be_written_is_refused(run):
    with pytest.raises(ConfigError, match="/proc"):
        export_run(run, "ids", "/proc/out.txt")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_is_refused(run):
    Path("closed").mkdir(mode=0o500)
    with pytest.raises(ConfigError, match="closed"):
        export_run(run, "ids", "closed/out.txt")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_full_disk_is_told(run):
    with pytest.raises(StoppedError, match="/dev/full"):
        export_run(run, "ids", "/dev/full")


def test_a_device_takes_it_as_it_comes(run):
    assert export_run(run, "ids", os.devnull).exit_code == 0


def test_a_run_that_cannot_be_read_leaves_nothing(run):
    with (run / "scores.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"sample_id": "x", "metric": "faithfulness", "value": 1.5, "status": "ok"}\n')
    with pytest.raises(RunFolderError, match=r"scores\.jsonl"):
        export_run(run, "ids", "out.txt")
    assert left() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_fault_of_somebody_elses_exporter_is_told_as_its_own(run, monkeypatch, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    Path("out.txt").write_bytes(b"mine")
    with pytest.raises(ConfigError, match="others_exporters:Broken") as told:
        export_run(run, "broken", "out.txt", force=True)
    assert "ValueError: no such colour" in str(told.value)
    assert isinstance(told.value.__cause__, ValueError)
    assert (Path("out.txt").read_bytes(), left()) == (b"mine", ["out.txt"])


def test_a_fault_of_ours_is_no_mistake_of_a_user(run, monkeypatch):
    from ragstone.export.csv import CsvExporter

    monkeypatch.setattr(CsvExporter, "write", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_run(run, "csv", "out.csv")
    assert left() == []


def test_an_export_that_is_killed_leaves_the_old_file(run, monkeypatch):
    import others_exporters

    def half(self, content, file, order):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(others_exporters.Lines, "write", half)
    Path("out.txt").write_bytes(b"mine")
    with pytest.raises(KeyboardInterrupt):
        export_run(run, "ids", "out.txt", force=True)
    assert (Path("out.txt").read_bytes(), left()) == (b"mine", ["out.txt"])


def test_a_dry_run_measures_and_writes_nothing(run):
    done = export_run(run, "ids", "a/out.txt", dry_run=True)
    assert (done.dry_run, done.bytes, left()) == (True, len(IDS), [])
    Path("out.txt").write_bytes(b"mine")
    with pytest.raises(ConfigError, match="--force"):
        export_run(run, "ids", "out.txt", dry_run=True)


# ------------------------------------------------------------------ folders and objects
def test_a_folder_is_written_whole_and_replaced_whole(run):
    done = export_run(run, "folder", "out")
    assert left() == ["out", "out/0.txt", "out/1.txt", "out/2.txt", "out/3.txt"]
    assert done.bytes == len(IDS) - 4
    Path("out/more.txt").write_bytes(b"x")
    with pytest.raises(ConfigError, match="--force"):
        export_run(run, "folder", "out")
    export_run(run, "folder", "out", force=True)
    assert left() == ["out", "out/0.txt", "out/1.txt", "out/2.txt", "out/3.txt"]


def test_a_folder_that_cannot_be_replaced_is_kept(run, monkeypatch):
    Path("out").mkdir()
    Path("out/mine.txt").write_bytes(b"mine")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoppedError):
        export_run(run, "folder", "out", force=True)
    assert left() == ["out", "out/mine.txt"]


@pytest.mark.parametrize("other", ["thesis.txt", "data.arrow", "state.json.bak", "deep/state.json", ".git/config"])
def test_a_folder_that_holds_other_things_is_never_replaced(run, other):
    pytest.importorskip("datasets")
    export_run(run, "dataset", "out")
    export_run(run, "dataset", "out", force=True)
    path = Path("out", other)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"mine")
    before = left()
    for force in (False, True):
        with pytest.raises(ConfigError, match=path.parts[1]):
            export_run(run, "dataset", "out", force=force)
    assert (left(), path.read_bytes()) == (before, b"mine")


def test_an_empty_folder_is_filled(run):
    Path("out").mkdir()
    export_run(run, "folder", "out")
    assert len(left()) == 5


def test_an_object_is_made_in_python(run):
    assert load(run).export("object") == [row["id"] for row in hand_made.SAMPLES]


def test_a_run_exports_itself(run):
    done = load(run).export("ids", "out.txt")
    assert (done.samples, Path("out.txt").read_bytes()) == (4, IDS)
    assert isinstance(load(run).export("bucket", lang="zh"), Receipt)
    with pytest.raises(ConfigError, match="--force"):
        load(run).export("ids", "out.txt")
    assert load(run).export("ids", "out.txt", force=True).bytes == len(IDS)


# ------------------------------------------------------------------ sinks
def test_what_was_sent_is_told(run):
    done = export_run(run, "bucket")
    assert isinstance(done, Receipt)
    assert (done.missing, done.exit_code) == (0, 0)


def test_what_is_missing_exits_1(run):
    done = export_run(run, "lossy")
    assert (done.missing, done.exit_code, len(done.rejected)) == (7, 1, 7)


def test_a_stop_stays_one(run):
    with pytest.raises(AuthError):
        export_run(run, "stopped")


def test_a_fault_of_somebody_elses_sink_is_told_as_its_own(run):
    with pytest.raises(ConfigError, match="others_exporters:Failing"):
        export_run(run, "failing")


def orders():
    return sys.modules["others_exporters"].SENT


def test_the_settings_file_holds_for_what_is_sent(run, monkeypatch):
    Path("ragstone.toml").write_text('[export.langfuse]\nexperiment = "prompt v2"\n', encoding="utf-8")
    export_run(run, "bucket", lang="zh", dry_run=True)
    (order,) = orders()
    assert (order.lang, order.dry_run, order.settings.langfuse.experiment) == ("zh", True, "prompt v2")
    assert order.cache
    export_run(run, "bucket", order=Order(lang="en"))
    assert orders()[-1].settings.langfuse.experiment is None


def test_a_file_needs_no_settings(run):
    Path("ragstone.toml").write_text("[export\n", encoding="utf-8")
    export_run(run, "ids", "out.txt")
    with pytest.raises(ConfigError, match=r"ragstone\.toml"):
        export_run(run, "bucket")


def test_settings_of_an_exporter_are_keywords():
    from ragstone.export.asked import order_of
    from ragstone.export.registry import exporter

    order = order_of(exporter("langfuse"), {"experiment": "x", "environment": "ci"})
    assert (order.settings.langfuse.experiment, order.settings.langfuse.environment) == ("x", "ci")
    for wrong in ({"environment": "With Blanks"}, {"experiment": 7}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            order_of(exporter("langfuse"), wrong)


def test_it_runs_within_an_event_loop(run):
    async def inside():
        one = export_run(run, "bucket")
        other = await aexport_run(run, "bucket")
        return one, other

    one, other = asyncio.run(inside())
    assert one == other


def test_the_package_itself_keeps_its_name():
    import ragstone.export.base

    assert ragstone.export.base.Order is Order
    assert ragstone.export_run is export_run


@pytest.mark.skipif(os.name == "nt", reason="limits of a process")
def test_a_file_the_disk_does_not_take_whole_is_named(tmp_path):
    import resource

    from ragstone.export.target import Target

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(StoppedError, match=r"scores\.csv"):
            Target(tmp_path / "out" / "scores.csv", None, force=False).write(lambda file: file.write(b"x" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((tmp_path / "out").iterdir()) == []
