"""Secrets on command lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.capture.secret_names import is_secret_name
from cairn.capture.secret_options import PROGRAMS
from cairn.capture.secret_rules import REDACTED, RULES, Whole
from cairn.capture.secrets import redact_text


_GLUED = Whole(RULES["programs"]["glued"])
_GLUED_NOT = Whole(RULES["programs"]["gluedNot"])


def redact_args(argv: Sequence[str]) -> list[str]:
    """A command line without its secrets; the number of words stays."""
    clean: list[str] = []
    seen: set[str] = set()
    letters = ""
    words: list[str] = []
    next_is_secret = False
    for argument in argv:
        if next_is_secret and not _is_option(argument):
            clean.append(REDACTED)
            next_is_secret = False
            continue
        if re.match("-[A-Za-z]", argument) and argument[1] in letters:
            # `-psecret` and `-p secret`.
            next_is_secret = len(argument) == 2
            clean.append(argument if next_is_secret else f"{argument[:2]}{REDACTED}")
            continue
        if _is_glued_password(argument):
            clean.append(f"-p{REDACTED}")
            next_is_secret = False
            continue
        seen.add(argument[argument.rfind("/") + 1 :])
        letters, words = _secret_options(seen)
        is_name = re.fullmatch(r"--?[A-Za-z][\w.-]*", argument, re.ASCII) is not None
        next_is_secret = is_name and (_takes_secret(argument) or argument[2:] in words)
        clean.append(_redact_argument(argument))
    return clean


def _is_glued_password(argument: str) -> bool:
    """`-psecret` of an unknown program."""
    return argument.startswith("-p") and _GLUED.fits(argument[2:]) and not _GLUED_NOT.fits(argument[2:])


def _secret_options(seen: set[str]) -> tuple[str, list[str]]:
    """The options with a password of the programs named so far."""
    found = [
        program
        for name, program in PROGRAMS.items()
        if name in seen and (program.after is None or program.after in seen)
    ]
    return "".join(one.letters for one in found), [word for one in found for word in one.words]


def _takes_secret(option: str) -> bool:
    return not re.match("--?no-", option) and is_secret_name(option)


def _redact_argument(argument: str) -> str:
    """`--token=--x y` is one word: with a secret name everything after the first `=` is the value."""
    pair = re.fullmatch(r"([-+~]{0,2}[A-Za-z_][\w./@-]*)=(.+)", argument, re.DOTALL | re.ASCII)
    if pair is not None and is_secret_name(pair[1]):
        return f"{pair[1]}={REDACTED}"
    return redact_text(argument)


def _is_option(argument: str) -> bool:
    """The word after a secret option is its value, unless it is clearly an option itself."""
    return re.fullmatch(r"--[A-Za-z][A-Za-z-]*(?:=.*)?|-[A-Za-z]", argument, re.DOTALL) is not None
