"""All kinds of questions by name."""

from ragstone.questions import check_all, check_claims, cosine, invert_answer, match_claims, rate_contexts, split_both, split_claims
from ragstone.questions.base import Kind, system_prompt
from ragstone.types import Language

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (split_claims, split_both, check_claims, rate_contexts, check_all, match_claims, invert_answer, cosine)
}
"""Every kind this version can ask."""


def prompt(kind_name: str, language: Language) -> str:
    """Return the system prompt of a kind as sent: `task: <kind>/<version>`, then the text of its prompt file.

    Raises:
        KeyError: if there is no kind of that name.
        ValueError: if it is answered without a judge.
    """
    return system_prompt(KINDS[kind_name], language)
