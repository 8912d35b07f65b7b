"""What a user is told: on standard error, each thing once, never more than a terminal can bear."""

from __future__ import annotations

import sys

_TOLD_MAX = 1000
_told: set[str] = set()


def tell(about: str, message: str, *, again: bool = False) -> None:
    """Says it once per `about`. Never raises: standard error may be closed."""
    if about in _told and not again:
        return
    if len(_told) < _TOLD_MAX:
        _told.add(about)
    elif not again:
        return
    try:
        print(f"cairn: {printable(message)}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError, RuntimeError):
        pass


def forget_told(about: str) -> None:
    """The thing is in order again: when it comes back, it is told again."""
    _told.discard(about)


def printable(text: str) -> str:
    """Without what could command a terminal."""
    return "".join(
        character if character.isprintable() or character in "\n " else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
