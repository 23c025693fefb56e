"""What the replies of an endpoint show besides their text: who answered, whether it thought, whether it saw the whole prompt. No I/O."""

import re
from collections.abc import Callable
from typing import Any, Literal

from ragstone.judge.replies import Completion, read_usage
from ragstone.questions.base import Question
from ragstone.tokens import ERROR, estimate, estimate_bytes

MOST_MODELS = 20
MOST_FINGERPRINTS = 5
"""Names and fingerprints that are kept; a server may give a new one with every reply."""
SHORT = 1000
"""Estimated tokens up to which a prompt fits any window; such prompts show how the endpoint counts."""
SMALLEST_WINDOW = 2048
NEAR = 0.01
"""A cut prompt has as many tokens as a window, or up to this share fewer."""
SURELY = 1.25
"""How many times more than a full window a prompt must be to have been cut to it."""
FAR_BELOW = 0.4
"""Share of the expected tokens below which a count means that something is missing."""
CUT = "prompt_cut"
"""The note of a reply whose prompt was counted far too short."""
_DATE = re.compile(r"[-@:](\d{4}-?\d{2}-?\d{2}|\d{4}|\d{6}|latest|free|preview)$")
_THINKS = re.compile(r"<think|◁think▷|\[THINK\]|</think", re.IGNORECASE)


class Witness:
    """Remembers what was seen, and tells once what a person should know.

    Args:
        quiet: whether the judge was told not to think.
        tell: is called with the name of a text and its values.
    """

    def __init__(self, *, quiet: bool, tell: Callable[..., None]) -> None:
        self.models: list[str] = []
        """Models that answered, as they call themselves, in order of appearance."""
        self.fingerprints: list[str] = []
        """What the servers call their state (`system_fingerprint`), in order of appearance."""
        self._quiet, self._tell = quiet, tell
        self._told: set[str] = set()
        self._prompts: dict[str, int] = {}
        self._rates: dict[str, float] = {}
        """Smallest share of the estimate that the endpoint counted of a short prompt, by language."""

    def hear(self, data: dict[str, Any], scrub: Callable[[str], str]) -> None:
        """Take in who answered."""
        model, fingerprint = data.get("model"), data.get("system_fingerprint")
        if model not in self.models and len(self.models) < MOST_MODELS:
            self.models = _with(self.models, model, scrub)
            if len({_plain(name) for name in self.models}) > 1:
                self._once("several_models", models=", ".join(self.models))
        if fingerprint not in self.fingerprints and len(self.fingerprints) < MOST_FINGERPRINTS:
            self.fingerprints = _with(self.fingerprints, fingerprint, scrub)

    def thought(self, completion: Completion) -> None:
        """Take in whether a judge that was told not to think thinks."""
        if self._quiet and "thinks" not in self._told:
            said = completion.text or ""
            if completion.reasoning or (_may_think(said) and _THINKS.search(said)):
                self._once("thinks")

    def cut(self, question: Question, usage: Any, told: dict[str, Any] | None = None) -> Literal["window", "far"] | None:
        """Return how a prompt was cut by the server: to a full `window`, or `far` below what it should count; None if it was not.

        `usage` is what the endpoint says, `told` what of it could be read, if that has been read already.

        Counts that leave out cached tokens are completed first. How an endpoint's tokens relate to the estimate is learned from
        short prompts, so that a vocabulary with long tokens does not look like a cut.
        """
        told = told or read_usage(usage)
        prompt = told["prompt_tokens"] if told else None
        expected = self._estimate(question)
        if expected > SHORT and isinstance(prompt, int) and prompt >= expected:
            return None  # the usual case, for next to nothing
        counted = _counted(usage, told, expected)
        if not counted:
            return None
        if counted >= expected or expected <= SHORT:
            self._calibrate(question, counted, expected)
            return None
        if (rate := self._rates.get(question.language, 1.0)) < FAR_BELOW:
            return None  # it counts something else than tokens of the prompt
        expected *= rate
        if expected >= SURELY * counted and _full(counted):
            self._once("prompt_cut_window", counted=counted, expected=round(expected))
            return "window"
        if counted < FAR_BELOW * expected:
            self._once("prompt_cut_far", counted=counted, expected=round(expected))
            return "far"
        return None

    def _estimate(self, question: Question) -> float:
        key = question.prompt_hash or ""
        if (system := self._prompts.get(key)) is None:
            system = self._prompts[key] = estimate(question.prompt)
        return system + estimate_bytes(question.body)

    def _calibrate(self, question: Question, counted: int, expected: float) -> None:
        if expected <= SHORT and expected:
            known = self._rates.get(question.language, 1.0)
            self._rates[question.language] = min(known, counted / expected)

    def _once(self, name: str, **values: object) -> None:
        if name not in self._told:
            self._told.add(name)
            self._tell(name, **values)


def counted_tokens(usage: Any, expected: float) -> int | None:
    """Return the tokens of the prompt an endpoint counted, cached ones included where it leaves them out; None if it does not tell.

    Whether it does is seen from the total; without one, from whether the sum comes nearer to what is expected.
    """
    return _counted(usage, read_usage(usage), expected)


def _counted(usage: Any, told: dict[str, Any] | None, expected: float) -> int | None:
    if told is None or told["prompt_tokens"] is None:
        return None
    prompt: int = told["prompt_tokens"]
    cached: int = told["cached_tokens"] or 0
    total = usage.get("total_tokens")
    if isinstance(total, int) and total >= prompt:
        apart = total >= prompt + cached + (told["completion_tokens"] or 0)
    else:
        apart = prompt + cached <= (1 + ERROR) * expected
    return prompt + cached if apart or cached > prompt else prompt


def _with(known: list[str], name: Any, scrub: Callable[[str], str]) -> list[str]:
    if not name or not isinstance(name, str):
        return known
    shown = scrub(name)[:100]
    return known if shown in known else [*known, shown]


def _may_think(said: str) -> bool:
    """False of most texts without a look at each of their characters."""
    begun = "<" in said or "◁" in said or "[t" in said or "[T" in said
    return begun and "hink" in said.lower()


def _full(counted: int) -> bool:
    window = SMALLEST_WINDOW
    while window < counted:
        window *= 2
    return counted >= (1 - NEAR) * window


def _plain(model: str) -> str:
    """A model's name without what an endpoint may add to it: a path, a date, a tier."""
    name = model.rsplit("/", 1)[-1].lower()
    while (shorter := _DATE.sub("", name)) != name:
        name = shorter
    return name
