"""Runs as a table as wide as the terminal: chosen params are added from the best on while they fit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cairn.command.output.text import WITHOUT_LIMIT, Column, paint, table, width_of
from cairn.command.runs.default_columns import Chosen, title_of
from cairn.command.runs.fields import Field, cell_text, is_numeric, metric_of

_GAP = 2
#: Columns that may be cut are counted at most this wide when it is decided whether one more fits.
_CUT_WIDTH = 24
_PATH_WIDTH = 16
_WIDE_COLUMNS = 110
_WIDE_PATH_WIDTH = 32


class _Options(NamedTuple):
    colour: bool
    width: int
    now_s: float
    #: The requested namespace, which is not repeated in every row.
    under: str


def run_table(runs: list[dict[str, Any]], chosen: Chosen, *, colour: bool, width: int, now_s: float, under: str) -> str:
    options = _Options(colour, width, now_s, under)
    fields = list(chosen.fields)
    taken = sum(_GAP + _width_of_column(runs, field, options) for field in fields) - _GAP
    for field in chosen.params:
        taken += _GAP + _width_of_column(runs, field, options)
        if taken > width:
            break
        fields.append(field)
    best = _best_run(runs, chosen.objective)
    rows = []
    for run in runs:
        row = []
        for field in fields:
            text = _shown(run, field, options)
            is_best = run is best and field == chosen.objective
            row.append(paint(colour, "bold", text) if is_best else text)
        rows.append(row)
    return table([_column(runs, field, fields) for field in fields], rows, colour=colour, width=width)


def _shown(run: dict[str, Any], field: Field, options: _Options) -> str:
    """The end of a long namespace is more useful than its beginning."""
    text = cell_text(run, field, options.colour, options.now_s)
    if field.of != "run" or field.key != "namespace":
        return text
    under = options.under
    below = text[len(under) + 1 :] if under and text.startswith(f"{under}/") else text
    if below == under:
        return "."
    room = _PATH_WIDTH if options.width < _WIDE_COLUMNS else _WIDE_PATH_WIDTH
    if width_of(below) <= room or options.width >= WITHOUT_LIMIT:
        return below
    slash = below.find("/", max(0, len(below) - room))
    return f"…{below[slash if slash >= 0 else max(0, below.rfind('/')) :]}"


def _column(runs: list[dict[str, Any]], field: Field, fields: list[Field]) -> Column:
    is_name = field.of == "run" and field.key == "name"
    return Column(title_of(field, fields), is_numeric(runs, field), _is_long(field), 12 if is_name else 6)


def _is_long(field: Field) -> bool:
    """Whether it may be cut."""
    if field.of == "run":
        return field.key not in ("id", "status", "created", "started", "ended", "updated", "duration")
    return field.of != "age"


def _width_of_column(runs: list[dict[str, Any]], field: Field, options: _Options) -> int:
    widest = max([width_of(title_of(field, [])), *(width_of(_shown(run, field, options)) for run in runs)])
    return min(widest, _CUT_WIDTH) if _is_long(field) else widest


def _best_run(runs: list[dict[str, Any]], objective: Field | None) -> dict[str, Any] | None:
    if objective is None:
        return None
    sign = -1 if objective.stat == "min" else 1
    best, most = None, -math.inf
    for run in runs:
        value = metric_of(run, objective)
        if value is not None and sign * value > most:
            best, most = run, sign * value
    return best
