"""What must not be recorded: passwords, tokens and keys, known by their names and by their format.

The rules are data, and the TypeScript client reads the same; both make the same of every text. In doubt a value is
redacted. None takes more than linear time, because what a program prints may be hostile.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.capture.secret_names import NONE, STRONG, WEAK, is_variable, name_strength, takes_whole_line
from cairn.capture.secret_options import has_option, redact_options
from cairn.capture.secret_rules import LOOKS, PHRASES, REDACTED, RULES, any_of, compiled, has_token_run, words_in
from cairn.capture.secret_values import (
    WORD,
    Value,
    holds_secret,
    is_placeholder,
    is_secret_in_code,
    is_secret_in_line,
    is_secret_in_settings,
    value_at,
)

_STEMS = any_of(words_in(RULES["names"]["stems"]))
#: The end of a name and the separator before its value: `a.token=`, `"api_key": `, `Password: `, `<secret>`.
_TAIL = rf")[\w.-]{{0,32}}(?![\w.-])({RULES['names']['separator']})"
_NAME = compiled(f"(?:{_STEMS}{_TAIL}", re.IGNORECASE)
#: The same in lower case, which Python finds several times as fast.
_LOWER_NAME = compiled(f"(?:{_STEMS}{_TAIL}")
_LOOSE = compiled(RULES["names"]["looseSeparator"], re.IGNORECASE)
#: A fast check, since nearly all lines have none.
_SECRET_VARIABLE = compiled(f"_(?:{'|'.join(words_in(RULES['names']['variableParts']))})")
_VARIABLE = compiled(RULES["names"]["variable"])
_VARIABLE_VALUE = compiled(r"[^ \t\r\n\"',;|<>()]{8,512}")
_GO_USER = compiled(RULES["goUsers"])
_URL_USER = compiled(RULES["urls"])
_SSH = compiled(r"(?:git\+)?ssh:", re.IGNORECASE)
_NAME_CHARACTERS = compiled(r"[\w.-]{0,127}")
_NAME_CHARACTER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_PAIR_BEGINS = ("('", '("', "['", '["')
_WORD = compiled(r"[A-Za-z]{0,20}")
#: Values have a bound, because every name in a line may have one.
_LINE = compiled(r"[^\n,}\]]{1,4096}")
_WHOLE_LINE = compiled(r"[^\n]+")
_NO_SPACE = compiled(r"[^ \t\r\n\"']{1,4096}")
_ELEMENT = compiled(r"[^<\n]{1,4096}")
_QUOTED_LINE = {'"': compiled(r"[^\n\"]{1,4096}"), "'": compiled(r"[^\n']{1,4096}")}
_SETTING_VALUE = compiled(r"[^ \t\r\n\"',}\]]{1,4096}")
#: Nothing but a comment follows on the line, or the next of several settings.
_SETTING_END = compiled(r"[ \t]{0,64}(?:[,}\]\r\n]|[ \t][#;]|\Z)")
_COMMENT = compiled(r"[ \t]{1,64}#")
_SETTING = compiled(r"[\"']?(?:=|:[ \t])")
_PHRASE_WORDS = [one for phrase in PHRASES for one in phrase.has]
_KEY_BEGIN = compiled(RULES["keys"]["begin"])
_KEY_END = compiled(RULES["keys"]["end"])
_KEY_RUN = compiled(RULES["keys"]["run"])
#: Within these a key has begun; some lines about it may come before.
_KEY_HEAD_CHARACTERS = 300
_BRACKET_CHARACTERS_MAX = 4096
#: No program prints as many in one line; the rest is redacted unread.
_NAMES_MAX = 500
_VALUES_MAX = 100


def redact_text(text: str, mode: str = "strict") -> str:
    """Text with every secret that can be recognised redacted. The modes are those of secret_values."""
    clean = _redact_users(text) if "@" in text else text
    if "-----BEGIN" in clean:
        clean = _redact_key(clean, mode)
    is_file = mode == "code" or mode == "settings"
    if "-" in clean and has_option(clean):
        clean = redact_options(clean, "code" if is_file else mode)
    lower = clean.lower()
    paired = _redact_pairs(clean, lower, mode)
    if not is_file and _SECRET_VARIABLE.search(paired):
        paired = _redact_variables(paired)
    return _redact_looks(paired, lower if paired is clean else paired.lower())


def _redact_users(text: str) -> str:
    """`postgres://ada:x@db`, and `ada:x@tcp(db)` as Go has it."""
    clean = _URL_USER.sub(_mark_user, text) if "://" in text else text
    if "@tcp(" in clean or "@unix(" in clean:
        clean = _GO_USER.sub(lambda found: f"{found[1]}{REDACTED}", clean)
    return clean


def redact_url(url: str) -> str:
    """Without user, password, and secrets among the parameters: the address stays one that can be used."""
    return redact_text(_URL_USER.sub(lambda found: found[0] if _keeps_user(found) else found[1], url))


def _mark_user(found: re.Match[str]) -> str:
    return found[0] if _keeps_user(found) else f"{found[1]}{REDACTED}@"


def _keeps_user(found: re.Match[str]) -> bool:
    """A plain user name such as `git@` names an account, not a way in; and a template names variables."""
    user = found[2]
    if user == "git@":
        return _SSH.match(found[1]) is not None
    return is_placeholder(user[user.find(":") + 1 : -1])


def _redact_key(text: str, mode: str) -> str:
    """A private key on one line; in a strict text also over several. Its first line alone, as in code, is
    not a key."""
    clean: list[str] = []
    at = 0
    begin = _KEY_BEGIN.search(text)
    while begin is not None:
        following = start = begin.end()
        line = -1 if mode == "strict" else text.find("\n", start)
        line_end = len(text) if line == -1 else line
        head_end = min(line_end, start + _KEY_HEAD_CHARACTERS)
        if mode == "strict" or _KEY_RUN.search(text[start:head_end]):
            end = _KEY_END.search(text, start)
            clean.append(text[at : begin.start()] + REDACTED)
            at = following = line_end if end is None or end.start() > line_end else end.end()
        begin = _KEY_BEGIN.search(text, following)
    return "".join(clean) + text[at:]


def _redact_looks(text: str, lower: str) -> str:
    """Values in the format of a credential, anywhere."""
    if has_token_run(text):
        for look in LOOKS:
            text = look.redact(text, text)
    for one in _PHRASE_WORDS:
        if one in lower:
            for phrase in PHRASES:
                text = phrase.redact(text, lower)
            break
    return text


def _redact_pairs(text: str, lower: str, mode: str) -> str:
    """With the values of all names that are secret redacted."""
    # In other letters the lower case may be longer.
    find, searched = (_LOWER_NAME.search, lower) if text.isascii() else (_NAME.search, text)
    found = find(searched)
    if found is None:
        return text
    clean: list[str] = []
    at = names = values = 0
    while found is not None:
        names += 1
        if (names > _NAMES_MAX or values > _VALUES_MAX) and mode in ("line", "strict"):
            return "".join(clean) + text[at : found.start()] + REDACTED
        start = following = found.end()
        name = _name_before(text, found)
        values += name is not None
        value = None if name is None else _pair_value(text, start, name, found[1], mode)
        if value is not None:
            clean.append(text[at : value.start] + value.marked())
            at = value.end
            following = max(at, start)
        found = find(searched, following)
    return text if at == 0 else "".join(clean) + text[at:]


def _redact_variables(text: str) -> str:
    """`HF_TOKEN x`, as in tables and sentences."""
    clean: list[str] = []
    at = 0
    found = _VARIABLE.search(text)
    while found is not None:
        following = found.end()
        value = value_at(text, following, _VARIABLE_VALUE)
        if name_strength(found[1]) == STRONG and is_secret_in_line(value.inner, WEAK):
            clean.append(text[at : value.start] + value.marked())
            at = following = value.end
        found = _VARIABLE.search(text, following)
    return text if at == 0 else "".join(clean) + text[at:]


class _Name(NamedTuple):
    text: str
    strength: int
    #: The character before it, unless the name is in quotes.
    opening: str


def _name_before(text: str, found: re.Match[str]) -> _Name | None:
    """The whole name whose end was found."""
    begin = found.start()
    if begin and text[begin - 1] in _NAME_CHARACTER:
        begin = _scan_back(text, begin, 127, _NAME_CHARACTERS)
    before = text[max(0, begin - 1) : begin]
    if before == "%":
        # `access%5Ftoken`
        begin = min(begin + 2, found.start())
    name = text[begin : found.start(1)]
    # In a connection string PWD is not the working directory.
    strength = STRONG if name == "PWD" and before == ";" else name_strength(name)
    is_key = strength == NONE and name.lower() in ("key", "keys")
    if strength == NONE and not is_key:
        return None
    # A pair, and not one of a list of names.
    if "," in found[1] and ("." in name or text[max(0, begin - 2) : begin] not in _PAIR_BEGINS):
        return None
    opening = "" if found[1][0] in "\\\"'&" else text[max(0, begin - 1) : begin]
    word = text[_scan_back(text, begin - 1, 20, _WORD) : begin - 1] if opening in (" ", "\t") else ""
    # `API key: x` is one, and `next token: x` is not.
    both = name_strength(f"{word}_{name}") if word else strength
    return None if both == NONE else _Name(name, both if is_key else strength, opening)


def _scan_back(text: str, end: int, characters_max: int, characters: re.Pattern[str]) -> int:
    found = characters.match(text[max(0, end - characters_max) : end][::-1])
    return end - (found.end() if found else 0)


def _pair_value(text: str, start: int, name: _Name, separator: str, mode: str) -> Value | None:
    """What is to be redacted; None when it is not a secret."""
    if separator.endswith(">") and not separator.endswith("=>"):
        value = value_at(text, start, _ELEMENT)
        return value if name.opening == "<" and is_secret_in_line(value.inner, STRONG) else None
    is_typed = ":" in separator
    if mode == "settings" and name.strength == STRONG and not _LOOSE.search(separator):
        value = value_at(text, start, _SETTING_VALUE)
        if (value.mark or _SETTING_END.match(text, value.end)) and is_secret_in_settings(value):
            return value
    if mode in ("code", "settings"):
        value = value_at(text, start, is_typed=is_typed)
        return value if is_secret_in_code(value, name.strength, _is_setting(text, value, separator)) else None
    is_loose = _LOOSE.search(separator) is not None
    is_sure = mode == "strict" or name.strength == STRONG
    if text[start : start + 1] in ("{", "[") and not is_loose:
        bracket = _bracket_value(text, start, is_sure)
        if is_sure:
            return None if mode == "line" and name.opening != ";" and is_placeholder(bracket.inner) else bracket
        if holds_secret(bracket.inner, name.text.lower().endswith(("token", "tokens"))):
            return bracket
    is_line = separator.rstrip(" \t\u00a0").endswith((":", "：")) and is_sure
    value = value_at(text, start, _unquoted_form(is_line, name), is_typed)
    if not value.inner:
        return None
    if mode == "strict" and not is_loose:
        return value
    is_header = is_line and takes_whole_line(name.text) and len(value.inner) >= 12
    if is_header and (" " in value.inner or "=" in value.inner):
        return value
    return value if is_secret_in_line(value.inner, WEAK if is_loose else name.strength) else None


def _unquoted_form(is_line: bool, name: _Name) -> re.Pattern[str]:
    """After `name: ` the rest of the line, up to the quote around the name; of a list of variables all of
    one."""
    if not is_line:
        return _NO_SPACE if name.opening in ("", " ", "\t") and is_variable(name.text) else WORD
    return _QUOTED_LINE.get(name.opening) or (_WHOLE_LINE if takes_whole_line(name.text) else _LINE)


def _is_setting(text: str, value: Value, separator: str) -> bool:
    """`NAME=value` and `name: value` at the end of a line are settings; ` = ` is mostly code."""
    is_last = text[value.end : value.end + 1] in ("", "\n", "\r") or _COMMENT.match(text, value.end) is not None
    return is_last and _SETTING.fullmatch(separator) is not None


def _bracket_value(text: str, start: int, is_whole: bool) -> Value:
    """Bounded, because the value is only inspected."""
    end = len(text) if is_whole else min(len(text), start + _BRACKET_CHARACTERS_MAX)
    depth = 0
    for found in _BRACKET.finditer(text, start, end):
        depth += 1 if found[0] in "{[" else -1
        if depth == 0:
            end = found.end()
            break
    return Value(start, False, "", text[start:end], end, False)


_BRACKET = compiled(r"[\[\]{}]")
