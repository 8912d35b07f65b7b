from __future__ import annotations

import random
import struct
import unittest
import zlib

from cairn.delivery.segment import HEADER, NewerSpool, encode_frame, scan
from tests.support import SEED


class SegmentTest(unittest.TestCase):
    def test_bytes_are_those_of_the_format(self) -> None:
        self.assertEqual(HEADER, b"CAIRNSPL\x01\x00\x00\x00")
        checked = struct.pack("<BQ", 2, 9) + b"body"
        self.assertEqual(encode_frame(2, 9, b"body"), struct.pack("<II", 4, zlib.crc32(checked)) + checked)

    def test_a_newer_version_is_left_alone(self) -> None:
        with self.assertRaises(NewerSpool):
            scan(b"CAIRNSPL\x02\x00\x00\x00" + encode_frame(2, 1, b"x"))

    def test_damage_loses_what_it_hits_and_nothing_else(self) -> None:
        """2,000 trials: torn tails, flipped bytes, zeros, foreign bytes."""
        chosen = random.Random(SEED)
        for trial in range(2000):
            self._trial(chosen, f"seed {SEED}, trial {trial}")

    def _trial(self, chosen: random.Random, where: str) -> None:
        bodies = [chosen.randbytes(chosen.choice((0, 1, 17, 300))) for _ in range(chosen.randrange(1, 12))]
        data = bytearray(HEADER)
        spans = []
        for seq, body in enumerate(bodies, 1):
            frame = encode_frame(2, seq, body)
            spans.append((len(data), len(data) + len(frame)))
            data += frame
        start = chosen.randrange(len(HEADER), len(data))
        kind = chosen.choice(("tear", "flip", "zeros", "insert"))
        if kind == "tear":
            end = len(data)
            del data[start:]
        elif kind == "flip":
            end = start + 1
            data[start] ^= 1 << chosen.randrange(8)
        elif kind == "zeros":
            end = min(len(data), start + chosen.randrange(1, 60))
            data[start:end] = bytes(end - start)
        else:
            end = start
            data[start:start] = chosen.randbytes(chosen.randrange(1, 60))
        whole = {seq for seq, (low, high) in enumerate(spans, 1) if high <= start or low >= end}
        found = scan(bytes(data)).frames
        self.assertGreaterEqual({frame.seq for frame in found}, whole, f"{kind}, {where}")
        self.assertEqual([frame.seq for frame in found], sorted(frame.seq for frame in found), where)
        for frame in found:
            self.assertEqual(frame.body, bodies[frame.seq - 1], f"{kind}, {where}")
