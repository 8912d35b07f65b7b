"""The rules that both clients share, ready to use. secret-rules.json explains each of them."""

from __future__ import annotations

import json
import math
import pkgutil
import re
from collections.abc import Iterable
from typing import Any

RULES: dict[str, Any] = json.loads(pkgutil.get_data("cairn.capture", "secret-rules.json") or b"{}")
REDACTED: str = RULES["mark"]


def words_in(lines: Iterable[str]) -> list[str]:
    """Lists are written as lines of several words."""
    return [word for line in lines for word in line.split(" ")]


def set_of(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(words_in(lines))


def any_of(words: Iterable[str]) -> str:
    """A pattern for one of them. Those with the same first letter are grouped, which is faster."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | flags)


class Whole:
    """For a text that fits one of the patterns from its beginning to its end. Compiled when it is used: that takes
    longer than all the rest, and most programs print no secret."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns
        self._compiled: re.Pattern[str] | None = None

    def fits(self, text: str) -> bool:
        if self._compiled is None:
            self._compiled = compiled("|".join(f"(?:{pattern})" for pattern in self._patterns))
        return self._compiled.fullmatch(text) is not None


class Look:
    """A pattern that is tried only where one of the texts in `has` is there."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self.has: list[str] = rule["has"]
        self._find: str = rule["find"]
        #: What must be in it, unless it is as long as this.
        self._needs: str = rule.get("needs", "")
        self._otherwise_length: float = rule.get("orLength", math.inf)
        self._flags = re.IGNORECASE if rule.get("anyCase") else 0
        self._compiled: re.Pattern[str] | None = None

    def redact(self, text: str, searched: str) -> str:
        for one in self.has:
            if one in searched:
                break
        else:
            return text
        if self._compiled is None:
            self._compiled = compiled(self._find, self._flags)
        return self._compiled.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        kept: str = found[1] if found.re.groups else ""
        secret = found[0][len(kept) :]
        is_one = len(secret) >= self._otherwise_length or re.search(self._needs, secret) is not None
        return f"{kept}{REDACTED}" if is_one else found[0]


#: Letters, digits, - and _ become the same byte.
_SAME = bytes(97 if chr(code).isalnum() and code < 128 or chr(code) in "-_" else 0 for code in range(256))
_RUN = b"a" * 16


def has_token_run(text: str) -> bool:
    """Whether there are 16 letters, digits, `_` and `-` in a row."""
    # `in` takes half as long again.
    return text.encode("utf-8", "replace").translate(_SAME).find(_RUN) != -1


#: Tokens of well-known services. Each has a run of characters that `has_token_run` finds quickly.
LOOKS = [Look(rule) for rule in RULES["values"]["looks"]]
#: Words before a secret, such as `Bearer`; `has` is in lower case.
PHRASES = [Look(rule) for rule in RULES["values"]["phrases"]]
