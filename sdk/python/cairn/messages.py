"""The few messages of cairn.v1 that a client writes. Field numbers are those of proto/cairn/v1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from cairn.wire import double, doubles, encode_text, message, number, pairs, present, read_message, text, zigzags

NUMBER, INTEGER, BOOL, TEXT = 1, 2, 3, 4

STATUS = {"scheduled": 1, "running": 2, "finished": 3, "failed": 4, "killed": 5, "lost": 6}

ARTIFACT_KIND = {
    "file": 1,
    "model": 2,
    "dataset": 3,
    "image": 4,
    "audio": 5,
    "table": 6,
    "histogram": 7,
    "text": 8,
    "curve": 9,
}

DIRECTION = {"": 0, "min": 1, "max": 2}

PICTURE = {"": 0, "line": 1, "accuracy": 2, "confusion_matrix": 3, "roc": 4, "pr": 5, "histogram": 6}

Values = Union[Sequence[float], Sequence[int], Sequence[bool], Sequence[str]]


def encode_series(
    key: str,
    labels: Mapping[str, str],
    kind: int,
    steps: Sequence[int] | None,
    times_us: Sequence[int],
    values: Values,
) -> bytes:
    """cairn.v1.SeriesPoints, as a field of an envelope."""
    parts = [text(1, key), pairs(2, labels)]
    if kind != NUMBER:
        parts.append(number(3, kind))
    if steps is not None:
        parts.append(message(4, zigzags(steps)))
    parts.append(message(5, zigzags(times_us)))
    if kind == NUMBER:
        parts.append(message(6, doubles(values)))  # type: ignore[arg-type]
    elif kind == INTEGER:
        parts.append(message(7, zigzags(values)))  # type: ignore[arg-type]
    elif kind == BOOL:
        parts.append(message(8, bytes(1 if value else 0 for value in values)))
    else:
        # Unlike a single field, an element of a list is written also when it is empty.
        parts.extend(message(9, encode_text(value)) for value in values)  # type: ignore[arg-type]
    return message(4, b"".join(parts))


def encode_lines(
    stream: str, rank: int | None, times_us: Sequence[int], lines: Sequence[str], *, written: bool = True
) -> bytes:
    """cairn.v1.LogLines, as a field of an envelope. Lines that are not `written` were captured from the console."""
    parts = [number(1, 1), text(2, stream)]
    if rank is not None:
        parts.append(present(3, rank))
    parts.append(message(4, zigzags(times_us)))
    parts.extend(message(5, encode_text(line)) for line in lines)
    parts.append(number(6, int(written)))
    return message(11, b"".join(parts))


def encode_artifact(
    name: str,
    *,
    step: int | None = None,
    kind: str = "file",
    uri: str = "",
    content: bytes | None = None,
    media_type: str = "",
    metadata: Mapping[str, str] | None = None,
    sha256: str = "",
    size_bytes: int | None = None,
) -> bytes:
    """cairn.v1.ArtifactRecord, as a field of an envelope."""
    parts = [text(1, name)]
    if step is not None:
        parts.append(present(2, step))
    parts.append(number(3, ARTIFACT_KIND[kind]))
    parts.append(text(4, uri))
    if content is not None:
        parts.append(message(5, content))
    parts.append(text(6, media_type))
    parts.append(pairs(7, metadata or {}))
    parts.append(text(8, sha256))
    if size_bytes is not None:
        parts.append(present(9, size_bytes))
    return message(12, b"".join(parts))


def encode_envelope(
    writer: str,
    seq: int,
    parts: bytes = b"",
    *,
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    status: str = "",
    heartbeat_seconds: int = 0,
    ended_us: int = 0,
) -> bytes:
    """cairn.v1.Envelope without its run. `parts` holds series, lines and artifacts that are encoded already."""
    return b"".join(
        (
            text(2, writer),
            number(3, seq),
            parts,
            pairs(5, params or {}),
            pairs(6, tags or {}),
            number(7, STATUS[status]) if status else b"",
            number(9, heartbeat_seconds),
            number(10, ended_us),
        )
    )


def encode_lost(first: int, last: int) -> bytes:
    """A lost range of an envelope. Fields may be in any order, so it can be put behind one that is written."""
    return message(8, number(1, first) + number(2, last))


def encode_run_ref(run_id: str) -> bytes:
    """The run of an envelope, of AddSourceRequest and of others that have it as field 1."""
    return message(1, text(1, run_id))


def encode_source(source_id: str, artifact: str = "") -> bytes:
    """cairn.v1.SourceRef."""
    return text(2, source_id) + text(3, artifact)


def encode_create_run(
    *,
    namespace: str = "",
    name: str = "",
    aliases: Sequence[str] = (),
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    provenance: bytes = b"",
    status: str = "",
    notes: str = "",
    started_us: int = 0,
) -> bytes:
    """cairn.v1.CreateRunRequest with get_or_create, as the spool wants it."""
    return b"".join(
        (
            text(1, namespace),
            text(2, name),
            *(message(3, encode_text(alias)) for alias in aliases),
            pairs(4, params or {}),
            pairs(5, tags or {}),
            message(6, provenance) if provenance else b"",
            number(7, STATUS[status]) if status else b"",
            text(8, notes),
            number(9, started_us),
            number(10, 1),
        )
    )


def encode_describe_key(
    namespace: str,
    key: str,
    *,
    unit: str = "",
    direction: str = "",
    description: str = "",
    picture: str = "",
    min: float | None = None,
    max: float | None = None,
    only_if_absent: bool = False,
) -> bytes:
    """cairn.v1.DescribeKeyRequest."""
    body = b"".join(
        (
            text(1, namespace),
            text(2, key),
            text(3, unit),
            number(4, DIRECTION[direction]),
            text(5, description),
            number(6, PICTURE[picture]),
            b"" if min is None else double(7, min),
            b"" if max is None else double(8, max),
        )
    )
    return message(1, body) + number(2, int(only_if_absent))


def is_automatic(describe_key: bytes) -> bool:
    """Whether a DescribeKeyRequest only fills in what is absent."""
    return bool(read_message(describe_key).get(2, [0])[-1])
