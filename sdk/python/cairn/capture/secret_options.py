"""Options with a password behind them, in a text that has a command in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from cairn.capture.secret_names import NONE, STRONG, name_strength
from cairn.capture.secret_rules import REDACTED, RULES, compiled, words_in
from cairn.capture.secret_values import (
    Value,
    is_placeholder,
    is_secret_in_code,
    is_secret_in_line,
    match_at,
    value_at,
)


class Program(NamedTuple):
    letters: str
    words: list[str]
    #: The word that must precede; None when none is required.
    after: str | None


#: By their names.
PROGRAMS = {
    name: Program(rule["letters"], words_in(rule.get("words", [])), rule.get("after"))
    for rule in RULES["programs"]["of"]
    for name in words_in(rule["names"])
}

_PROGRAM = compiled(
    r"(?:^|[ \t\n/;|&(`\"'+-])("
    + "|".join(sorted(PROGRAMS, key=len, reverse=True))
    + r")[\"']?,?[ \t]([^\n|;]*)"
)
_SHORT = compiled(r"([ \t\"'])-([A-Za-z])([\"']?,?[ \t]{1,4})?")
_LONG = compiled(r"(^|[ \t\"'\[(`=])(--?[A-Za-z][\w.-]{0,63})([\"']?,?[ \t]{1,4})")
#: `add_argument("--token", type=str, default="x")`
_DEFAULT = compiled(r"(?:\w{1,20}=[\w.]{1,40},[ \t]{1,4}){0,4}default[ \t]?=[ \t]?(?=[\"'])")
_ARGUMENT = compiled(r"[^ \t\r\n\"']{1,4096}")
#: No command has as many; the rest is redacted unread.
_OPTIONS_MAX = 100
_OPTION = compiled(r"--?[A-Za-z]")
_NO = compiled(r"--?no-")
_DIGITS = compiled(r"[-+.0-9eE]+")
_END = compiled(r"[\]),.:]{1,3}\Z")
_UPPER = compiled(r"[A-Z_]+")


def has_option(text: str) -> bool:
    """A fast check, since nearly all lines have none."""
    return (
        " -" in text
        or "=-" in text
        or '"-' in text
        or "'-" in text
        or "\t-" in text
        or "(-" in text
        or "[-" in text
        or "`-" in text
        or text.startswith("-")
    )


def redact_options(text: str, mode: str) -> str:
    return _redact_long(_redact_short(text), mode)


def _redact_short(text: str) -> str:
    """`mysql -psecret`, `curl -u me:secret`."""
    clean: list[str] = []
    at = 0
    for count, found in enumerate(_PROGRAM.finditer(text)):
        if count >= _OPTIONS_MAX:
            return "".join(clean) + text[at : found.start()] + REDACTED
        clean.append(text[at : found.start(2)] + _redact_command(found[2], PROGRAMS[found[1]]))
        at = found.end()
    return "".join(clean) + text[at:]


def _redact_command(rest: str, program: Program) -> str:
    letters, words, after = program
    if after is not None and not re.search(rf"\b{after}\b", rest, re.ASCII):
        return rest

    def is_secret(option: re.Match[str], value: Value) -> bool:
        return option[2] in letters and not (option[3] is not None and value.inner.startswith("-"))

    short = _redact_values(f" {rest}", _SHORT, is_secret)[1:]
    return _redact_values(short, _LONG, lambda option, _: option[2][2:] in words)


def _redact_long(text: str, mode: str) -> str:
    """`--password secret`, also in the list of words that a program prints."""

    def is_secret(option: re.Match[str], value: Value) -> bool:
        name, inner = option[2], value.inner
        strength = name_strength(name)
        if strength == NONE or _NO.match(name) or _OPTION.match(inner):
            return False
        if mode == "strict":
            return True
        # A help text says `--token TOKEN`.
        shown = _END.sub("", inner)
        if _UPPER.fullmatch(shown) and shown in name.upper().replace("-", "_"):
            return False
        if mode == "code":
            return is_secret_in_code(value, strength, True)
        return is_secret_in_line(inner, STRONG) and (strength == STRONG or not _DIGITS.fullmatch(inner))

    return _redact_values(text, _LONG, is_secret)


def _redact_values(text: str, find: re.Pattern[str], is_secret: Callable[[re.Match[str], Value], bool]) -> str:
    """With the values after the matches of `find` redacted, where `is_secret` says so."""
    clean: list[str] = []
    at = options = 0
    found = find.search(text)
    while found is not None:
        start = found.end()
        options += 1
        if options > _OPTIONS_MAX and "\n" not in text:
            return "".join(clean) + text[at:start] + REDACTED
        value = value_at(text, start + len(match_at(_DEFAULT, text, start)), _ARGUMENT)
        if not value.inner or is_placeholder(value.inner) or not is_secret(found, value):
            # The separator of this one may begin the next.
            following = max(found.start() + 1, start - 1)
        else:
            clean.append(text[at : value.start] + value.marked())
            at = following = value.end
        found = find.search(text, following)
    return text if at == 0 else "".join(clean) + text[at:]
