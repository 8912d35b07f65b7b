"""Warnings to the user on standard error: each one once, and limited in number."""

from __future__ import annotations

import sys

_WARNED_MAX = 1000
_warned: set[str] = set()


def warn(about: str, message: str, *, again: bool = False) -> None:
    """Prints it once per `about`. Never raises: standard error may be closed."""
    if about in _warned and not again:
        return
    if len(_warned) < _WARNED_MAX:
        _warned.add(about)
    elif not again:
        return
    try:
        print(f"cairn: {printable(message)}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError, RuntimeError):
        pass


def forget_warning(about: str) -> None:
    """The problem is over: its next warning is printed again."""
    _warned.discard(about)


def printable(text: str) -> str:
    """Without control characters of a terminal."""
    return "".join(
        character if character.isprintable() or character in "\n " else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
