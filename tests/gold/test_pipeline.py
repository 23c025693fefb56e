"""The bundled gold set through the whole path with the scripted judge: 120 cells as worked out by hand."""

from importlib.resources import files
from pathlib import Path

import orjson
import pytest
from support.scores import by_hand, score_rows

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.scripted import ScriptedJudge

GOLD = Path(str(files("ragstone").joinpath("gold")))
EXPECTED = orjson.loads(Path(__file__).with_name("expected.json").read_bytes())
FIVE = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]


def rows() -> list[dict[str, object]]:
    return [orjson.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()]


def scored(out: Path, samples: object = GOLD / "samples.jsonl", **settings: object) -> dict[tuple[str, str], bytes]:
    """Evaluate and return each cell's line, as bytes."""
    truth = GOLD / "truth.json"
    judge, embedder = ScriptedJudge.from_file(truth), ScriptedEmbedder.from_file(truth)
    ragstone.evaluate(samples, judge=judge, embeddings=embedder, out=out, **settings)  # type: ignore[arg-type]
    return {(r["sample_id"], r["metric"]): orjson.dumps(r) for r in score_rows(out)}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bytes]:
    return scored(tmp_path_factory.mktemp("gold") / "run")


def test_all_120_cells_are_as_worked_out_by_hand(together: dict[tuple[str, str], bytes]) -> None:
    assert len(together) == 120
    wrong = []
    for sample_id, metrics in EXPECTED.items():
        for metric, wanted in metrics.items():
            got = orjson.loads(together[sample_id, metric])
            value = None if wanted["value"] is None else float(by_hand(wanted["value"]))
            same = (
                got["value"] == value
                if value in (None, 0.0, 1.0)
                else got["value"] == pytest.approx(value, abs=1e-6 if "cosine" in got["detail"] or "cosines" in got["detail"] else 1e-12)
            )
            if not same or (got["status"], got["reason"]) != (wanted["status"], wanted["reason"]):
                wrong.append((sample_id, metric, wanted, got["value"], got["status"], got["reason"]))
    assert wrong == []


def test_directive_references_are_measured(together: dict[tuple[str, str], bytes]) -> None:
    behaviour = {key for key, line in together.items() if b'"behaviour":true' in line}
    assert {key[1] for key in behaviour} >= {"context_recall", "answer_correctness"}
    assert {key[0][:2] for key in behaviour} == {"zh", "en"}
    assert all(orjson.loads(together[key])["status"] == "ok" for key in behaviour)


@pytest.mark.parametrize("metric", FIVE)
def test_a_metric_alone_gives_the_same_cells(metric: str, together: dict[tuple[str, str], bytes], tmp_path: Path) -> None:
    alone = scored(tmp_path / "run", metrics=metric)
    assert alone == {key: line for key, line in together.items() if key[1] == metric}


@pytest.mark.parametrize("concurrency", [1, 32])
def test_concurrency_leaves_no_trace(concurrency: int, together: dict[tuple[str, str], bytes], tmp_path: Path) -> None:
    assert scored(tmp_path / "run", concurrency=concurrency) == together


def test_the_order_of_rows_leaves_no_trace(together: dict[tuple[str, str], bytes], tmp_path: Path) -> None:
    assert scored(tmp_path / "run", list(reversed(rows()))) == together


def test_the_file_of_scores_is_the_same_byte_for_byte_and_in_sample_order(tmp_path: Path) -> None:
    scored(tmp_path / "one", concurrency=1)
    scored(tmp_path / "two", concurrency=32)
    assert (tmp_path / "one/scores.jsonl").read_bytes() == (tmp_path / "two/scores.jsonl").read_bytes()
    assert [(r["sample_id"], r["metric"]) for r in score_rows(tmp_path / "one")] == [(row["id"], m) for row in rows() for m in FIVE]
