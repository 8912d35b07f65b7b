"""A patch, or a file, without credentials."""

from __future__ import annotations

import re
from collections.abc import Callable

from cairn.capture.secret_files import is_secret_path, is_settings_file
from cairn.capture.secret_lines import Blocks
from cairn.capture.secret_rules import REDACTED, RULES, Whole, compiled
from cairn.capture.secrets import redact_text

_KEYS = RULES["keys"]
_BEGIN = compiled(_KEYS["begin"])
_END = compiled(_KEYS["end"])
_BODY = Whole(_KEYS["body"])
_SECTION = compiled(r"^(?=diff --git )", re.MULTILINE)
#: The body of a binary change, which is not text. It ends with an empty line.
_BINARY = compiled(
    r"(^GIT binary patch\n[\s\S]*?\n\n(?:(?:literal|delta) [0-9]+\n[\s\S]*?\n\n)?)", re.MULTILINE
)
_LINES_MAX: int = _KEYS["linesMax"]


def redact_patch(patch: str) -> str:
    """Lines keep their first character and their number, so that it still applies where none was redacted, and
    elsewhere shows what to fix. Files that hold secrets are dropped."""
    return "".join(map(_redact_section, _SECTION.split(patch)))


def _redact_section(section: str) -> str:
    """The part of a patch for one file."""
    path = _path_of(section)
    if is_secret_path(path):
        return ""
    parts = _BINARY.split(section)
    return "".join(part if at % 2 else _redact_lines(part, path, _mark) for at, part in enumerate(parts))


def redact_file(content: bytes, path: str, redact_known: Callable[[str], str]) -> bytes:
    """The same for a file of source or settings; `redact_known` redacts the secrets of the environment. Bytes of any encoding
    are kept."""
    text = content.decode("latin-1")
    clean = _redact_lines(redact_known(text), path, lambda line: "")
    return content if clean == text else clean.encode("latin-1", "replace")


Mark = Callable[[str], str]


def _redact_lines(text: str, path: str, mark: Mark) -> str:
    clean = _redact_keys(text, mark)
    return redact_text(_redact_blocks(clean, mark), "settings") if is_settings_file(path) else redact_text(clean, "code")


def _redact_blocks(text: str, mark: Mark) -> str:
    """Values that begin on the line after their name."""
    blocks = Blocks()
    lines = text.split("\n")
    for at, line in enumerate(lines):
        first = mark(line)
        redacted = blocks.take(line[len(first) :])
        if redacted is not None:
            lines[at] = first + redacted
    return "\n".join(lines)


def _path_of(section: str) -> str:
    """The first line has it twice, as `a/x b/x` or `"a/x" "b/x"`; empty where there is none."""
    first = section.partition("\n")[0]
    both = first[len("diff --git ") :] if first.startswith("diff --git ") else ""
    half = both[(len(both) + 1) // 2 :]
    return re.sub(r'^"?b/|"\Z', "", half)


def _redact_keys(text: str, mark: Mark) -> str:
    """Private keys in PEM, line by line, also when only a part of one is in the text."""
    if "PRIVATE KEY" not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        begins = _BEGIN.search(line) is not None
        ends = _END.search(line) is not None
        if ends and not begins:
            _redact_key_lines(lines, range(at - 1, -1, -1), mark)
        # Without the key, the first line may be that of a program that looks for keys.
        elif begins and not ends and _redact_key_lines(lines, range(at + 1, len(lines)), mark):
            lines[at] = mark(line) + REDACTED
    return "\n".join(lines)


def _redact_key_lines(lines: list[str], places: range, mark: Mark) -> int:
    """Returns how many lines it was."""
    count = 0
    for at in places:
        line = lines[at]
        first = mark(line)
        body = line[len(first) :].strip()
        if (mark is _mark and not first) or body == REDACTED or not _BODY.fits(body):
            break
        if not body:
            continue
        count += 1
        if count > _LINES_MAX:
            break
        lines[at] = first + REDACTED
    return count


def _mark(line: str) -> str:
    """The first character of a line of a patch."""
    return line[0] if line[:1] in ("-", "+", " ") and line else ""
