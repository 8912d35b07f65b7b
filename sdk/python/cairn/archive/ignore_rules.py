"""Ignore files, as git reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.archive.glob import Match, compile_glob

_RULES_MAX = 10_000


class _Rule(NamedTuple):
    #: It includes again what earlier lines ignore.
    is_negated: bool
    is_for_folders_only: bool
    #: The rule compares the last part of the path, and not the path from the folder of the ignore file on.
    is_for_names: bool
    #: Git compares the plain beginning first and then forgets it, so that `a**/b` means what `**/b` means after "a".
    plain: bytes
    glob: Match

    def matches(self, name: bytes, path: bytes) -> bool:
        if self.is_for_names:
            return self.glob(name)
        return path.startswith(self.plain) and self.glob(path[len(self.plain) :])


class IgnoreFile:
    """The last line that matches decides."""

    def __init__(self, content: bytes) -> None:
        text = content[3:] if content.startswith(b"\xef\xbb\xbf") else content
        lines = [re.sub(rb"\r\Z", b"", line) for line in text.split(b"\n")[:_RULES_MAX]]
        self._rules = [rule for rule in map(_parse, lines) if rule is not None][::-1]

    def judge(self, path: bytes, is_folder: bool) -> bool | None:
        """Whether a path below the folder of the file is ignored; None when no line matches it."""
        name = path[path.rfind(b"/") + 1 :]
        for rule in self._rules:
            if (is_folder or not rule.is_for_folders_only) and rule.matches(name, path):
                return not rule.is_negated
        return None


def _parse(line: bytes) -> _Rule | None:
    if line.startswith(b"#"):
        return None
    pattern = _without_trailing_spaces(line)
    is_negated = pattern.startswith(b"!")
    if is_negated:
        pattern = pattern[1:]
    is_for_folders_only = pattern.endswith(b"/")
    if is_for_folders_only:
        pattern = pattern[:-1]
    if not pattern:
        return None
    if b"/" not in pattern:
        return _Rule(is_negated, is_for_folders_only, True, b"", compile_glob(pattern, crosses_slash=True))
    if pattern.startswith(b"/"):
        pattern = pattern[1:]
    found = re.match(rb"[^*?[\\]*", pattern)
    plain = found[0] if found else b""
    glob = compile_glob(pattern[len(plain) :], crosses_slash=False)
    return _Rule(is_negated, is_for_folders_only, False, plain, glob)


def _without_trailing_spaces(line: bytes) -> bytes:
    """A space with a backslash before it stays."""
    end = len(line)
    kept = at = 0
    while at < len(line):
        if line[at] == ord("\\"):
            if at + 1 == len(line):
                return line
            at += 1
            kept = at + 1
        elif line[at] != ord(" "):
            kept = at + 1
        end = kept
        at += 1
    return line[:end]
