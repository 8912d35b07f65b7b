"""Secrets in the lines that a program prints."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.capture.known_secrets import known_secret_redactor
from cairn.capture.secret_names import STRONG, name_strength
from cairn.capture.secret_rules import REDACTED, RULES, Whole, compiled
from cairn.capture.secret_values import is_secret_in_line, value_at
from cairn.capture.secrets import redact_text

_KEYS = RULES["keys"]
_BEGIN = compiled(_KEYS["begin"])
_END = compiled(_KEYS["end"])
_BODY = Whole(_KEYS["body"])
_RUN = compiled(_KEYS["run"])
_LINES_MAX: int = _KEYS["linesMax"]
_FOREIGN_LINES_MAX: int = _KEYS["foreignLinesMax"]
_BASE64 = compiled("[0-9+/=]")
#: Colours, and the command that clears the rest of a line.
_COLOURS = compiled(RULES["colours"])
#: A name with its value on the next line, or with `|` or `>` and its value on the next lines.
_BLOCK = compiled(r"([ \t]*)(?:- )?[\"']?([\w.-]{1,127})[\"']?[ \t]{0,4}:[ \t]{0,4}([|>][-+]?)?\Z")
_BLOCK_ENDS = frozenset(":|>-+")
_INDENT = compiled(r"[ \t]*")
_ALONE = compiled(r"[^ \t:=(){}\[\]\"',]{1,4096}")
_AFTER = compiled(r",?[ \t]{0,8}\Z")


class _Key:
    def __init__(self, prefix: str) -> None:
        #: How many more lines may belong to it.
        self.lines_left = _LINES_MAX
        #: What each of its lines begins with.
        self.prefix = prefix
        #: How many lines in a row did not belong to it.
        self.foreign_lines = 0


class _Block:
    def __init__(self, indent: int, is_text: bool) -> None:
        self.indent = indent
        #: Whether all lines that are indented further belong to it, or the next one alone.
        self.is_text = is_text
        self.lines_left = _LINES_MAX


class LineRedactor:
    """Redacts secrets in the lines of one stream, in order: a private key spans many of them. Each
    line stays one. A line with colours loses them when something in it is redacted."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._redact_known = known_secret_redactor(env)
        self._key: _Key | None = None
        self._blocks = Blocks()

    def redact(self, line: str) -> str:
        if "\x1b" in line:
            plain = _COLOURS.sub("", line)
            clean = self._redact_plain(plain)
            return line if clean == plain else clean
        return self._redact_plain(line)

    def _redact_plain(self, line: str) -> str:
        inner = None if self._key is None else self._redact_key(line, self._key)
        if inner is None and (self._blocks.open is not None or line[-1:] in _BLOCK_ENDS):
            inner = self._blocks.take(line)
        if inner is not None:
            return inner
        if "-----BEGIN" in line and not _END.search(line):
            begin = _BEGIN.search(line)
            if begin is not None:
                self._key = _Key(line[: begin.start()])
        return redact_text(self._redact_known(line), "line")

    def _redact_key(self, line: str, key: _Key) -> str | None:
        """None when the line is not part of the key."""
        ends = _END.search(line) is not None
        key.lines_left -= 1
        if ends or key.lines_left <= 0:
            self._key = None
        if ends:
            return _RUN.sub(REDACTED, line)
        start = len(key.prefix) if line.startswith(key.prefix) else 0
        body = line[start:].strip()
        if not body:
            return line
        # After another line a word alone may be one of those.
        is_body = _BODY.fits(body) and (key.foreign_lines == 0 or (":" not in body and _BASE64.search(body) is not None))
        clean = line[:start] + REDACTED if is_body else _RUN.sub(REDACTED, line)
        if clean != line:
            key.foreign_lines = 0
            return clean
        key.foreign_lines += 1
        if key.foreign_lines > _FOREIGN_LINES_MAX:
            self._key = None
        return None


class Blocks:
    """Values that begin on the line after their name, as in `password: |`."""

    def __init__(self) -> None:
        #: The one that the next line may belong to.
        self.open: _Block | None = None

    def take(self, line: str) -> str | None:
        """What is kept of the next line; None when it is not part of such a value."""
        redacted = None if self.open is None else self._redact(line, self.open)
        if redacted is None and line[-1:] in _BLOCK_ENDS:
            self.open = _block_after(line)
        return redacted

    def _redact(self, line: str, block: _Block) -> str | None:
        found = _INDENT.match(line)
        start = found.end() if found else 0
        if block.is_text and start == len(line):
            return line
        is_inner = start > block.indent
        block.lines_left -= 1
        if not block.is_text or not is_inner or block.lines_left <= 0:
            self.open = None
        if not is_inner:
            return None
        if block.is_text:
            return line[:start] + REDACTED
        value = value_at(line, start, _ALONE)
        if not _AFTER.match(line, value.end) or not is_secret_in_line(value.inner, STRONG):
            return None
        return line[: value.start] + value.marked() + line[value.end :]


def _block_after(line: str) -> _Block | None:
    found = _BLOCK.match(line)
    if found is None or name_strength(found[2]) != STRONG:
        return None
    return _Block(len(found[1]), found[3] is not None)
