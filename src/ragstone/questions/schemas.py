"""JSON schemas in the strict style that structured output asks for: all keys required, no others, in a fixed order."""

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
FLAG: dict[str, Any] = {"type": "boolean"}
IDS: dict[str, Any] = {"type": "array", "items": INTEGER}


def record(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, written in this order."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def records(**properties: dict[str, Any]) -> dict[str, Any]:
    """A list of such objects."""
    return {"type": "array", "items": record(**properties)}


def words(*choices: str) -> dict[str, Any]:
    """One word of a closed list."""
    return {"type": "string", "enum": list(choices)}
