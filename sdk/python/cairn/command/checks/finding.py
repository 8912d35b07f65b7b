"""What one check of `cairn doctor` found."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    #: What was looked at, such as "clock".
    check: str
    #: "ok", "warn" or "bad".
    level: str
    #: The result as text, without the check's name.
    text: str
    #: How to fix it; a command where possible.
    fix: str = ""


def ok(check: str, text: str) -> Finding:
    return Finding(check, "ok", text)


def warn(check: str, text: str, fix: str) -> Finding:
    return Finding(check, "warn", text, fix)


def bad(check: str, text: str, fix: str) -> Finding:
    return Finding(check, "bad", text, fix)
