"""Whether two questions ask the same in other words: what their wording tells beside the cosine of their embeddings.

Embeddings hold "before goods are received" and "before goods are shipped" for nearly one text (0.89); most paraphrases
lie below that. So a pair counts only if nothing in its wording speaks against it.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import product

from ragstone.judge.local_evidence import Piece
from ragstone.language import detect, fold
from ragstone.resources import read_toml
from ragstone.types import Language, Sample

SAME_WORDS = 0.75
"""Least cosine of two questions that hold the same words, but for the words of asking."""
MORE_WORDS = 0.82
"""Least cosine if one holds words besides."""
AGREEING = 0.8
"""Least cosine if each holds words that the other lacks; such a pair counts only if its references say the same."""
WHATEVER = -2.0
"""No cosine is below: the same text."""
LEAST = min(SAME_WORDS, MORE_WORDS, AGREEING)
"""No pair below is looked at."""
SHARED = 0.5
"""Least share of the words of the shorter question that both hold."""

_TOKEN = re.compile(r"[a-z0-9]+(?:[-'][a-z]+)?|[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_LATIN = re.compile(r"[a-z][a-z0-9+-]*|[0-9][a-z0-9.]*")
_WAY = re.compile(r"\b(?:process|procedure|way|steps?|reason) (?:for|to|of|why)\b|\bin charge of\b")
_ENDING = re.compile(r"(?:ation|ions?|ary|ies|es|ed|ing|ly|s|e|y)$")
_CLOSE = {frozenset(pair) for pair in (("when", "amount"), ("how", "where"), ("who", "where"), ("how", "whether"))}
"""Askings that may be for the same: how long it takes, and when it is done."""


@dataclass(frozen=True)
class Wording:
    """A question with what is compared of it."""

    text: str
    language: Language

    @classmethod
    def of(cls, sample: Sample) -> "Wording":
        """Return the wording of a row's question."""
        return cls(sample.question or "", detect(sample.question))

    @cached_property
    def asked(self) -> frozenset[str]:
        """What is asked for: why, who, where, when, amount, whether, how; several or none."""
        found = frozenset(name for name, pattern in _asked(self.language).items() if pattern.search(self.plain))
        return found - {"how"} if "amount" in found and re.search("how (?:many|much|long|often)", self.plain) else found

    @cached_property
    def plain(self) -> str:
        """The text as expressions are matched on it."""
        return " ".join(unicodedata.normalize("NFKC", self.text).casefold().replace("’", "'").split()).strip()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What it is about, in order: Chinese characters, stems of English words; one spelling for words that mean the same."""
        return _words_zh(self.plain) if self.language == "zh" else _words_en(self.plain)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all its English words, as they stand."""
        return frozenset(map(_stem, _WORD.findall(self.plain)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers."""
        return Piece(self.text).numbers

    @cached_property
    def names(self) -> frozenset[str]:
        """What names a thing: Latin words in Chinese, capitalised words within an English sentence, single letters."""
        if self.language == "zh":
            return frozenset(_LATIN.findall(self.plain))
        return Piece(self.text).names - {"i"}

    @cached_property
    def denies(self) -> bool:
        """True if it asks for what is not."""
        return Piece(re.sub("能不能|是不是|有没有|可不可以|要不要|需不需要", "", self.text)).denials > 0

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for questions that hold the same words, numbers and names."""
        return self.language, tuple(sorted(set(self.words))), tuple(sorted(self.numbers)), self.denies


def same(one: Wording, other: Wording, cosine: float, agree: bool = False) -> bool:
    """Return True if two questions ask the same. Symmetric.

    Args:
        one: a question.
        other: another one.
        cosine: of their embeddings.
        agree: True if the references are known to say the same: then words may be others.
    """
    least = nearness(one, other, agree)
    return least is not None and cosine >= least


def nearness(one: Wording, other: Wording, agree: bool = False) -> float | None:
    """Return the least cosine from which two questions ask the same, as `same` has it; None if none would do. Symmetric."""
    if one.plain == other.plain or fold(one.text) == fold(other.text):
        return WHATEVER
    if one.language != other.language or apart(one, other):
        return None
    only, others = _lacking(one, other), _lacking(other, one)
    if not only and not others:
        return SAME_WORDS
    if len(set(one.words) & set(other.words)) < SHARED * min(len(set(one.words)), len(set(other.words))):
        return None
    if _turns([*only, *others], one.language):
        return None
    if not only or not others:
        return MORE_WORDS if _loose(one, other) else None
    return AGREEING if agree and _spots(one.words, other.words) > 1 else None


def apart(one: Wording, other: Wording) -> bool:
    """Return True if two questions differ in numbers, names, denial, in what they ask for or in a word and its opposite. Symmetric."""
    if one.numbers != other.numbers or one.denies != other.denies:
        return True
    if any(name not in other.plain for name in one.names) or any(name not in one.plain for name in other.names):
        return True
    return _ask_apart(one.asked, other.asked) or _opposite(one, other)


def _ask_apart(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other or one & other:
        return False
    return not any(frozenset(pair) in _CLOSE for pair in product(one, other))


def _lacking(one: Wording, other: Wording) -> list[str]:
    held = set(other.words)
    return [word for word in one.words if word not in held]


def _loose(one: Wording, other: Wording) -> bool:
    """True if the sentences differ in more than one inserted word: "book a room" and "cancel a room" do not."""
    return _spots(_TOKEN.findall(one.plain), _TOKEN.findall(other.plain)) > 1


def _spots(one: Sequence[str], other: Sequence[str]) -> int:
    """In how many places two sequences differ, the fewer of both directions, as the matcher is not symmetric."""
    pairs = ((one, other), (other, one))
    return min(sum(code[0] != "equal" for code in SequenceMatcher(None, *pair, autojunk=False).get_opcodes()) for pair in pairs)


def _turns(words: Sequence[str], language: Language) -> bool:
    """True if a word that one question holds besides makes another question of it."""
    text = "".join(words)
    turning = _turning(language)
    return any(word in text for word in turning) if language == "zh" else any(word in turning for word in words)


def _opposite(one: Wording, other: Wording) -> bool:
    texts = (one.plain, other.plain) if one.language == "zh" else (one.stems, other.stems)
    return any(
        (a in x and b not in x and b in y and a not in y) or (b in x and a not in x and a in y and b not in y)
        for a, b in _opposites(one.language)
        for x, y in [texts]
    )


# ------------------------------------------------------------------ words
def _words_zh(text: str) -> tuple[str, ...]:
    spelled, pattern = _spellings()
    text = pattern.sub(lambda match: spelled[match[0]], text)
    return tuple(char for char in _asking_zh().sub("", text) if char.isalnum())


def _words_en(text: str) -> tuple[str, ...]:
    asking, spelled = _asking_en()
    stems = [(word, _stem(word)) for word in _WORD.findall(_WAY.sub(" ", text))]
    return tuple(spelled.get(stem, stem) for word, stem in stems if word not in asking)


def _stem(word: str) -> str:
    if len(word) <= 3:
        return word
    stem = _ENDING.sub("", word)
    stem = stem if len(stem) >= 3 else word
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem.removesuffix("e")


def _lists(language: Language) -> Mapping[str, list[list[str]]]:
    lists: Mapping[str, list[list[str]]] = read_toml("checks", "wording.toml")[language]
    return lists


@cache
def _asked(language: Language) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in read_toml("checks", "wording.toml")[language]["asked"].items()}


@cache
def _spellings() -> tuple[dict[str, str], re.Pattern[str]]:
    spelled = {word: group[0] for group in _lists("zh")["same"] for word in group}
    return spelled, _longest_first(spelled)


@cache
def _asking_zh() -> re.Pattern[str]:
    return _longest_first(read_toml("checks", "wording.toml")["zh"]["asking"])


@cache
def _asking_en() -> tuple[frozenset[str], dict[str, str]]:
    spelled = {_stem(word): _stem(group[0]) for group in _lists("en")["same"] for word in group}
    return frozenset(read_toml("checks", "wording.toml")["en"]["asking"]), spelled


@cache
def _opposites(language: Language) -> tuple[tuple[str, str], ...]:
    form = (lambda word: word) if language == "zh" else _stem
    return tuple((form(a), form(b)) for a, b in _lists(language)["opposite"])


@cache
def _turning(language: Language) -> frozenset[str]:
    words = read_toml("checks", "wording.toml")[language]["turning"]
    return frozenset(words if language == "zh" else map(_stem, words))


def _longest_first(words: "Sequence[str] | Mapping[str, str]") -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
