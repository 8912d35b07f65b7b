"""Secrets that the environment holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

from cairn.capture.secret_names import is_secret_name
from cairn.capture.secret_rules import REDACTED
from cairn.capture.secret_values import is_common

#: Shorter values, such as "true", are too common.
_CHARACTERS_MIN = 8
_ADDRESS = re.compile("webhook|dsn", re.IGNORECASE)


def known_secret_redactor(env: Mapping[str, str]) -> Callable[[str], str]:
    """Redacts the values of variables that have the name of a secret: a token that is printed, or given
    without a name, has no known format."""
    # A value may be part of another.
    secrets = sorted({secret for name in env for secret in _secrets_in(name, env[name])}, key=len, reverse=True)

    def redact(text: str) -> str:
        for secret in secrets:
            if secret in text:
                text = text.replace(secret, REDACTED)
        return text

    return redact


def _secrets_in(name: str, value: str) -> Iterator[str]:
    """Its lines, because text is searched by lines: as they are, as a URL has them, and with a character for each byte
    of UTF-8."""
    if not is_secret_name(name):
        return
    # The address of a webhook is all that is needed to use it.
    is_address = _ADDRESS.search(name) is not None and "://" in value
    for line in value.split("\n"):
        one = line.strip()
        if len(one) >= _CHARACTERS_MIN and (is_address or not is_common(one)) and not one.startswith("-----"):
            yield one
            yield quote(one, safe="-_.!~*'()", errors="replace")
            yield one.encode("utf-8", "replace").decode("latin-1")
