from __future__ import annotations

import mimetypes
from pathlib import Path
from unittest import mock

from cairn.delivery.media_types import UNKNOWN, media_type_of
from tests.support import Case


class MediaTypeTest(Case):
    def test_they_do_not_depend_on_the_machine(self) -> None:
        types = self.folder / "mime.types"
        types.write_text("application/vnd.snesdev-page-table pt\napplication/x-odd png\n")
        with mock.patch.object(mimetypes, "knownfiles", [str(types)]):
            mimetypes.init()
            self.addCleanup(mimetypes.init)
            for name in ("model.pt", "a/b.PTH", "x.ckpt", "x.safetensors", "unknown.xyz", "none", "dir.pt/none", ".pt"):
                self.assertEqual(media_type_of(name), UNKNOWN, name)
            self.assertEqual(media_type_of("/tmp/x.png"), "image/png")
            self.assertEqual(media_type_of("/tmp/kept", "table.CSV"), "text/csv")

    def test_no_module_of_the_client_asks_the_machine(self) -> None:
        package = Path(__file__).resolve().parents[1] / "cairn"
        self.assertEqual([path for path in package.rglob("*.py") if "mimetypes" in path.read_text()], [])
