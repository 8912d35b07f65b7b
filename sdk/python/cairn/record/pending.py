"""The data of a run besides points, and how all of it is cut into envelopes that a server takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cairn.record.buffer import Column
from cairn.record.values import to_key
from cairn.wire import pairs

_ENVELOPE_BYTES_MAX = 4 << 20
_ENVELOPE_POINTS_MAX = 50_000
_ENVELOPE_LINES_MAX = 1000
_ENVELOPE_ARTIFACTS_MAX = 500

#: A tag with the type of a param that JSON cannot hold and that is kept as text.
TEXT_TAG = "as-text."


class Part(NamedTuple):
    """A field of an envelope, and what of the limits it uses up."""

    body: bytes
    points: int = 0
    lines: int = 0
    artifacts: int = 0


class Pending:
    """Not safe for threads by itself."""

    def __init__(self) -> None:
        self.params: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self.artifacts: list[bytes] = []
        self.sources: list[tuple[str, str]] = []
        #: What the program states about the provenance: cairn.v1.Provenance, in this order.
        self.stated: list[bytes] = []
        #: Of metric keys: cairn.v1.DescribeKeyRequest.
        self.descriptions: list[bytes] = []

    def mark_text(self, key: str, type_name: str) -> None:
        if type_name:
            self.tags[to_key(TEXT_TAG + key)] = to_key(type_name)

    def parts(self) -> Iterator[Part]:
        for key, text in self.params.items():
            yield Part(pairs(5, {key: text}))
        for key, text in self.tags.items():
            yield Part(pairs(6, {key: text}))
        for artifact in self.artifacts:
            yield Part(artifact, artifacts=1)


def series_parts(columns: Iterable[Column]) -> Iterator[Part]:
    for column in columns:
        for start in range(0, len(column), _ENVELOPE_POINTS_MAX):
            end = min(len(column), start + _ENVELOPE_POINTS_MAX)
            yield Part(column.encode(start, end), points=end - start)


def envelopes(parts: Iterable[Part]) -> Iterator[bytes]:
    """The parts in their order, joined as far as one envelope may hold them."""
    waiting: list[bytes] = []
    size = points = lines = artifacts = 0
    for part in parts:
        if waiting and (
            size + len(part.body) > _ENVELOPE_BYTES_MAX
            or points + part.points > _ENVELOPE_POINTS_MAX
            or lines + part.lines > _ENVELOPE_LINES_MAX
            or artifacts + part.artifacts > _ENVELOPE_ARTIFACTS_MAX
        ):
            yield b"".join(waiting)
            waiting = []
            size = points = lines = artifacts = 0
        waiting.append(part.body)
        size += len(part.body)
        points += part.points
        lines += part.lines
        artifacts += part.artifacts
    if waiting:
        yield b"".join(waiting)


def marked(texts: Mapping[str, tuple[str, str]]) -> Pending:
    """Params with their types, as `to_json` gives them."""
    pending = Pending()
    for key, (text, type_name) in texts.items():
        pending.params[key] = text
        pending.mark_text(key, type_name)
    return pending
