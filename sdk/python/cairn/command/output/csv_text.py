"""Cells of a row as in RFC 4180. Nothing in them becomes a formula, whether the spreadsheet splits at commas,
semicolons or tabs: what begins like one gets an apostrophe before it. A cell that is a number stays one.

=1+1 → '=1+1     -0.5 → -0.5     1;=cmd|… → "1;'=cmd|…"
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

#: Begins a formula; the wide forms count in some languages.
_SIGNS = "=+-@＝＋－＠"
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|Infinity)", re.IGNORECASE | re.ASCII)
#: What separates cells and rows where a spreadsheet does not split at commas: quotes do not hold there.
_SEPARATOR = re.compile(r"([;\t\r\n])")
_NEEDS_QUOTES = re.compile(r'[",;\r\n\t]|^\s|\s$')


def csv_row(cells: Sequence[str]) -> str:
    return ",".join(_cell(cell) for cell in cells)


def _cell(text: str) -> str:
    safe = _without_formulas(text)
    return '"' + safe.replace('"', '""') + '"' if _NEEDS_QUOTES.search(safe) else safe


def _without_formulas(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return text
    first, *rest = _SEPARATOR.split(text)
    # Where a cell was broken up its quotes count for nothing.
    guarded = [f"'{part}" if _begins_formula(part, '"') else part for part in rest]
    begins = text[:1] in ("\t", "\r", "\n") or _begins_formula(text, "")
    return ("'" if begins else "") + first + "".join(guarded)


def _begins_formula(text: str, skipped: str) -> bool:
    """A spreadsheet passes over blanks, and over characters that show nothing."""
    for one in text:
        if one in _SIGNS:
            return True
        if not one.isspace() and one not in skipped and unicodedata.category(one) not in ("Cc", "Cf"):
            return False
    return False
