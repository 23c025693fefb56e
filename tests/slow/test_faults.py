"""Fifty samples at a judge that fails by lot: what is lost, counted; how long it takes is measured by benches/faults.py."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fault_server import Call, FaultServer, error, reply
from support.server import Answer
from support.told_rows import shared_out, table

import ragstone

pytestmark = pytest.mark.slow
ROWS = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 2 else "en") for n in range(50)]


def by_lot(limited: float, broken: float, malformed: float, seed: int) -> Callable[[Call], Answer | None]:
    """Shares of 429 with Retry-After, of 500 and of malformed replies; the same try of the same request always fares alike."""

    def fault(call: Call) -> Answer | None:
        lot = random.Random(f"{seed}/{call.nth}/{call.seen.user}")
        drawn = lot.random()
        if drawn < limited:
            return error(429, "Too many requests", Retry_After="1")
        if drawn < limited + broken:
            return error(500, "internal error")
        if drawn < limited + broken + malformed:
            return reply(lot.choice([call.good[: len(call.good) // 2], "Sorry, here is what I think of it.", '{"result": [1, 2]}']))
        return None

    return fault


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rates", "most"), [((0.10, 0.05, 0.03), 0), ((0.30, 0.15, 0.10), 1)], ids=["some", "many"])
def test_nearly_every_cell_is_measured(tmp_path: Path, rates: tuple[float, float, float], most: int, seed: int) -> None:
    with FaultServer(table(ROWS), by_lot(*rates, seed)) as server:
        run = ragstone.evaluate(
            [told.row for told in ROWS], out=tmp_path / "run", judge="m", base_url=server.url, embeddings="e", no_cache=True
        )
        refused = sum(status != 200 for status in server.statuses)
    failed = [(score.sample_id, score.metric, score.reason) for score in run.scores if score.status == "failed"]
    assert len(list(run.scores)) == 250
    assert len(failed) <= most, failed
    assert all(reason for _, _, reason in failed)
    assert refused > 250 * rates[0]
