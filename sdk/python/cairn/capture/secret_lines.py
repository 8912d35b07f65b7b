"""Secrets in the lines that a program prints."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.capture.known_secrets import known_secret_striker
from cairn.capture.secret_rules import REDACTED, RULES, Whole, compiled
from cairn.capture.secrets import redact_text

_KEYS = RULES["keys"]
_BEGIN = compiled(_KEYS["begin"])
_END = compiled(_KEYS["end"])
_BODY = Whole(_KEYS["body"])
_RUN = compiled(_KEYS["run"])
_LINES_MAX: int = _KEYS["linesMax"]


class LineRedactor:
    """Strikes secrets out of the lines of one stream, one after the other: a private key goes over many of them. Each
    line stays one."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._strike = known_secret_striker(env)
        #: How many more lines may belong to a private key.
        self._key_lines = 0

    def redact(self, line: str) -> str:
        if self._key_lines > 0:
            in_key = self._redact_key(line)
            if in_key is not None:
                return in_key
        if "-----BEGIN" in line and _BEGIN.search(line) and not _END.search(line):
            self._key_lines = _LINES_MAX
        return redact_text(self._strike(line), "line")

    def _redact_key(self, line: str) -> str | None:
        """None when the line is no longer part of the key."""
        self._key_lines -= 1
        if _END.search(line):
            self._key_lines = 0
            return _RUN.sub(REDACTED, line)
        if _BODY.fits(line.strip()):
            return REDACTED if line.strip() else line
        clean = _RUN.sub(REDACTED, line)
        if clean != line:
            return clean
        self._key_lines = 0
        return None
