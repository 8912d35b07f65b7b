"""The candidate nearest to a mistyped word, if one is near enough. Case does not count."""

from __future__ import annotations

from collections.abc import Iterable

_LENGTH_MAX = 32


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    typed = word.lower()
    if len(typed) > _LENGTH_MAX:
        return None
    best, least = None, max(1, len(typed) // 3) + 1
    for candidate in candidates:
        distance = _distance(typed, candidate.lower())
        if distance < least:
            best, least = candidate, distance
    return best


def _distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for row in range(1, len(a) + 1):
        current = [row]
        for column in range(1, len(b) + 1):
            cost = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (a[row - 1] != b[column - 1]))
            if row > 1 and column > 1 and a[row - 1] == b[column - 2] and a[row - 2] == b[column - 1]:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, last = last, current
    return last[len(b)]
