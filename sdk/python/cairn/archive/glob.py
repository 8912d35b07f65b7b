"""The patterns of git's ignore files: `?`, `*`, `[…]`, backslash and `**`.

A pattern is compiled to a list of steps, and a text is matched by following all places in the list at once, so that the
time is bounded by pattern times text for any ignore file. As in git, everything is bytes. What `re` would make of a
pattern may take exponential time, and its classes differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import FrozenSet, Union

_SLASH = 0x2F
_STAR, _BACKSLASH, _OPEN, _CLOSE = b"*\\[]"

#: Any number of bytes except slashes; any number of bytes; `**` and a slash, which is nothing, or anything that ends before a
#: slash, and the slash.
_RUN, _ALL, _FOLDERS = "run", "all", "folders"
Step = Union[str, FrozenSet[int]]

Match = Callable[[bytes], bool]

_CLASSES: dict[bytes, frozenset[int]] = {
    b"alnum": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    b"alpha": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset([*range(0x20), 0x7F]),
    b"digit": frozenset(b"0123456789"),
    b"graph": frozenset(range(0x21, 0x7F)),
    b"lower": frozenset(b"abcdefghijklmnopqrstuvwxyz"),
    b"print": frozenset(range(0x20, 0x7F)),
    b"punct": frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    b"space": frozenset(b" \t\n\v\f\r"),
    b"upper": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"xdigit": frozenset(b"0123456789ABCDEFabcdef"),
}
_EVERY = frozenset(range(256))
_NO_SLASH = _EVERY - {_SLASH}


def compile_glob(pattern: bytes, *, crosses_slash: bool) -> Match:
    """`crosses_slash` is for names, in which there is none. Never raises: a malformed pattern matches nothing."""
    steps = _parse(pattern, crosses_slash)
    if steps is None:
        return lambda text: False
    found = steps
    return lambda text: _follow(found, text)


def _follow(steps: list[Step], text: bytes) -> bool:
    places: set[int] = set()
    _enter(steps, 0, places)
    for code in text:
        following: set[int] = set()
        for place in places:
            if place == len(steps):
                continue
            step = steps[place]
            if isinstance(step, frozenset):
                if code in step:
                    _enter(steps, place + 1, following)
            elif step == _FOLDERS:
                following.add(place)
                if code == _SLASH:
                    _enter(steps, place + 1, following)
            elif step == _ALL or code != _SLASH:
                _enter(steps, place, following)
        places = following
        if not places:
            return False
    return len(steps) in places


def _enter(steps: list[Step], place: int, places: set[int]) -> None:
    """A place, and those that are reached from it without a byte."""
    while place not in places:
        places.add(place)
        # Only where folders begin is nothing a match; a place inside them was added by `_follow`.
        if place == len(steps) or isinstance(steps[place], frozenset):
            return
        place += 1


def _parse(pattern: bytes, crosses_slash: bool) -> list[Step] | None:
    steps: list[Step] = []
    allowed = _EVERY if crosses_slash else _NO_SLASH
    at = 0
    while at < len(pattern):
        one = pattern[at]
        if one == _STAR:
            end = at
            while end < len(pattern) and pattern[end] == _STAR:
                end += 1
            rest = pattern[end:]
            is_whole = (at == 0 or pattern[at - 1] == _SLASH) and (not rest or rest.startswith((b"/", b"\\/")))
            if crosses_slash or (end - at > 1 and is_whole):
                has_folders = not crosses_slash and rest[:1] == b"/"
                steps.append(_FOLDERS if has_folders else _ALL)
                at = end + 1 if has_folders else end
            else:
                steps.append(_RUN)
                at = end
        elif one == ord("?"):
            steps.append(allowed)
            at += 1
        elif one == _OPEN:
            found = _parse_set(pattern, at + 1)
            if found is None:
                return None
            steps.append(found[0] & allowed)
            at = found[1]
        else:
            if one == _BACKSLASH:
                at += 1
            if at == len(pattern):
                return None
            steps.append(frozenset({pattern[at]}))
            at += 1
    return steps


def _parse_set(pattern: bytes, start: int) -> tuple[frozenset[int], int] | None:
    """What follows a `[`, and where the pattern continues. A `]` in the first place is one of the set."""
    is_negated = pattern[start : start + 1] in (b"!", b"^")
    members: set[int] = set()
    at = start + 1 if is_negated else start
    is_first = True
    previous: int | None = None
    while is_first or pattern[at : at + 1] != b"]":
        is_first = False
        if at >= len(pattern):
            return None
        if pattern.startswith(b"[:", at):
            named, end = _parse_class(pattern, at)
            if end:
                if named is None:
                    return None
                members |= named
                previous, at = None, end
                continue
        is_range = (
            pattern[at] == ord("-") and previous is not None and at + 1 < len(pattern) and pattern[at + 1] != _CLOSE
        )
        if is_range:
            at += 1
        if pattern[at : at + 1] == b"\\":
            at += 1
        if at >= len(pattern):
            return None
        code = pattern[at]
        members.update(range(previous if is_range and previous is not None else code, code + 1))
        previous = None if is_range else code
        at += 1
    return frozenset(_EVERY - members if is_negated else members), at + 1


def _parse_class(pattern: bytes, start: int) -> tuple[frozenset[int] | None, int]:
    """The class, None when it is unknown, and where it ends; 0 when it is not a class."""
    close = pattern.find(b"]", start + 2)
    if close == -1:
        return None, len(pattern)
    if close - 1 < start + 2 or pattern[close - 1 : close] != b":":
        return None, 0
    return _CLASSES.get(pattern[start + 2 : close - 1]), close + 1
