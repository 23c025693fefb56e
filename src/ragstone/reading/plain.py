"""Values of other libraries as JSON would hold them: numpy, pandas, Arrow and decimal numbers, dates, bytes. Pure."""

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_NOTHING = ("NaTType", "NAType")
"""Types of pandas.NaT and pandas.NA; neither can be told by comparing."""
_TEXT_TIMES = ("datetime64", "timedelta64")
"""Types of numpy whose nanoseconds would become bare integers."""


def plain(value: Any) -> Any:
    """Return `value` in the types of JSON; whatever says "nothing there" (NaN, NaT, pandas.NA) is None.

    Dates and times become ISO 8601 text, durations text, bytes the UTF-8 text they hold. What JSON cannot hold is
    returned as it is. Raises RecursionError for a list that holds itself.
    """
    if value is None or type(value) in (str, bool, int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return _foreign(value)


def _foreign(value: Any) -> Any:
    kind = type(value).__name__
    if kind in _NOTHING:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, bytes | bytearray):
        return _decoded(bytes(value))
    if kind in _TEXT_TIMES:
        return None if str(value) == "NaT" else str(value)
    for name in ("tolist", "to_list", "as_py"):
        if hasattr(value, name):
            return plain(getattr(value, name)())
    return value


def _number(value: Decimal) -> int | float | None:
    if value.is_nan():
        return None
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def _decoded(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
