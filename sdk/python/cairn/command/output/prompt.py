"""Secrets that a person types, unseen, or that a script pipes in."""

from __future__ import annotations

import sys

from cairn.command.errors import CommandError

_SECRET_LENGTH_MAX = 4_096


def ask(question: str) -> str:
    """Asks on standard error. "" when the person ends the input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def ask_secret(question: str) -> str:
    """What is typed is not shown; the terminal is left as it was."""
    import getpass

    try:
        return _checked(getpass.getpass(question, sys.stderr).strip())
    except EOFError:
        return ""


def read_secret() -> str:
    """The first line of standard input."""
    return _checked(sys.stdin.readline(_SECRET_LENGTH_MAX + 2).strip())


def _checked(secret: str) -> str:
    if len(secret) > _SECRET_LENGTH_MAX:
        raise CommandError(f"cannot use what was typed: it is longer than {_SECRET_LENGTH_MAX} characters")
    return secret
