"""Which names are those of secrets.

How certain a name is: a `token` or `auth` in a log is often something else, so there the value must look like
one as well (WEAK); after `password` or `HF_TOKEN=` it need not (STRONG).
"""

from __future__ import annotations

import re

from cairn.capture.secret_rules import RULES, Whole, set_of, words_in

NONE, WEAK, STRONG = 0, 1, 2

_NAMES = RULES["names"]
_STEMS = re.compile("|".join(words_in(_NAMES["stems"])))
_ANYWHERE = set_of(_NAMES["anywhere"])
_GLUED = Whole(*_NAMES["glued"])
_LAST = set_of(_NAMES["last"])
_LAST_NOT_AFTER = set_of(_NAMES["lastNotAfter"])
_KEY_AFTER = set_of(_NAMES["keyAfter"])
_TOKEN_NOT_AFTER = set_of(_NAMES["tokenNotAfter"])
_TOKEN_NOT_BEFORE = set_of(_NAMES["tokenNotBefore"])
_NOT_LAST = set_of(_NAMES["notLast"])
_WEAK = set_of(_NAMES["weak"])
_STRONG_WITH_OTHERS = set_of(_NAMES["strongWithOthers"])
_KEY_WEAK_AFTER = set_of(_NAMES["keyWeakAfter"])
_WHOLE_LINE = set_of(_NAMES["wholeLine"])
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")
_NAME_CHARACTERS_MAX = 128
_CACHE_MAX = 2000
#: Programs print the same names again and again.
_known: dict[str, int] = {}


def is_secret_name(name: str) -> bool:
    """Whether a value with this name (of an option, a variable, a field) is a secret."""
    return name_strength(name) != NONE


def name_strength(name: str) -> int:
    strength = _known.get(name)
    if strength is None:
        strength = _judge(name)
        if len(_known) >= _CACHE_MAX:
            _known.clear()
        _known[name] = strength
    return strength


def ends_as_secret(name: str) -> bool:
    """Whether a name ends with a secret: `openai_key` does, `token_stats` does not."""
    words = _words(name)
    return name_strength(name) == STRONG and _is_secret_word(words, len(words) - 1, name)


def is_variable(name: str) -> bool:
    return _VARIABLE.fullmatch(name) is not None


def takes_whole_line(name: str) -> bool:
    """Whether everything up to the end of the line belongs to it, as in `Authorization: Digest a="b", c="d"`."""
    words = _words(name)
    return bool(words) and words[-1] in _WHOLE_LINE


def _judge(name: str) -> int:
    if not _STEMS.search(name.lower()):
        return NONE
    words = _words(name)
    if not words or words[-1] in _NOT_LAST:
        return NONE
    # The name of an environment variable describes its value.
    holds = is_variable(name) and name not in ("KEY", "TOKEN")
    strength = NONE
    for at, word in enumerate(words):
        if not _is_secret_word(words, at, name):
            continue
        if not _is_weak_word(words, at) or (holds and not word.endswith("s")):
            return STRONG
        strength = WEAK
    return strength


def _is_weak_word(words: list[str], at: int) -> bool:
    word = words[at]
    if word == "key":
        return at > 0 and words[at - 1] in _KEY_WEAK_AFTER
    return word in _WEAK and not (0 < at == len(words) - 1 and word in _STRONG_WITH_OTHERS)


def _is_secret_word(words: list[str], at: int, name: str) -> bool:
    word = words[at]
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in ("key", "keys"):
        return before in _KEY_AFTER
    if word in ("token", "tokens"):
        return before not in _TOKEN_NOT_AFTER and after not in _TOKEN_NOT_BEFORE
    if word == "pwd":
        # PWD and OLDPWD are working directories.
        return len(words) > 1 or name != name.upper()
    if word in _LAST:
        return at == len(words) - 1 and before not in _LAST_NOT_AFTER
    return word in _ANYWHERE or _GLUED.fits(word)


def _words(name: str) -> list[str]:
    """`--hubAPIKey2` has the words hub, api, key."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name[-_NAME_CHARACTERS_MAX:])
    spaced = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", spaced)
    words = (re.sub(r"^([a-z]{3,})[0-9]{1,3}\Z", r"\1", word) for word in re.split("[^a-z0-9]+", spaced.lower()))
    return [word for word in words if word and not re.fullmatch("[0-9]{1,3}", word)]
