"""The value of a name, and whether it is a secret.

Where a text comes from: in `strict` text, such as a command line, everything under a secret name is redacted; a
`line` that a program printed also talks about passwords; in `code` a name is mostly a variable, in `settings`
for a value.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.capture.secret_names import STRONG, WEAK, is_variable
from cairn.capture.secret_rules import REDACTED, RULES, Whole, compiled, set_of

_TEXTS = RULES["texts"]
_HARMLESS = set_of(_TEXTS["harmless"])
_PLACEHOLDER = Whole(_TEXTS["placeholder"])
_WEAK = Whole(*_TEXTS["weak"])
_NUMBER = Whole(_TEXTS["number"])
_PATH = Whole(_TEXTS["path"])
_ATTRIBUTE = Whole(_TEXTS["attribute"])
_CODE = Whole(*_TEXTS["code"])
_CODE_QUOTED = Whole(*_TEXTS["codeQuoted"])
_CODE_STRONG = Whole(*_TEXTS["codeStrong"])
_CODE_STRONG_QUOTED = Whole(*_TEXTS["codeStrongQuoted"])
_COMMON_WORDS = set_of(_TEXTS["commonWords"])
_SETTING = Whole(_TEXTS["setting"])
_SETTING_NOT = Whole(_TEXTS["settingNot"])
_ORDINARY = Whole(_TEXTS["ordinary"])

_TYPE = compiled(_TEXTS["type"])
_CALL = compiled(_TEXTS["call"])
_PREFIX = compiled(_TEXTS["prefix"])
_OPENING = compiled(r"\\{0,3}[\"']|&quot;")
_PLAIN = {'"': compiled(r'(?:[^"\\\n]|\\[^\n])*'), "'": compiled(r"(?:[^'\\\n]|\\[^\n])*")}
_ELEMENTS = compiled(r"[\"']([^\"'\n]{8,512})[\"']")
WORD = compiled(r"[^ \t\r\n\"',;&<>()}\]]{1,4096}")


class Value(NamedTuple):
    #: Where its quote begins; after a type, a call or the prefix of a literal, as in `str = Secret(b'x')`.
    start: int
    #: Whether it is given to a call.
    is_call: bool
    #: The quote it begins with, escaped or not; empty when there is none.
    mark: str
    #: Without quotes.
    inner: str
    #: Where it ends, with its quotes.
    end: int
    is_closed: bool

    def marked(self) -> str:
        """What replaces it."""
        return f"{self.mark}{REDACTED}{self.mark if self.is_closed else ''}"


def value_at(text: str, begin: int, unquoted: re.Pattern[str] = WORD, is_typed: bool = False) -> Value:
    """The value that begins at `begin`: a quoted text, or what `unquoted` takes. A type may precede it if
    `is_typed`."""
    start = begin + len(match_at(_TYPE, text, begin)) if is_typed else begin
    call = match_at(_CALL, text, start)
    start += len(call)
    start += len(match_at(_PREFIX, text, start))
    is_call = call != ""
    mark = match_at(_OPENING, text, start)
    begin = start + len(mark)
    if not mark:
        inner = match_at(unquoted, text, begin)
        return Value(start, is_call, mark, inner, begin + len(inner), False)
    inner = match_at(_PLAIN[mark], text, begin) if len(mark) == 1 else _up_to(mark, text, begin)
    end = begin + len(inner)
    is_closed = text.startswith(mark, end)
    return Value(start, is_call, mark, inner, end + len(mark) if is_closed else end, is_closed)


def match_at(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def _up_to(mark: str, text: str, begin: int) -> str:
    """Up to a mark on the same line, or to the end of the line."""
    line = text.find("\n", begin)
    stop = len(text) if line == -1 else line
    found = text.find(mark, begin, stop)
    return text[begin : stop if found == -1 else found]


def is_placeholder(inner: str) -> bool:
    """Words such as `required` or `${PASSWORD}`, which are not values."""
    return not inner or inner.lower() in _HARMLESS or _PLACEHOLDER.fits(inner)


def is_secret_in_line(inner: str, strength: int) -> bool:
    """Whether a printed value is a secret, by its name."""
    first = re.sub(r"[.,;:!)]{1,3}\Z", "", re.split("[ \t]", inner, maxsplit=1)[0])
    if is_placeholder(inner) or is_placeholder(first) or _ORDINARY.fits(first):
        return False
    if strength == STRONG:
        return len(inner) > 3 or not _NUMBER.fits(inner)
    return not _NUMBER.fits(first) and not _PATH.fits(first) and _WEAK.fits(first)


def is_secret_in_code(value: Value, strength: int, is_setting: bool) -> bool:
    """Whether a value in code is a literal, not a variable. A setting is `NAME=value` or
    `name: value` with nothing after it."""
    inner = value.inner
    if is_common(inner) or "${" in inner or "{{" in inner:
        return False
    if value.mark:
        # What is given to a call is often a name, as in `Column("password_hash")`.
        return (_CODE_STRONG_QUOTED if strength == STRONG and not value.is_call else _CODE_QUOTED).fits(inner)
    if _ATTRIBUTE.fits(inner) or _PATH.fits(inner) or _NUMBER.fits(inner):
        return False
    return _CODE.fits(inner) or (strength == STRONG and is_setting and _CODE_STRONG.fits(inner))


def is_secret_in_settings(value: Value) -> bool:
    """Whether a value in a file of settings is a secret, under a strong name."""
    inner = value.inner
    if value.is_call or is_common(inner) or "${" in inner or "{{" in inner:
        return False
    # These characters do not begin a text in YAML.
    if not value.mark and inner[0] in "[{&*!|>#%":
        return False
    return _SETTING.fits(inner) and not (_SETTING_NOT.fits(inner) or _ATTRIBUTE.fits(inner) or _PATH.fits(inner))


def holds_secret(bracket: str, is_of_tokens: bool) -> bool:
    """Whether the list or the dictionary under a weak name has a secret in it; tokens are often parts of words."""
    elements = (inner for inner in _ELEMENTS.findall(bracket) if not is_variable(inner))
    return any(_CODE.fits(inner) if is_of_tokens else is_secret_in_line(inner, WEAK) for inner in elements)


def is_common(value: str) -> bool:
    """Whether a value of the environment is too common to be searched for everywhere."""
    return is_placeholder(value) or value.lower() in _COMMON_WORDS or _ORDINARY.fits(value)
