"""Lines of a log as text, with the rank in front of each as soon as the run has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.command.output.text import paint, readable
from cairn.command.output.words import iso_time

#: Neighbours differ also for people who cannot distinguish red from green.
_RANK_STYLES = ("cyan", "yellow", "magenta", "green", "blueBright", "redBright", "cyanBright", "yellow")


class LineText:
    def __init__(self, *, colour: bool, timestamps: bool, raw: bool) -> None:
        self._colour = colour
        self._timestamps = timestamps
        #: As it was logged, with its control sequences.
        self._raw = raw
        self._ranks: set[int | None] = set()
        self._rank_width = 1

    def see(self, lines: Sequence[dict[str, Any]]) -> None:
        """To be called with every page before its lines are written."""
        for line in lines:
            rank = line.get("rank")
            self._ranks.add(rank)
            if rank is not None:
                self._rank_width = max(self._rank_width, len(str(rank)))

    def of(self, line: dict[str, Any]) -> str:
        return f"{self._time(line)}{self._rank(line)}{self._text(line)}"

    def _time(self, line: dict[str, Any]) -> str:
        if not self._timestamps:
            return ""
        return f"{paint(self._colour, 'dim', iso_time(line.get('timeUs')) or '1970-01-01T00:00:00.000Z')} "

    def _rank(self, line: dict[str, Any]) -> str:
        if len(self._ranks) < 2:
            return ""
        rank = line.get("rank")
        label = ("" if rank is None else str(rank)).rjust(self._rank_width)
        style = "dim" if rank is None else _RANK_STYLES[int(rank) % len(_RANK_STYLES)]
        return f"{paint(self._colour, style, f'{label} │')} "

    def _text(self, line: dict[str, Any]) -> str:
        text = str(line.get("text", ""))
        shown = text if self._raw else readable(text)
        if line.get("origin") == "LOG_ORIGIN_SCHEDULER":
            return paint(self._colour, "blue", shown)
        return paint(self._colour, "yellow", shown) if line.get("stream") == "stderr" else shown
