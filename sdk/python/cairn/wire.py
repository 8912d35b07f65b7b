"""Protobuf by hand: fields as bytes, and back. What is at its default is left out, as everywhere in proto3."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Union

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_SMALL = tuple(bytes((n,)) for n in range(128))


def varint(number: int) -> bytes:
    """Of a number from 0 to 2^64 - 1."""
    if number < 128:
        return _SMALL[number]
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(field: int, body: bytes) -> bytes:
    return varint(field << 3 | _LENGTH) + varint(len(body)) + body


def text(field: int, value: str) -> bytes:
    return message(field, encode_text(value)) if value else b""


def number(field: int, value: int) -> bytes:
    """Any varint field but the zigzag ones; below 0 as int64 does it."""
    return varint(field << 3 | _VARINT) + varint(value & 0xFFFFFFFFFFFFFFFF) if value else b""


def present(field: int, value: int) -> bytes:
    """A field with presence: 0 is written, too."""
    return varint(field << 3 | _VARINT) + varint(value & 0xFFFFFFFFFFFFFFFF)


def double(field: int, value: float) -> bytes:
    """A field with presence: 0.0 is written, too."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)


def encode_text(value: str) -> bytes:
    """UTF-8. Halves of surrogate pairs, which file names and variables may hold, become question marks."""
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace")


def pairs(field: int, entries: Mapping[str, str]) -> bytes:
    """A map of texts."""
    return b"".join(message(field, text(1, key) + text(2, value)) for key, value in entries.items())


def zigzags(values: Iterable[int]) -> bytes:
    out = bytearray()
    append = out.append
    extend = out.extend
    for value in values:
        zigzag = value << 1 if value >= 0 else (-value << 1) - 1
        if zigzag >> 49 and not zigzag >> 56:
            # The times of this century take eight bytes each: no loop for them.
            extend(
                (
                    zigzag & 127 | 128,
                    zigzag >> 7 & 127 | 128,
                    zigzag >> 14 & 127 | 128,
                    zigzag >> 21 & 127 | 128,
                    zigzag >> 28 & 127 | 128,
                    zigzag >> 35 & 127 | 128,
                    zigzag >> 42 & 127 | 128,
                    zigzag >> 49,
                )
            )
            continue
        while zigzag > 127:
            append(zigzag & 127 | 128)
            zigzag >>= 7
        append(zigzag)
    return bytes(out)


def doubles(values: Sequence[float]) -> bytes:
    column = values if isinstance(values, array) else array("d", values)
    if sys.byteorder == "big":
        column = array("d", column)
        column.byteswap()
    return column.tobytes()


Field = Union[int, bytes]


def read_fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """The fields of a message in their order. Raises ValueError for an invalid message."""
    at = 0
    end = len(data)
    while at < end:
        tag, at = _read_varint(data, at)
        field, kind = tag >> 3, tag & 7
        if field == 0:
            raise ValueError("a field has the number 0")
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield field, value
            continue
        if kind == _LENGTH:
            size, at = _read_varint(data, at)
        elif kind == _FIXED64:
            size = 8
        elif kind == _FIXED32:
            size = 4
        else:
            raise ValueError(f"a field has the wire type {kind}")
        if at + size > end:
            raise ValueError("a field ends beyond its message")
        yield field, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("a number ends beyond its message")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number has more than ten bytes")


def read_message(data: bytes) -> dict[int, list[Field]]:
    """The fields of a message by their numbers."""
    found: dict[int, list[Field]] = {}
    for field, value in read_fields(data):
        found.setdefault(field, []).append(value)
    return found


def read_text(fields: Mapping[int, list[Field]], field: int) -> str:
    """The last one counts; empty when there is none."""
    value = fields.get(field, [b""])[-1]
    if not isinstance(value, bytes):
        raise ValueError(f"field {field} is a number")
    return value.decode("utf-8")
