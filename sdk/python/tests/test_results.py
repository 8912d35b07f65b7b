from __future__ import annotations

import unittest

from cairn import CairnResultTracker
from tests.support import ServerCase, needs_server

try:
    from torchx.runtime.tracking import ResultTracker
except ImportError:
    ResultTracker = None


@needs_server
class ResultTest(ServerCase):
    def tracker(self, run: str = "exp-7") -> CairnResultTracker:
        tracker = CairnResultTracker(f"{self.url}/{self.namespace}/{run}")
        self.addCleanup(tracker.close)
        return tracker

    def test_records(self) -> None:
        tracker = self.tracker()
        self.assertEqual(tracker.get("missing"), {})
        tracker["attempt_1/out"] = {"l2norm/mean": 1.5, "n": 2, "text": "x"}  # type: ignore[index]
        self.assertEqual(tracker["attempt_1/out"], {"l2norm/mean": 1.5, "n": 2, "text": "x"})  # type: ignore[index]
        tracker.put(1, a=1)
        tracker.put(1, b=2)
        # The record is replaced as a whole, and a number is the same key as its text.
        self.assertEqual((self.tracker().get("1"), self.tracker().get(1)), ({"b": 2}, {"b": 2}))
        self.assertEqual(self.tracker("other").get(1), {})
        info = self.api.call("RunService/GetRun", {"run": {"alias": "exp-7", "namespace": self.namespace}})
        self.assertEqual(info["params"]["1"], '{"b":2}')

    def test_files(self) -> None:
        tracker = self.tracker()
        self.assertIsNone(tracker.get_file("missing.png"))
        large = bytes(range(256)) * 2048
        path = self.folder / "curve.svg"
        path.write_text("<svg/>")
        tracker.put_file("a.png", b"tiny", "image/png", step=3, kind="image")
        tracker.put_file("large.bin", large)
        tracker.put_file("curve.svg", path)
        for name, content, media_type in (
            ("a.png", b"tiny", "image/png"),
            ("large.bin", large, "application/octet-stream"),
            ("curve.svg", b"<svg/>", "image/svg+xml"),
        ):
            found = self.tracker().get_file(name)
            assert found is not None
            self.assertEqual((found.content == content, found.media_type), (True, media_type), name)

    def test_bases(self) -> None:
        tracker = CairnResultTracker(f"{self.url}/results/{self.namespace}/x/")
        self.assertEqual((tracker.namespace, tracker.run), (self.namespace, "x"))
        for base in ("", self.url, f"{self.url}/", "ftp://host/a/b"):
            with self.assertRaises(ValueError, msg=base):
                CairnResultTracker(base)

    @unittest.skipIf(ResultTracker is None, "there is no torchx")
    def test_it_is_one_of_torchx(self) -> None:
        self.assertIsInstance(self.tracker(), ResultTracker)
