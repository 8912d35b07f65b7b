from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from cairn.login import Server, find_server, renew_local_secret
from tests.support import Case

SECRET = "cairn_local_" + "s" * 37
OTHER = "cairn_local_" + "o" * 37


class LocalSecretTest(Case):
    def keep(self, secret: str = SECRET, address: str = "127.0.0.1", port: int = 4700, mode: int = 0o600) -> Path:
        path = self.folder / ".config" / "cairn" / f"local-{port}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"address": address, "secret": secret, "pid": 1}))
        path.chmod(mode)
        return path

    def find(self, server: str | None = None, token: str | None = None, **env: str) -> Server:
        return find_server(server, token, {"HOME": str(self.folder), **env})

    def test_it_goes_to_the_address_that_is_bound_and_to_no_other(self) -> None:
        self.keep()
        self.assertEqual(self.find(), Server("http://127.0.0.1:4700", SECRET, False))
        self.assertEqual(self.find("localhost"), Server("http://127.0.0.1:4700", SECRET))
        self.assertEqual(self.find("https://localhost:4700"), Server("https://localhost:4700", SECRET))
        for other in ("127.0.0.2", "http://[::1]:4700", "127.0.0.1:4701", "localhost.evil.example", "box.example"):
            self.assertIsNone(self.find(other).token, other)
        self.keep(address="::1", port=80)
        self.assertEqual(self.find("http://localhost"), Server("http://[::1]", SECRET))
        self.assertIsNone(self.find("http://127.0.0.1").token)

    def test_it_comes_after_every_other_credential(self) -> None:
        path = self.keep()
        self.assertEqual(self.find(token="t").token, "t")
        self.assertEqual(self.find(CAIRN_TOKEN="e").token, "e")
        login = path.parent / "login.json"
        login.write_text(json.dumps({"servers": {"http://127.0.0.1:4700": {"token": "kept"}}}))
        login.chmod(0o600)
        self.assertEqual(self.find().token, "kept")

    def test_a_file_of_or_for_others_is_refused_by_name(self) -> None:
        for mode in (0o644, 0o640, 0o604, 0o660):
            path = self.keep(mode=mode)
            with self.assertRaisesRegex(ValueError, f'cannot use "{path}": others may read it'):
                self.find()
        path = self.keep()
        os.chown(path, 54321, 54321)
        with self.assertRaisesRegex(ValueError, "another user owns it"):
            self.find()

    def test_an_incomplete_file_is_ignored(self) -> None:
        path = self.keep()
        for text in ("", "{", "{}", "[]", '{"address": 7, "secret": "cairn_local_x"}', '{"address": "127.0.0.1", "secret": "x"}'):
            path.write_text(text)
            self.assertIsNone(self.find().token, text)

    def test_it_is_read_again_after_a_refusal(self) -> None:
        here = Server("http://127.0.0.1:4700", SECRET)
        with mock.patch.dict(os.environ, {"HOME": str(self.folder), "XDG_CONFIG_HOME": ""}):
            path = self.keep()
            self.assertIsNone(renew_local_secret(here))
            self.keep(OTHER)
            self.assertEqual(renew_local_secret(here), here._replace(token=OTHER))
            self.assertEqual(renew_local_secret(here._replace(token=None)), here._replace(token=OTHER))
            self.assertIsNone(renew_local_secret(here._replace(token="cairn_" + "t" * 43)))
            self.keep(OTHER, mode=0o644)
            self.assertIsNone(renew_local_secret(here))
            path.unlink()
            self.assertEqual(renew_local_secret(here), here._replace(token=None))
