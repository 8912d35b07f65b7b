from __future__ import annotations

import io
import os
import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.repository import make_repository
from tests.support import ServerCase, needs_server

NAME = "code/workdir.tar.gz"


@needs_server
class ArchiveTest(ServerCase):
    def job(self, folder: Path, body: str = "run.log({'a': 1})", options: str = "", **env: str) -> dict[str, Any]:
        source = f"import os\nos.chdir({str(folder)!r})\nimport cairn\nrun = cairn.init({options})\n{body}\n"
        done = self.script(source, CAIRN_CAPTURE="", **env) if options else self.script(source, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.api.run(self.namespace)

    def files(self, run: dict[str, Any]) -> dict[str, bytes]:
        with urllib.request.urlopen(f"{self.url}/artifacts/{run['id']}/{NAME}", timeout=30) as answer:
            self.assertEqual(answer.headers["content-type"], "application/gzip")
            content = answer.read()
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            found = {member.name: tar.extractfile(member) for member in tar.getmembers()}
            return {name: file.read() for name, file in found.items() if file is not None}

    def setUp(self) -> None:
        super().setUp()
        del os.environ["CAIRN_CAPTURE"]

    def test_a_run_in_a_repository_has_its_working_directory(self) -> None:
        folder = make_repository(self.folder / "work")
        (folder / "new.py").write_text("untracked\n")
        (folder / ".gitignore").write_text("*.ckpt\n")
        (folder / "big.ckpt").write_text("x")
        run = self.job(folder)
        self.assertEqual(self.files(run), {"a.py": b"one\n", "new.py": b"untracked\n", ".gitignore": b"*.ckpt\n"})
        self.assertEqual(run["provenance"]["code"]["archive"], NAME)
        self.assertNotIn("note:archive", run["provenance"]["environment"])
        # Nothing stays behind.
        self.assertEqual(self.spools, [])

    def test_elsewhere_there_is_one_only_when_it_is_asked_for(self) -> None:
        folder = self.folder / "plain"
        folder.mkdir()
        (folder / "a.py").write_text("one\n")
        run = self.job(folder)
        with self.assertRaises(urllib.error.HTTPError):
            self.files(run)
        os.environ["CAIRN_NAMESPACE"] = self.namespace = f"{self.namespace}/asked"
        self.assertEqual(self.files(self.job(folder, options="capture=['archive']")), {"a.py": b"one\n"})

    def test_the_home_folder_is_not_archived(self) -> None:
        folder = make_repository(self.folder / "home")
        run = self.job(folder, HOME=str(folder))
        with self.assertRaises(urllib.error.HTTPError):
            self.files(run)

    def test_what_is_too_large_has_a_note(self) -> None:
        folder = make_repository(self.folder / "work")
        with open(folder / "data.bin", "wb") as file:
            file.truncate(70 << 20)
        run = self.job(folder)
        note = run["provenance"]["environment"]["note:archive"]
        self.assertIn('the largest are "data.bin" (70.0 MiB)', note)
        self.assertNotIn("archive", run["provenance"]["code"])

    def test_where_code_is_forbidden_there_is_none(self) -> None:
        self.api.call("NamespaceService/CreateNamespace", {"path": self.namespace})
        self.api.call("NamespaceService/UpdateNamespace", {"path": self.namespace, "forbidCode": True})
        run = self.job(make_repository(self.folder / "work"), "run.flush()")
        with self.assertRaises(urllib.error.HTTPError):
            self.files(run)
        self.assertNotIn("archive", run["provenance"]["code"])

    def test_only_the_first_rank_sends_one(self) -> None:
        folder = make_repository(self.folder / "work")
        run = self.job(folder, options="rank=3, alias='job', capture=['archive', 'code']")
        with self.assertRaises(urllib.error.HTTPError):
            self.files(run)

    def test_without_a_server_it_waits_in_the_spool(self) -> None:
        folder = make_repository(self.folder / "work")
        source = f"import os\nos.chdir({str(folder)!r})\nimport cairn\nrun = cairn.init(exit_s=1)\n"
        source += "run._archiving._thread.join()\n"
        done = self.script(source, CAIRN_SERVER="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = [path for spool in self.spools for path in (spool / "files").iterdir()]
        self.assertEqual(len(kept), 1)
