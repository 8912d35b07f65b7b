from __future__ import annotations

import os
import socket
import time
from typing import Any
from unittest import mock

from tests.support import needs_server
from tests.test_client import Hostile, http_answer, read_request
from tests.test_torchx import TorchxCase

try:
    from cairn.torchx_tracker import create_tracker
    from cairn.tracker.config import parse_config
except ImportError:
    pass


@needs_server
class BadInputTest(TorchxCase):
    def use(self, tracker: Any) -> None:
        """Everything a job calls."""
        tracker.add_metadata("job", a=1)
        tracker.add_artifact("job", "a", "/b", {"c": 1})
        tracker.add_source("job", "parent")
        tracker.add_source("job", "parent", "artifact")
        self.assertEqual(
            (tracker.metadata("job"), tracker.artifacts("job"), list(tracker.sources("job"))), ({}, {}, [])
        )
        self.assertEqual((list(tracker.run_ids()), list(tracker.run_ids(parent_run_id="x"))), ([], []))
        tracker.lineage("job")

    def test_a_dead_server_neither_raises_nor_stalls_and_is_reported_once(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{unused.getsockname()[1]}/a"
        with self.said() as said:
            tracker = create_tracker(address)
            begun = time.monotonic()
            for _ in range(20):
                self.use(tracker)
            # One that waited for each call would take minutes.
            self.assertLess(time.monotonic() - begun, 60)
            tracker.close()
        self.assertEqual(said.getvalue().count("continues"), 1, said.getvalue())
        # All of it waits for a server.
        self.assertEqual(len(self.spools), 1)
        self.assertIn("cairn sync", said.getvalue())

    def test_a_silent_server_costs_one_moment(self) -> None:
        server = Hostile(lambda connection, _: time.sleep(30))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with self.said():
            tracker = create_tracker(f"{server.url}/a?wait_s=0.5")
            begun = time.monotonic()
            for at in range(200):
                tracker.add_metadata("job", at=at)
            # Each would wait for half a second.
            self.assertLess(time.monotonic() - begun, 50)
            tracker._runs.finish(timeout_s=0.1)

    def test_garbage(self) -> None:
        def answer(connection: socket.socket, _: int) -> None:
            while read_request(connection):
                connection.sendall(http_answer(b"<html>hello</html>", content_type="text/html"))

        server = Hostile(answer)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with self.said() as said:
            tracker = create_tracker(f"{server.url}/a")
            self.use(tracker)
            tracker.close()
        self.assertIn("not from a Cairn server", said.getvalue())

    def test_invalid_configs_are_reported_and_end_nothing(self) -> None:
        for config in (
            "ftp://host/a",
            "http://",
            "http://host:port/a",
            "http://host/a/../b",
            "http://u:p@host/a",
            "::::",
            "http://[/x",
        ):
            with self.said() as said:
                from cairn import notices

                notices._warned.clear()
                self.use(create_tracker(config))
            self.assertIn("Nothing is tracked", said.getvalue(), config)
            self.assertEqual(said.getvalue().count("\n"), 1, said.getvalue())

    def test_valid_configs(self) -> None:
        env = {"HOME": str(self.folder), "CAIRN_SERVER": "http://env:1", "CAIRN_NAMESPACE": "ns"}
        found = parse_config(None, env)
        self.assertEqual((found.server.url, found.namespace), ("http://env:1", "ns"))
        self.assertEqual(parse_config("", {"HOME": "/x"}).server.url, "http://127.0.0.1:4700")
        found = parse_config("https://host:9/langtech/asr%20two/?wait_s=1", env)
        self.assertEqual((found.server.url, found.namespace, found.wait_s), ("https://host:9", "langtech/asr two", 1.0))
        self.assertEqual(parse_config("host/a?base=/b", env).server.url, "http://host/b")
        found = parse_config("http://[::1]:4700/a", {**env, "TORCHX_TRACKING_EXPERIMENT_NAME": "x/../y"})
        self.assertEqual((found.server.url, found.job_namespace), ("http://[::1]:4700", "a/x/y"))

    def test_a_secret_in_the_config_is_not_used(self) -> None:
        with self.said() as said:
            found = parse_config("http://host/a?token=cairn_abc", {"HOME": "/x"})
        self.assertIsNone(found.server.token)
        self.assertIn("Revoke it", said.getvalue())
        self.assertNotIn("cairn_abc", said.getvalue())

    def test_run_ids_of_any_characters(self) -> None:
        tracker = self.tracker()
        ids = [
            "<UNDEFINED>",
            "a" * 1010 + self.namespace[-11:],
            self.namespace + "é" * 1000,
            "new\nline",
            "",
            "\x00\x07",
            "x y/z?&%'\"\\",
            "ns:name",
            "0" * 32,
            "👩‍🚀" * 100,
        ]
        for at, run_id in enumerate(ids):
            tracker.add_metadata(run_id, at=at)
            tracker.add_source(run_id, ids[at - 1])
        for at, run_id in enumerate(ids):
            self.assertEqual(tracker.metadata(run_id), {"at": at}, repr(run_id)[:40])
        self.assertEqual(tracker.run_ids(), ids)
        fresh = self.tracker()
        for at, run_id in enumerate(ids):
            self.assertEqual(fresh.metadata(run_id), {"at": at}, repr(run_id)[:40])
        self.assertEqual([source.source_run_id for source in fresh.sources(ids[3])], [ids[2]])

    def test_artifacts_of_any_name(self) -> None:
        tracker = self.tracker()
        names = [
            "",
            "..",
            "../../etc/passwd",
            "/abs",
            "a//b",
            "C:\\x",
            "a\nb",
            "é" * 600,
            "/".join("x" * 60),
            "plain/name.pt",
        ]
        for name in names:
            tracker.add_artifact("job", name, f"path of {name}"[:100], {"k": 1})
        tracker.add_artifact("job", "no path", "")
        tracker.add_artifact("job", "empty", "/p", {})
        tracker.add_artifact("job", "odd", "/p", {"o": {object()}})
        found = tracker.artifacts("job")
        self.assertEqual(set(found), {*names, "no path", "empty", "odd"})
        for name in names:
            self.assertEqual((found[name].path, found[name].metadata), (f"path of {name}"[:100], {"k": 1}), name[:40])
        self.assertEqual((found["no path"].path, found["no path"].metadata), ("", None))
        self.assertEqual(found["empty"].metadata, {})
        self.assertIsInstance(found["odd"].metadata["o"], str)

    def test_values_that_are_not_json_do_not_affect_the_run(self) -> None:
        tracker = self.tracker()
        circular: list[Any] = []
        circular.append(circular)
        tracker.add_metadata("job", good=1, bad=object(), circular=circular, keys={(1, 2): 3}, huge="x" * 100_000)
        found = tracker.metadata("job")
        self.assertEqual(found["good"], 1)
        self.assertEqual({type(found[key]) for key in ("bad", "circular", "keys", "huge")}, {str})
        tags = self.api.run(self.namespace)["tags"]
        self.assertEqual((tags["as-text.bad"], tags["as-text.huge"]), ("object", "str"))
        tracker.add_metadata("job", more=2)
        self.assertEqual(tracker.metadata("job")["more"], 2)

    def test_a_fork_between_two_calls(self) -> None:
        done = self.script(
            """
            import os
            from cairn.torchx_tracker import create_tracker
            tracker = create_tracker(os.environ["CONFIG"])
            tracker.add_metadata("job", parent=1)
            pid = os.fork()
            if pid == 0:
                tracker.add_metadata("job", child=2)
                print(tracker.metadata("job"), flush=True)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            tracker.add_metadata("job", after=3)
            print(tracker.metadata("job"))
            """,
            CONFIG=self.config,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = ["{'child': 2, 'parent': 1}", "{'after': 3, 'child': 2, 'parent': 1}"]
        self.assertEqual(done.stdout.splitlines(), expected)

    def test_a_namespace_the_token_may_not_write(self) -> None:
        with self.said() as said, mock.patch.dict(os.environ, {"CAIRN_TOKEN": "cairn_wrong"}):
            tracker = create_tracker(self.config)
            self.use(tracker)
            tracker._runs.finish(timeout_s=0.1)
        self.assertIn("continues", said.getvalue())
