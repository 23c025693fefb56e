"""Was the intent of a question recognised rightly, as far as the columns of a sample tell it?"""

from ragstone.analysis.claims import same_text
from ragstone.analysis.evidence import Evidence

RIGHT = 0.5
"""From it on a number in a column of rights and wrongs, mostly 1 or 0, means right."""


def intent_right(found: Evidence) -> bool | None:
    """Return whether the intent was recognised rightly; None where the sample does not tell it."""
    told = found.about
    said = found.values.get("intent_top1", told.intent_top1 if told else None)
    if said is None or told is None or told.intent is None or "intent_top1" in found.values:
        return truth(said)
    return same_text(str(said)) == same_text(str(told.intent))


def truth(value: object) -> bool | None:
    """Return True or False as a column says it (1, 0, yes, 对…); None for what is neither."""
    if isinstance(value, bool | int | float):
        return value >= RIGHT
    word = str(value).strip().casefold()
    return True if word in _YES else False if word in _NO else None


_YES = {"1", "1.0", "true", "yes", "right", "correct", "对", "是", "正确"}
_NO = {"0", "0.0", "false", "no", "wrong", "incorrect", "错", "否", "错误", "不对"}
