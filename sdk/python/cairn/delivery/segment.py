"""Segments of a spool: frames with a checksum, as docs/formats/spool.md lays them down."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

MAGIC = b"CAIRNSPL"
VERSION = 1
HEADER = MAGIC + struct.pack("<I", VERSION)

OPEN, ENVELOPE, UPLOAD, SOURCE, DESCRIBE = 1, 2, 3, 4, 5

_HEAD = struct.Struct("<IIBQ")
HEAD_BYTES = _HEAD.size
_CHECKED = struct.Struct("<BQ")

SEGMENT_BYTES_MAX = 8 << 20


class Frame(NamedTuple):
    kind: int
    #: The number of an envelope; 0 for other kinds.
    seq: int
    body: bytes
    #: Which segment it is in, and where it ends there; 0 for one that is in memory only.
    segment: int = 0
    end: int = 0


class NewerSpool(Exception):
    """A segment of a later version of the format: it is left alone."""


def encode_frame(kind: int, seq: int, body: bytes) -> bytes:
    checksum = zlib.crc32(body, zlib.crc32(_CHECKED.pack(kind, seq)))
    return _HEAD.pack(len(body), checksum, kind, seq) + body


def read_frame(data: bytes, at: int) -> tuple[Frame, int] | None:
    """The frame at a place and where it ends; None when there is no whole one with a right checksum."""
    if at + HEAD_BYTES > len(data):
        return None
    size, checksum, kind, seq = _HEAD.unpack_from(data, at)
    end = at + HEAD_BYTES + size
    if end > len(data):
        return None
    body = data[at + HEAD_BYTES : end]
    if zlib.crc32(body, zlib.crc32(_CHECKED.pack(kind, seq))) != checksum:
        return None
    return Frame(kind, seq, body, 0, end), end


def check_header(data: bytes) -> bool:
    """False for anything but a segment, and for an incomplete one. Raises NewerSpool."""
    if data[:8] != MAGIC or len(data) < len(HEADER):
        return False
    version = struct.unpack_from("<I", data, 8)[0]
    if version > VERSION:
        raise NewerSpool(f"its format has version {version}, this client knows {VERSION}")
    return bool(version == VERSION)


class Scan(NamedTuple):
    frames: list[Frame]
    #: Bytes that belong to no frame that can be read, the torn tail among them.
    damaged_bytes: int


def scan(data: bytes, segment: int = 0) -> Scan:
    """Everything that can be read of a segment, in order. Raises NewerSpool.

    A frame with a wrong checksum is the only one lost when its length leads to another complete frame or to the
    end. Else the next place is looked for from which a whole frame can be read; so neither a flipped
    length nor a piece of zeros hides what follows it. A damaged header hides nothing.
    """
    check_header(data)
    frames: list[Frame] = []
    at = min(len(HEADER), len(data))
    damaged = 0
    while at < len(data):
        found = read_frame(data, at)
        if found is None:
            beyond = _next_frame(data, at)
            damaged += beyond - at
            at = beyond
            continue
        frame, at = found
        frames.append(frame._replace(segment=segment))
    return Scan(frames, damaged)


def _next_frame(data: bytes, at: int) -> int:
    if at + HEAD_BYTES <= len(data):
        end = at + HEAD_BYTES + int(_HEAD.unpack_from(data, at)[0])
        if end == len(data) or (end < len(data) and read_frame(data, end) is not None):
            return end
    for start in range(at + 1, len(data) - HEAD_BYTES + 1):
        # The kind is checked first because it is cheap: most bytes are not a kind.
        if 0 < data[start + 8] < 64 and read_frame(data, start) is not None:
            return start
    return len(data)
