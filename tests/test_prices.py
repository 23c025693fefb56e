import pytest

from ragstone.config import Price
from ragstone.prices import Prices, cost_of

CHAT = Price(input=2.0, output=8.0, cached=0.5)
TOKENS = {"prompt": 3_000_000, "completion": 500_000, "cached": 1_000_000}


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (CHAT, 2 * 2.0 + 1 * 0.5 + 0.5 * 8.0),
        (Price(input=2.0, output=8.0), 3 * 2.0 + 0.5 * 8.0),
        (Price(input=2.0, cached=0.0), 2 * 2.0),
        (Price(), 0.0),
    ],
)
def test_cached_tokens_have_their_own_price_where_it_is_known(price: Price, cost: float) -> None:
    assert cost_of(price, *TOKENS.values()) == pytest.approx(cost)


def test_parts_and_embeddings_add_up() -> None:
    parts = {
        "a": {"prompt": 1_000_000, "completion": 0, "cached": 1_000_000},
        "b": {"prompt": 2_000_000, "completion": 500_000, "cached": 0},
    }
    found = Prices(CHAT, Price(input=0.1)).cost({**TOKENS, "by_metric": parts}, {"embedding_requests": 3, "embedding_tokens": 10_000_000})
    assert found == {"total": pytest.approx(9.5), "by_metric": {"a": 0.5, "b": 8.0}, "embeddings": 1.0}


@pytest.mark.parametrize(
    ("prices", "counts"),
    [(Prices(), {}), (Prices(embeddings=CHAT), {}), (Prices(CHAT), {"embedding_requests": 1})],
)
def test_half_a_sum_is_none(prices: Prices, counts: dict[str, int]) -> None:
    assert prices.cost({**TOKENS, "by_metric": {}}, counts) is None


def test_without_embedding_requests_the_judge_is_all() -> None:
    assert Prices(CHAT).cost({**TOKENS, "by_metric": {}}, {"embedding_requests": 0}) == {"total": 8.5, "by_metric": {}, "embeddings": 0.0}
