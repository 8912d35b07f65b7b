"""Params as they are sent, JSON text per key, for a table, a tree and a program. Numbers keep the text they were
written with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cairn.command.output.terminal import NULL
from cairn.command.output.text import paint, printable, width_of

_LOOKS_DIFFERENT = re.compile(
    r"^$|^\s|\s$|^[\"\[{]|^(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$"
)
_LIST_WIDTH_MAX = 60
_KEY_WIDTH_MAX = 28
_INDENT = "  "


#: The run does not have the param. None is a param that is null.
MISSING = object()


class Literal(str):
    """A number as it was written."""


def parse_param(text: str) -> Any:
    """What is not JSON is text."""
    try:
        return json.loads(text, parse_int=Literal, parse_float=Literal, parse_constant=Literal)
    except (ValueError, RecursionError):
        return text


def leaf_word(value: Any) -> str:
    """For a person: texts without quotes, unless they would look like something else."""
    is_text = isinstance(value, str) and not isinstance(value, Literal)
    return str(value) if is_text and not _LOOKS_DIFFERENT.search(value) else json_text(value)


def leaf_content(value: Any) -> str:
    """For a program: the content of a text, otherwise JSON."""
    return str(value) if isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict):
        return f"{{{','.join(f'{json_text(key)}:{json_text(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(json_text(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)


def json_params(params: Mapping[str, str]) -> dict[str, Any]:
    """What a JSON document cannot hold exactly, NaN, infinities and integers beyond 2^53, is text."""
    return {key: _held(parse_param(text)) for key, text in params.items()}


def _held(value: Any) -> Any:
    if value is None:
        return NULL
    if isinstance(value, Literal):
        if re.fullmatch(r"-?\d+", value):
            return int(value) if abs(int(value)) <= 2**53 - 1 else str(value)
        number = float(value.replace("Infinity", "inf"))
        return number if number - number == 0 else str(value)
    if isinstance(value, dict):
        return {key: _held(one) for key, one in value.items()}
    return [_held(one) for one in value] if isinstance(value, list) else value


def param_at(params: Mapping[str, str], key: str) -> Any:
    """The value at a path such as `optim.lr`, MISSING where there is none; the one with the fewest levels counts."""
    if key in params:
        return parse_param(params[key])
    parts = key.split(".")
    for at in range(len(parts) - 1, 0, -1):
        top = ".".join(parts[:at])
        if top in params:
            found = _inside(parse_param(params[top]), parts[at:])
            if found is not MISSING:
                return found
    return MISSING


def _inside(value: Any, parts: list[str]) -> Any:
    if not parts:
        return value
    if isinstance(value, list):
        index = parts[0]
        is_place = index.isascii() and index.isdigit() and int(index) < len(value)
        return _inside(value[int(index)], parts[1:]) if is_place else MISSING
    if isinstance(value, dict):
        for at in range(len(parts), 0, -1):
            key = ".".join(parts[:at])
            if key in value:
                return _inside(value[key], parts[at:])
    return MISSING


def leaf_paths(params: Mapping[str, str]) -> list[str]:
    """The paths of all values that are not split further."""
    paths: dict[str, None] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict) and value:
            for key, one in value.items():
                walk(one, f"{path}.{key}")
        elif isinstance(value, list) and value:
            for at, one in enumerate(value):
                walk(one, f"{path}.{at}")
        else:
            paths[path] = None

    for key, text in params.items():
        walk(parse_param(text), key)
    return list(paths)


def param_tree(params: Mapping[str, str], colour: bool) -> list[str]:
    """Params as lines with nested ones below their key; values of one level are in one column."""
    return _level({key: parse_param(params[key]) for key in sorted(params)}, "", colour)


def _level(entries: Mapping[str, Any], indent: str, colour: bool) -> list[str]:
    short = [(printable(key), value, _inline(value)) for key, value in entries.items()]
    width = max([0, *(min(_KEY_WIDTH_MAX, width_of(key)) for key, _, text in short if text is not None)])
    lines: list[str] = []
    for key, value, text in short:
        if text is not None:
            padded = key + " " * max(0, width - width_of(key))
            lines.append(f"{indent}{paint(colour, 'dim', padded)}  {text}")
            continue
        lines.append(f"{indent}{paint(colour, 'dim', key)}")
        below = value if isinstance(value, dict) else {str(at): one for at, one in enumerate(value)}
        lines.extend(_level(below, indent + _INDENT, colour))
    return lines


def _inline(value: Any) -> Any:
    """A value for one line, or None for what is better shown as a tree."""
    if isinstance(value, dict):
        return None if value else "{}"
    if not isinstance(value, list):
        return printable(leaf_word(value))
    if any(isinstance(one, (dict, list)) for one in value):
        return None
    text = f"[{', '.join(printable(leaf_word(one)) for one in value)}]"
    return text if width_of(text) <= _LIST_WIDTH_MAX else None
