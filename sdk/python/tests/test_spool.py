from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from cairn.delivery import spool as spool_module
from cairn.delivery.segment import ENVELOPE, HEADER, OPEN, Frame, scan
from cairn.delivery.spool import Spool, process_start, spool_folder
from cairn.login import Server
from tests.support import Case

WRITER = "0123456789abcdef0123456789abcdef"


class SpoolTest(Case):
    def spool(self, **options: int) -> Spool:
        return Spool(self.folder / "spool", WRITER, Server("http://127.0.0.1:1"), b"open", version="0", **options)

    def drain(self, spool: Spool) -> list[Frame]:
        found = []
        while True:
            frame = spool.peek()
            if frame is None:
                return found
            found.append(frame)
            spool.done(frame)

    def test_files_are_those_of_the_format(self) -> None:
        spool = self.spool()
        spool.append(ENVELOPE, 1, b"one")
        folder = self.folder / "spool" / WRITER
        self.assertEqual(sorted(os.listdir(folder)), ["00000001.frames", "owner.json"])
        self.assertEqual((folder.stat().st_mode & 0o777, folder.parent.stat().st_mode & 0o777), (0o700, 0o700))
        owner = json.loads((folder / "owner.json").read_text())
        names = ["version", "writer", "server", "client", "host", "pid", "pidStart", "createdUs", "serverSet"]
        self.assertEqual(list(owner), names)
        self.assertEqual((owner["pid"], owner["pidStart"]), (os.getpid(), process_start(os.getpid())))
        self.assertTrue(owner["pidStart"].isdigit())
        data = (folder / "00000001.frames").read_bytes()
        self.assertTrue(data.startswith(HEADER))
        self.assertEqual(
            [(frame.kind, frame.seq, frame.body) for frame in scan(data).frames], [(OPEN, 0, b"open"), (2, 1, b"one")]
        )

    def test_what_is_delivered_is_removed(self) -> None:
        spool = self.spool(segment_bytes_max=200)
        for seq in range(1, 21):
            spool.append(ENVELOPE, seq, bytes(50))
        self.assertGreater(len(list(spool.folder.glob("*.frames"))), 3)
        self.assertFalse(spool.is_empty)
        self.assertEqual([frame.seq for frame in self.drain(spool)], list(range(1, 21)))
        self.assertEqual(len(list(spool.folder.glob("*.frames"))), 1)
        self.assertTrue(spool.close())
        self.assertFalse(spool.folder.exists())

    def test_what_is_not_delivered_stays(self) -> None:
        spool = self.spool()
        spool.append(ENVELOPE, 1, b"x")
        self.assertFalse(spool.close())
        self.assertTrue((spool.folder / "00000001.frames").exists())

    def test_over_the_cap_the_oldest_segment_goes(self) -> None:
        spool = self.spool(segment_bytes_max=1000, bytes_max=5000)
        with self.said() as said:
            for seq in range(1, 101):
                spool.append(ENVELOPE, seq, bytes(100))
        found = [frame.seq for frame in self.drain(spool)]
        self.assertEqual(found, list(range(found[0], 101)))
        self.assertEqual(spool.dropped, found[0] - 1)
        self.assertGreater(found[0], 40)
        self.assertEqual(said.getvalue().count("is full"), 1)

    def test_a_damaged_frame_does_not_hide_the_next(self) -> None:
        spool = self.spool()
        for seq in range(1, 6):
            spool.append(ENVELOPE, seq, bytes([seq]) * 40)
        path = spool.folder / "00000001.frames"
        data = bytearray(path.read_bytes())
        data[data.index(bytes([2]) * 40) + 5] ^= 255
        path.write_bytes(data)
        with self.said():
            self.assertEqual([frame.seq for frame in self.drain(spool)], [1, 3, 4, 5])
        self.assertEqual(spool.dropped, 1)

    def test_without_a_disk_frames_are_kept_in_memory(self) -> None:
        (self.folder / "spool").write_text("a file where a folder should be")
        spool = self.spool()
        with self.said() as said:
            for seq in range(1, 4):
                spool.append(ENVELOPE, seq, b"x")
        self.assertEqual(said.getvalue().count("cannot write spool"), 1)
        self.assertTrue(spool.holds_in_memory)
        (self.folder / "spool").unlink()
        # The disk is asked again only now and then.
        spool._disk_again = 0
        spool.append(ENVELOPE, 4, b"x")
        self.assertFalse(spool.holds_in_memory)
        data = (spool.folder / "00000001.frames").read_bytes()
        self.assertEqual([frame.seq for frame in scan(data).frames], [0, 1, 2, 3, 4])

    def test_memory_has_a_bound(self) -> None:
        (self.folder / "spool").write_text("")
        spool = self.spool()
        with self.said(), mock.patch.object(spool_module, "HELD_BYTES_MAX", 1000):
            for seq in range(1, 101):
                spool.append(ENVELOPE, seq, bytes(100))
        self.assertEqual([frame.seq for frame in self.drain(spool)], list(range(91, 101)))
        self.assertEqual(spool.dropped, 90)

    def test_a_disk_that_is_full_gets_no_half_frames(self) -> None:
        # RLIMIT_FSIZE makes writes fail in the middle, as a full disk does.
        source = """
            import resource, signal, sys
            from pathlib import Path
            from cairn.delivery.spool import Spool
            from cairn.login import Server
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
            spool = Spool(Path(sys.argv[1]), "w", Server("http://x"), b"open", version="0")
            for seq in range(1, 31):
                spool.append(2, seq, bytes(100))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            spool._disk_again = 0
            spool.append(2, 31, b"")
        """
        done = self.script(source, str(self.folder / "spool"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("cannot write spool"), 1)
        frames = []
        for path in sorted((self.folder / "spool" / "w").glob("*.frames")):
            found = scan(path.read_bytes())
            self.assertEqual(found.damaged_bytes, 0)
            frames += [frame.seq for frame in found.frames if frame.kind == ENVELOPE]
        self.assertEqual(frames, list(range(1, 32)))

    def test_where_the_spool_is(self) -> None:
        self.assertEqual(spool_folder({"CAIRN_SPOOL": "/a"}), Path("/a"))
        self.assertEqual(spool_folder({"XDG_STATE_HOME": "/s"}), Path("/s/cairn/spool"))

    def test_the_start_of_another_process(self) -> None:
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        try:
            self.assertNotEqual(process_start(process.pid), "")
        finally:
            process.communicate(b"\n")
        self.assertEqual(process_start(process.pid), "")
