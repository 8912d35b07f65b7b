"""Lines of the log that wait to be collected."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.messages import encode_lines
from cairn.pending import Part
from cairn.values import cut_text

LINES_MAX = 1000
_LINE_BYTES_MAX = 64 << 10
_GROUP_CHARACTERS_MAX = 1 << 20
_STREAM_BYTES_MAX = 64


class Lines:
    """Not safe for threads by itself."""

    def __init__(self, rank: int | None) -> None:
        self._rank = rank
        self._waiting: list[tuple[str, str, int]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, stream: str, text: str, time_us: int) -> None:
        self._waiting.append((stream, cut_text(text, _LINE_BYTES_MAX), time_us))

    def take(self) -> Iterator[Part]:
        """Everything that waits, in order, in groups of one stream."""
        waiting, self._waiting = self._waiting, []
        return _groups(waiting, self._rank)


def _groups(waiting: list[tuple[str, str, int]], rank: int | None) -> Iterator[Part]:
    stream = ""
    texts: list[str] = []
    times: list[int] = []
    size = 0
    for name, text, time_us in waiting:
        if texts and (name != stream or len(texts) == LINES_MAX or size + len(text) > _GROUP_CHARACTERS_MAX):
            yield Part(encode_lines(stream, rank, times, texts), lines=len(texts))
            texts, times, size = [], [], 0
        stream = cut_text(name, _STREAM_BYTES_MAX) if name.isprintable() else "other"
        texts.append(text)
        times.append(time_us)
        size += len(text)
    if texts:
        yield Part(encode_lines(stream, rank, times, texts), lines=len(texts))
