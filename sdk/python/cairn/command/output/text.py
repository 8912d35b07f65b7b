"""Text for a terminal: printable, measured in columns, painted, and in tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_CONTROL = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f\\ud800-\\udfff]"
)
_STYLE = re.compile("\x1b\\[[0-9;]*m")
#: Sequences that move the cursor, change the title or colour: what a terminal would act on.
_SEQUENCE = re.compile(
    "\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[\x1b\x9b][\\[\\]()#;?]*(?:\\d{1,4}(?:[;:]\\d{0,4})*)?[\\dA-PR-TZcf-nq-uy=><~]"
)
_STYLES = {
    "bold": (1, 22),
    "dim": (2, 22),
    "red": (31, 39),
    "green": (32, 39),
    "yellow": (33, 39),
    "blue": (34, 39),
    "magenta": (35, 39),
    "cyan": (36, 39),
    "blueBright": (94, 39),
    "redBright": (91, 39),
    "cyanBright": (96, 39),
}
WITHOUT_LIMIT = 1 << 30
_GAP = "  "


def paint(colour: bool, style: str, text: str) -> str:
    """Styled when `colour` says so."""
    if not colour:
        return text
    begin, end = _STYLES[style]
    return f"\x1b[{begin}m{text}\x1b[{end}m"


def printable(text: str) -> str:
    """Untrusted text, safe for a terminal: control characters, which could move the cursor, are shown as escapes, and
    a bidirectional override cannot reorder the text beside it."""
    return _CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    one = found[0]
    if one == "\n":
        return "\\n"
    return " " if one == "\t" else f"\\u{ord(one):04x}"


def readable(text: str) -> str:
    """A logged line without its colours, and with the final state of a progress bar that redrew itself."""
    states = [state for state in _SEQUENCE.sub("", text).split("\r") if state]
    return printable((states[-1] if states else "").replace("\t", "    "))


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes; styles take none."""
    bare = _STYLE.sub("", text) if "\x1b" in text else text
    if bare.isascii():
        return len(bare)
    return sum(_columns(one) for one in bare)


def _columns(one: str) -> int:
    if unicodedata.combining(one) or unicodedata.category(one) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(one) in ("W", "F") else 1


def cut(text: str, columns: int) -> str:
    """At most `columns` wide; what was cut ends with "…". For text without styles."""
    if width_of(text) <= columns:
        return text
    if columns < 1:
        return ""
    kept, width = "", 0
    for one in text:
        width += _columns(one)
        if width > columns - 1:
            break
        kept += one
    return f"{kept}…"


def pad_end(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width_of(text))


def pad_start(text: str, columns: int) -> str:
    return " " * max(0, columns - width_of(text)) + text


def fit_line(line: str, columns: int) -> str:
    """A line that would wrap is cut; then it loses its styles, so that none is cut in two."""
    return line if width_of(line) <= columns else cut(_STYLE.sub("", line), columns)


class Column(NamedTuple):
    title: str
    right: bool = False
    #: Whether it may be cut when the terminal is too narrow, and how narrow.
    shrink: bool = False
    width_min: int = 6


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, colour: bool, width: int) -> str:
    """Rows under their titles, each column as wide as its widest cell. Cells must be printable; they may be styled."""
    widths = [max([width_of(column.title), *(width_of(row[at]) for row in rows)]) for at, column in enumerate(columns)]
    _shrink(columns, widths, width)

    def line(cells: Sequence[str]) -> str:
        shown = []
        for column, cell, wide in zip(columns, cells, widths):
            # A styled cell that must be cut loses its style.
            fitting = cell if width_of(cell) <= wide else cut(_STYLE.sub("", cell), wide)
            shown.append(pad_start(fitting, wide) if column.right else pad_end(fitting, wide))
        return _GAP.join(shown).rstrip()

    head = paint(colour, "dim", line([column.title for column in columns]))
    return "\n".join([head, *(line(row) for row in rows)])


def _shrink(columns: Sequence[Column], widths: list[int], room: int) -> None:
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - room
    while over > 0:
        fit = [at for at, column in enumerate(columns) if column.shrink and widths[at] > column.width_min]
        if not fit:
            return
        widest = max(fit, key=lambda at: (widths[at], -at))
        widths[widest] -= 1
        over -= 1
