import pytest

from ragstone.errors import ConfigError
from ragstone.metrics import PRESETS, available, parse, split_names
from ragstone.metrics.answer_correctness import AnswerCorrectness
from ragstone.metrics.answer_relevancy import AnswerRelevancy

FIVE = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]


def test_the_five_metrics_are_found_in_their_order() -> None:
    assert list(available())[:5] == FIVE
    assert [available()[name].side for name in FIVE] == ["generation", "generation", "retrieval", "retrieval", "generation"]


def test_presets_name_known_metrics() -> None:
    assert {name for names in PRESETS.values() for name in names} <= set(available())
    assert PRESETS["full"] == tuple(FIVE)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("faithfulness", ["faithfulness"]),
        (" faithfulness , context_recall,", ["faithfulness", "context_recall"]),
        ("answer_correctness(beta=2,weights=[0.5,0.5]),faithfulness", ["answer_correctness(beta=2,weights=[0.5,0.5])", "faithfulness"]),
        ("faithfulness，context_recall", ["faithfulness", "context_recall"]),
    ],
)
def test_commas_inside_brackets_do_not_split(text: str, parts: list[str]) -> None:
    assert split_names(text) == parts


@pytest.mark.parametrize("text", ["answer_relevancy(strictness=1)", "answer_correctness(beta=2,weights=[0.5,0.5])", "faithfulness"])
def test_the_text_given_is_the_name_of_the_score(text: str) -> None:
    assert parse(text).text == text
    assert parse(text.replace(",", " , ")).text == text


def test_parameters_are_read_and_win_over_the_settings_of_the_run() -> None:
    assert parse("answer_correctness(beta=2,weights=[0.5,0.5])") == AnswerCorrectness(beta=2, weights=(0.5, 0.5))
    settings = {"answer_relevancy": {"strictness": 5}}
    assert parse("answer_relevancy", settings) == AnswerRelevancy(strictness=5)
    assert parse("answer_relevancy", settings).text == "answer_relevancy"
    assert parse("answer_relevancy(strictness=1)", settings) == AnswerRelevancy(strictness=1)


def test_python_objects_print_the_same_text() -> None:
    assert AnswerRelevancy(strictness=1).text == "answer_relevancy(strictness=1)"
    assert AnswerCorrectness(beta=2, weights=(0.5, 0.5)).text == "answer_correctness(beta=2,weights=[0.5,0.5])"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("faithfullness", "did you mean 'faithfulness'"),
        ("context_percision", "did you mean 'context_precision'"),
        ("answer_relevancy(strictnes=1)", "did you mean 'strictness'"),
        ("answer_relevancy(strictness=0)", "1 to 20"),
        ("answer_relevancy(3)", "name=value"),
        ("answer_relevancy(strictness=", "name=value"),
        ("answer_relevancy(strictness=__import__('os'))", "name=value"),
        ("忠实度数", "unknown metric"),
        ("faithfulness answer_relevancy", "separated by commas"),
        ("a b", "unknown metric"),
        ("((((", "unknown metric"),
        ("faithfulness(text='x')", "unknown parameter 'text'"),
    ],
)
def test_mistakes_are_named_with_the_nearest_right_word(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace("(", r"\(")):
        parse(text)


def test_a_parameter_from_the_settings_is_checked_like_one_in_the_text() -> None:
    with pytest.raises(ConfigError, match="unknown parameter 'depth'"):
        parse("faithfulness", {"faithfulness": {"depth": 2}})


@pytest.mark.parametrize(("title", "name"), [("忠实度", "faithfulness"), ("答案相关性(strictness=1)", "answer_relevancy(strictness=1)")])
def test_chinese_titles_name_the_same_metrics(title: str, name: str) -> None:
    assert parse(title) == parse(name)
    assert parse(title).text == name
