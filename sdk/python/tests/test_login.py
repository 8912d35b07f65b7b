from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from cairn.client import Answer, Client, find_proxy
from cairn.delivery.owner import keep_server
from cairn.delivery.segment import ENVELOPE
from cairn.delivery.spool import Spool
from cairn.login import Server, find_server, normalize_server
from cairn.namespaces import check_namespace
from tests.support import Case


class LoginTest(Case):
    def login(self, logins: object, mode: int = 0o600) -> Path:
        path = self.folder / ".config" / "cairn" / "login.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(logins))
        path.chmod(mode)
        return path

    def test_addresses_are_written_one_way(self) -> None:
        cases = {
            "host": "http://host:4700",
            "HOST:80": "http://host",
            " https://Host/ ": "https://host",
            "https://host:443/base/": "https://host/base",
            "http://[::1]:4700": "http://[::1]:4700",
            "10.0.0.1:5000": "http://10.0.0.1:5000",
        }
        for given, expected in cases.items():
            self.assertEqual(normalize_server(given), expected, given)

    def test_an_invalid_address_is_refused_with_its_value(self) -> None:
        for given in (
            "ftp://x",
            "http://",
            "http://a b",
            "http://host:port",
            "http://u:p@host",
            "http://[::1",
            "http://h:99999",
        ):
            with self.assertRaisesRegex(ValueError, "cannot use", msg=given):
                normalize_server(given)

    def test_what_is_given_wins_then_the_environment_then_the_file(self) -> None:
        self.login(
            {"default": "http://file:1", "servers": {"http://file:1": {"token": "f"}, "http://env:2": {"token": "e"}}}
        )
        env = {"HOME": str(self.folder)}
        self.assertEqual(find_server(env=env), Server("http://file:1", "f"))
        self.assertEqual(find_server(env={**env, "CAIRN_SERVER": "env:2"}), Server("http://env:2", "e"))
        self.assertEqual(find_server("given:3", env={**env, "CAIRN_SERVER": "env:2"}), Server("http://given:3", None))
        self.assertEqual(find_server("env:2", "t", env={**env, "CAIRN_TOKEN": "x"}), Server("http://env:2", "t"))
        secret = self.folder / "token"
        secret.write_text("from-file\n")
        self.assertEqual(find_server(env={**env, "CAIRN_TOKEN_FILE": str(secret)}).token, "from-file")
        self.assertEqual(find_server(env={"HOME": "/nowhere"}), Server("http://127.0.0.1:4700", None, False))

    def test_a_file_that_others_may_read_is_refused(self) -> None:
        path = self.login({"servers": {}}, 0o644)
        with self.assertRaisesRegex(ValueError, f"chmod 600 {path}"):
            find_server(env={"HOME": str(self.folder)})

    def test_an_invalid_file_is_refused(self) -> None:
        path = self.login({"servers": {"x": {}}})
        for text in ("", "[]", '{"servers": 1}', '{"servers": {"x": {"token": 3}}}', "\x00"):
            path.write_text(text)
            with self.assertRaisesRegex(ValueError, "not a login file", msg=text):
                find_server(env={"HOME": str(self.folder)})

    def test_namespaces(self) -> None:
        self.assertEqual(check_namespace("langtech/asr/en_wav2vec"), "langtech/asr/en_wav2vec")
        bad = ("/a", "a/", "a//b", "a/../b", "a\\b", "a\nb", "x" * 513, "/".join("a" * 17), "a/" + "0" * 32, "\ud800")
        for given in bad:
            with self.assertRaisesRegex(ValueError, "cannot use namespace", msg=given):
                check_namespace(given)

    def test_proxies_come_from_the_environment(self) -> None:
        def proxy(scheme: str, host: str, **env: str) -> str | None:
            found = find_proxy(scheme, host, 4700, env)
            return None if found is None else f"{found.host}:{found.port}"

        self.assertEqual(proxy("http", "far", http_proxy="http://p:3128"), "p:3128")
        self.assertEqual(proxy("https", "far", HTTPS_PROXY="p:3128"), "p:3128")
        self.assertEqual(proxy("http", "far", ALL_PROXY="http://p"), "p:80")
        self.assertIsNone(proxy("http", "127.0.0.1", http_proxy="http://p:3128"))
        self.assertIsNone(proxy("http", "localhost", http_proxy="http://p:3128"))
        self.assertIsNone(proxy("http", "::1", http_proxy="http://p:3128"))
        for rule in ("far.example", ".example", "example", "*.example", "*", "other,far.example:4700"):
            self.assertIsNone(proxy("http", "far.example", http_proxy="http://p", NO_PROXY=rule), rule)
        for rule in ("far.example:1", "r.example", "nothing"):
            self.assertEqual(proxy("http", "far.example", http_proxy="http://p", no_proxy=rule), "p:80", rule)
        # A web server makes this variable from an untrusted header.
        self.assertIsNone(proxy("http", "far", HTTP_PROXY="http://evil", REQUEST_METHOD="GET"))
        found = find_proxy("http", "far", 1, {"http_proxy": "http://u:p%40@p:1"})
        assert found is not None
        self.assertEqual(found.headers, (("proxy-authorization", "Basic dTpwQA=="),))

    def test_the_environment_is_left_alone(self) -> None:
        before = dict(os.environ)
        find_server(env={"HOME": str(self.folder)})
        self.assertEqual(dict(os.environ), before)


class ChosenTest(Case):
    def test_whether_somebody_chose_the_server(self) -> None:
        os.environ.pop("CAIRN_SERVER", None)
        self.assertFalse(find_server().is_set)
        self.assertTrue(find_server("127.0.0.1").is_set)
        with mock.patch.dict(os.environ, {"CAIRN_SERVER": "http://127.0.0.1:4700"}):
            self.assertTrue(find_server().is_set)

    def test_a_spool_says_that_nobody_chose_its_server(self) -> None:
        source = "import cairn\ncairn.init(GIVEN).log({'a': 1})\n"
        for given, is_set in (("", False), ("server='http://127.0.0.1:1'", True)):
            self.script(source.replace("GIVEN", given), CAIRN_OFFLINE="1", CAIRN_SERVER="")
            owners = [json.loads((spool / "owner.json").read_text()) for spool in self.spools]
            self.assertEqual([owner["serverSet"] for owner in owners if owner["serverSet"] is is_set], [is_set])

    def test_the_server_that_took_a_part_is_kept(self) -> None:
        folder = self.folder / "spool" / "w"
        spool = Spool(folder.parent, "w", Server("http://127.0.0.1:4700", None, False), b"open", version="0")
        spool.append(ENVELOPE, 1, b"one")

        def owner() -> tuple[str, bool]:
            said = json.loads((folder / "owner.json").read_text())
            return said["server"], said["serverSet"]

        self.assertEqual(owner(), ("http://127.0.0.1:4700", False))
        # As `cairn sync` does with CAIRN_SERVER.
        keep_server(folder, "http://other:1")
        self.assertEqual(owner(), ("http://other:1", True))
        keep_server(self.folder / "nothing", "http://other:1")

    def test_a_refusal_says_what_a_person_can_do(self) -> None:
        hint = "use `cairn login`, or send the header `authorization: Bearer TOKEN`"
        said = {"code": "unauthenticated", "message": f"cannot write without a credential ({hint})"}
        said["details"] = [{"debug": {"reason": "NO_CREDENTIAL", "hint": hint}}]  # type: ignore[assignment]
        client = Client(Server("http://127.0.0.1:4700"))
        failure = client.failure(Answer(401, {}, json.dumps(said).encode()))
        self.assertEqual(
            str(failure),
            "cannot write without a credential (run `cairn login http://127.0.0.1:4700`, or set CAIRN_TOKEN)",
        )
