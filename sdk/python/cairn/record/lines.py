"""Lines of the log that wait to be collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cairn.messages import encode_lines
from cairn.record.pending import Part
from cairn.record.values import cut_text

LINES_MAX = 1000
_LINE_BYTES_MAX = 64 << 10
_GROUP_CHARACTERS_MAX = 1 << 20
_STREAM_BYTES_MAX = 64


class _Line(NamedTuple):
    stream: str
    #: Given by the program itself, not captured from its console.
    written: bool
    text: str
    time_us: int


class Lines:
    """Not safe for threads by itself."""

    def __init__(self, rank: int | None) -> None:
        self._rank = rank
        self._waiting: list[_Line] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, stream: str, text: str, time_us: int, *, written: bool) -> None:
        name = cut_text(stream, _STREAM_BYTES_MAX) if stream.isprintable() else "other"
        self._waiting.append(_Line(name, written, cut_text(text, _LINE_BYTES_MAX), time_us))

    def take(self, *, captured: bool = True) -> Iterator[Part]:
        """Everything that waits, in order, in groups of one stream. Without `captured` what was printed is dropped."""
        waiting, self._waiting = self._waiting, []
        return _groups([line for line in waiting if captured or line.written], self._rank)


def _groups(waiting: list[_Line], rank: int | None) -> Iterator[Part]:
    group: list[_Line] = []
    size = 0
    for line in waiting:
        if group and (
            line[:2] != group[0][:2] or len(group) == LINES_MAX or size + len(line.text) > _GROUP_CHARACTERS_MAX
        ):
            yield _part(group, rank)
            group, size = [], 0
        group.append(line)
        size += len(line.text)
    if group:
        yield _part(group, rank)


def _part(group: list[_Line], rank: int | None) -> Part:
    times, texts = [line.time_us for line in group], [line.text for line in group]
    return Part(encode_lines(group[0].stream, rank, times, texts, written=group[0].written), lines=len(group))
