"""What a value is to a series or a param: plain Python, numpy, torch and similar objects."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from cairn.messages import BOOL, INTEGER, NUMBER, TEXT
from cairn.notices import warn
from cairn.wire import encode_text

TEXT_BYTES_MAX = 64 << 10
KEY_BYTES_MAX = 512
_PARAM_BYTES_MAX = 64 << 10
_NESTING_MAX = 32
_SAFE = STEP_MAX = 1 << 53

Point = tuple[int, Any]


def to_point(value: Any) -> Point | None:
    """The kind of a series and its value, or None for other objects.

    Whole numbers become numbers, so that `loss = 0` may be followed by `0.5`; only those a double cannot
    hold become integers.
    """
    kind = type(value)
    if kind is float:
        return NUMBER, value
    if kind is bool:
        return BOOL, value
    if kind is int:
        if -_SAFE <= value <= _SAFE:
            return NUMBER, float(value)
        return (INTEGER, value) if -(1 << 63) <= value < 1 << 63 else (NUMBER, _to_float(value))
    if isinstance(value, str):
        return TEXT, cut_text(value, TEXT_BYTES_MAX)
    plain = to_plain(value)
    if plain is not value:
        return to_point(plain)
    if isinstance(value, (int, float)):
        return to_point(float(value))
    if hasattr(value, "__float__"):
        try:
            return NUMBER, float(value)
        except Exception:
            return None
    return None


def _to_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_plain(value: Any) -> Any:
    """A scalar of numpy, torch or jax (also an array of one element) as the Python value it holds; else itself."""
    item = getattr(value, "item", None)
    if item is None or isinstance(value, (str, bytes, Mapping, type)) or not callable(item):
        return value
    try:
        plain = item()
    except Exception:
        # An array of several elements raises this.
        return value
    return plain if isinstance(plain, (bool, int, float, str)) else value


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Of an array of numpy, torch or jax; None for other objects."""
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "tolist"):
        return None
    try:
        return tuple(int(length) for length in shape)
    except (TypeError, ValueError):
        return None


def to_json(value: Any) -> tuple[str, str]:
    """JSON text for a param, and the name of the type when JSON has no such type and it became text; else "".

    Numbers keep their kind: 1 stays 1, 1.0 stays 1.0. Text that is over the limits is cut, and counts as changed.
    """
    try:
        text = json.dumps(value, default=_plain_or_refuse, allow_nan=True, ensure_ascii=False)
        if len(text) * 4 <= _PARAM_BYTES_MAX or len(encode_text(text)) <= _PARAM_BYTES_MAX:
            if _depth(text) <= _NESTING_MAX:
                return well_formed(text), ""
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    return json.dumps(cut_text(describe(value), _PARAM_BYTES_MAX // 2 - 2), ensure_ascii=True), _type_name(value)


def _plain_or_refuse(value: Any) -> Any:
    plain = to_plain(value)
    if plain is not value:
        return plain
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    shape = shape_of(value)
    if shape is not None:
        return value.tolist()
    raise TypeError(f"{_type_name(value)} is not JSON")


def _depth(text: str) -> int:
    """How deep brackets nest. Those in texts are counted, too: too deep is only a reason to keep it as text."""
    if text.count("[") + text.count("{") <= _NESTING_MAX:
        return 0
    deepest = depth = 0
    in_text = escaped = False
    for character in text:
        if in_text:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_text = False
        elif character == '"':
            in_text = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def describe(value: Any) -> str:
    """A text for anything, also for objects that cannot be printed."""
    try:
        return value if isinstance(value, str) else well_formed(repr(value))
    except Exception:
        return f"<{_type_name(value)} that cannot be printed>"


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def well_formed(text: str) -> str:
    """Without halves of surrogate pairs, which no server takes."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def cut_text(text: str, bytes_max: int) -> str:
    """At most so many bytes of UTF-8, and no half character at the end."""
    if len(text) * 4 <= bytes_max:
        return well_formed(text)
    data = encode_text(text)
    return well_formed(text) if len(data) <= bytes_max else data[:bytes_max].decode("utf-8", "ignore")


def to_key(key: Any) -> str:
    """A key as the server takes it: not empty, no control characters, at most 512 bytes."""
    text = well_formed(key if isinstance(key, str) else str(key))
    if not text.isprintable():
        text = "".join("\N{REPLACEMENT CHARACTER}" if ord(c) < 32 or ord(c) == 127 else c for c in text)
    return cut_text(text, KEY_BYTES_MAX) or "unnamed"


def whole_step(step: Any) -> int | None:
    try:
        whole = int(step)
        if whole == step and -STEP_MAX <= whole <= STEP_MAX:
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    warn("step", f"step {step!r} is not a whole number up to 2^53: such points are left out")
    return None
