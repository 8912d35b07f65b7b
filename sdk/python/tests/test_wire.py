from __future__ import annotations

import math
import random
import struct
import unittest

from cairn import messages, wire


def unzigzag(data: bytes) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = wire._read_varint(data, at)
        values.append(value >> 1 if value & 1 == 0 else -((value + 1) >> 1))
    return values


class WireTest(unittest.TestCase):
    def test_whole_numbers_come_back(self) -> None:
        chosen = random.Random(7)
        values = [0, 1, -1, 63, 64, -64, -65, 2**53, -(2**53), 2**63 - 1, -(2**63), 1794736707368236]
        values += [chosen.randrange(-(2**63), 2**63) >> chosen.randrange(64) for _ in range(2000)]
        self.assertEqual(unzigzag(wire.zigzags(values)), values)

    def test_doubles_keep_every_bit(self) -> None:
        values = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1]
        self.assertEqual(wire.doubles(values), struct.pack("<8d", *values))

    def test_an_envelope_has_the_numbers_of_the_contract(self) -> None:
        series = messages.encode_series("k", {"rank": "3"}, messages.TEXT, [1, 2], [5, 6], ["", "b"])
        lines = messages.encode_lines("stderr", 0, [9], [""])
        body = messages.encode_envelope(
            "w",
            7,
            series + lines,
            params={"p": "1"},
            tags={"t": ""},
            status="failed",
            heartbeat_seconds=30,
            ended_us=-1,
        )
        found = wire.read_message(body)
        self.assertEqual(found[2], [b"w"])
        self.assertEqual((found[3], found[7], found[9]), ([7], [4], [30]))
        # Below zero an int64 has all its ten bytes.
        self.assertEqual(found[10], [2**64 - 1])
        inner = wire.read_message(found[4][0])  # type: ignore[arg-type]
        self.assertEqual(inner[3], [4])
        self.assertEqual(inner[9], [b"", b"b"])
        self.assertEqual(unzigzag(inner[4][0]), [1, 2])  # type: ignore[arg-type]
        self.assertEqual(wire.read_message(inner[2][0]), {1: [b"rank"], 2: [b"3"]})  # type: ignore[arg-type]
        log = wire.read_message(found[11][0])  # type: ignore[arg-type]
        self.assertEqual((log[1], log[2], log[3], log[5]), ([1], [b"stderr"], [0], [b""]))

    def test_halves_of_surrogate_pairs_do_not_stop_it(self) -> None:
        self.assertEqual(wire.read_message(wire.text(1, "a\udcffb")), {1: [b"a?b"]})

    def test_invalid_messages_are_refused(self) -> None:
        for garbage in (b"<html>", b"\x0a\xff", b"\x80" * 11, b"\x00\x01", b"\x0b"):
            with self.assertRaises(ValueError, msg=repr(garbage)):
                wire.read_message(garbage)
