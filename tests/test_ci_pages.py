"""The examples of docs/ci.md: YAML that a CI takes, in both languages the same, whose commands, variables and files exist."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.markdown import blocks, words

from ragstone.cli.app import build
from ragstone.config import FLAGS

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = [DOCS / "ci.md", DOCS / "zh" / "ci.md"]
NAMES = ("github.yml", "gitlab.yml")


def example(page: Path, name: str) -> str:
    (found,) = [block.text for block in blocks(page) if block.do == "file" and block.what == name]
    return found


def read(name: str) -> Any:
    return yaml.safe_load(example(PAGES[0], name))


def scripts() -> list[str]:
    """Every shell script of both examples."""
    steps = read("github.yml")["jobs"]["pipeline"]["steps"]
    job = read("gitlab.yml")["answers"]
    return [*(step["run"] for step in steps if "run" in step), "\n".join([*job["before_script"], *job["script"]])]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_show_the_same_file(name):
    assert example(PAGES[0], name) == example(PAGES[1], name)


def test_the_jobs_are_jobs():
    github, gitlab = read("github.yml"), read("gitlab.yml")
    assert {"pull_request", "push", "schedule"} == set(github[True])  # YAML 1.1 reads `on` as true
    assert all(("uses" in step) != ("run" in step) for step in github["jobs"]["pipeline"]["steps"])
    assert github["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert all(isinstance(line, str) for line in gitlab["answers"]["script"])


def test_the_work_folder_and_the_replies_are_kept():
    steps = {step.get("name"): step for step in read("github.yml")["jobs"]["pipeline"]["steps"]}
    kept = [step["with"]["path"].split() for step in steps.values() if "cache" in step.get("uses", "")]
    assert kept == [["runs", ".replies"], ["runs", ".replies"]]
    assert steps["Run the pipeline"]["env"]["RAGSTONE_CACHE"] == ".replies"
    gitlab = read("gitlab.yml")["answers"]
    assert gitlab["cache"]["paths"] == ["runs/", ".replies/"]
    assert gitlab["variables"]["RAGSTONE_CACHE"].endswith("/.replies")
    assert gitlab["artifacts"]["reports"]["junit"] == "out/gate.junit.xml"


@pytest.mark.parametrize("script", scripts())
def test_every_script_is_one_a_shell_takes(script):
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert done.stderr == ""


def test_every_command_in_them_exists():
    root = build()
    context = root.make_context("ragstone", [], resilient_parsing=True)
    lines = [line.strip() for script in scripts() for line in script.splitlines()]
    commands = [found for line in lines for found in re.findall(r"\bragstone (?:run|runs) [^|>;]*", line)]
    assert len(commands) == 4
    for command in commands:
        _, name, *rest = words(command)
        known = root.get_command(context, name)
        flags = {option for parameter in known.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= flags


def test_every_variable_of_ragstone_is_one():
    named = {name for page in PAGES for name in re.findall(r"\bRAGSTONE_\w+", page.read_text(encoding="utf-8"))}
    keys = {"RAGSTONE_COLLECT_API_KEY", "RAGSTONE_JUDGE_API_KEY"}
    assert named <= keys | {f"RAGSTONE_{flag.upper()}" for flag in FLAGS}


def test_no_value_of_the_event_is_put_into_a_script():
    """What a pull request says could be a command: it may come in by a variable alone."""
    steps = read("github.yml")["jobs"]["pipeline"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_a_comment_that_fails_does_not_take_the_place_of_the_code(tmp_path):
    told = 'mkdir -p runs/x; echo page > runs/x/report.md; echo \'{"folder": "runs/x"}\'; exit 1'
    for name, does in {"ragstone": told, "curl": "exit 22", "pip": "exit 0", "python": f'exec {sys.executable} "$@"'}.items():
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        command.chmod(0o755)
    environ = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "CI_MERGE_REQUEST_IID": "1", "COMMENT_TOKEN": "t"}
    job = read("gitlab.yml")["answers"]
    script = "\n".join(["set -eo pipefail", *job["before_script"], *job["script"]])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert (tmp_path / "out" / "report.md").is_file()
    assert done.returncode == 1


def test_merge_requests_see_the_runs_of_the_main_branch_and_forks_start_no_job():
    assert read("gitlab.yml")["answers"]["cache"]["unprotect"] is True
    assert "head.repo.full_name == github.repository" in read("github.yml")["jobs"]["pipeline"]["if"]
