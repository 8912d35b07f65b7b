"""A command as it would be typed in a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def shell_line(words: Sequence[str]) -> str:
    return " ".join(_word(word) for word in words)


def _word(word: str) -> str:
    """Quoted so that it is exact and cannot begin another command or control the terminal it is pasted into."""
    if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII):
        return word
    if not _CONTROL.search(word):
        return "'" + word.replace("'", "'\\''") + "'"
    escaped = re.sub(
        r"[\\'\x00-\x1f\x7f-\x9f]",
        lambda found: f"\\{found[0]}" if found[0] in "\\'" else f"\\u{ord(found[0]):04x}",
        word,
    )
    return f"$'{escaped}'"
