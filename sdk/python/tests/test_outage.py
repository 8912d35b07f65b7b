from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import cairn
from tests.support import ROOT, SEED, Api, Case, OwnServer, dose, needs_node

TRAINER = """
    import cairn, os, sys, time
    run = cairn.init(alias="job", fsync="every")
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for step in range(first, last):
        run.log({"x": float(step)}, step=step)
        # It was in the spool when log() returned.
        os.write(1, b"%d\\n" % step)
        time.sleep(0.001)
"""


class SyncCase(Case):
    def sync(self, url: str) -> str:
        """Delivers what dead processes left, with the command line that is written in TypeScript."""
        done = subprocess.run(
            [os.environ["CAIRN_TEST_NODE"], str(ROOT / "cli" / "start.js"), "sync", "--server", url],
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


@needs_node
class OutageTest(SyncCase):
    """One server, which each test finds alive, and a namespace for each."""

    server: OwnServer

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(tempfile.mkdtemp(prefix="cairn-py-server-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.server = OwnServer(folder)
        cls.addClassCleanup(cls.server.kill)

    def setUp(self) -> None:
        super().setUp()
        self.server.start()
        self.namespace = f"outage-{os.urandom(5).hex()}"
        os.environ["CAIRN_SERVER"] = self.server.url
        os.environ["CAIRN_NAMESPACE"] = self.namespace

    def test_what_reached_the_spool_arrives_once(self) -> None:
        """Server and trainer are killed at random; all that the trainer knew to be in the spool is stored in the end."""
        chosen = random.Random(SEED)
        # One, the other and both of them are killed, in any order.
        deaths = [("trainer",), ("server",), ("trainer", "server")] * dose(1, 6)
        chosen.shuffle(deaths)
        known: list[int] = []
        for attempt, dead in enumerate(deaths):
            trainer = self.start(TRAINER, str(1000 * attempt), str(1000 * attempt + 400))
            is_killed = "trainer" in dead
            until = time.monotonic() + chosen.uniform(0.4, 1.2)
            if "server" in dead:
                self.server.kill()
                # The trainer begins, or continues, without a server.
                time.sleep(chosen.uniform(0.1, 0.5))
                self.server.start()
            if is_killed:
                time.sleep(max(0.0, until - time.monotonic()))
                trainer.send_signal(signal.SIGKILL)
            printed, complaints = trainer.communicate(timeout=120)
            self.assertIn(trainer.returncode, (0, -signal.SIGKILL), f"seed {SEED}, attempt {attempt}: {complaints}")
            known += [int(step) for step in printed.split()]
        self.sync(self.server.url)
        self.assertEqual(self.spools, [])
        api = Api(self.server.url)
        run_id = api.run(self.namespace)["id"]
        # A writer that arrives late counts as a restart and hides what came before it; nothing of that is lost.
        selectors = [{"run": {"id": run_id}, "key": "x"}]
        request = {"series": selectors, "encoding": "ENCODING_NUMBERS", "includeReplaced": True}
        values = api.call("MetricService/ReadSeries", request)["series"][0]["values"]["numbers"]
        # One point may have reached the spool before the trainer was killed and could print it.
        self.assertEqual(sorted(set(values)), sorted(values), f"seed {SEED}")
        self.assertLessEqual(set(known), set(values), f"seed {SEED}")
        self.assertIn(", 0 gaps", api.verify(run_id)["verdict"], f"seed {SEED}")
        self.assertNotIn("lost", api.verify(run_id)["verdict"], f"seed {SEED}")

    def test_an_outage_is_bridged_and_reported_once(self) -> None:
        self.server.kill()
        with self.said() as said:
            run = cairn.init(name="bridge")
            slowest = 0.0
            for step in range(5000):
                begun = time.perf_counter()
                run.log({"x": float(step)}, step=step)
                slowest = max(slowest, time.perf_counter() - begun)
            self.eventually(lambda: "cannot reach" in said.getvalue())
            self.assertFalse(run.flush(0.5))
            self.server.start()
            self.assertTrue(run.flush(60))
            run.finish()
        self.assertEqual(said.getvalue().count("cannot reach"), 1, said.getvalue())
        # It waits for no server.
        self.assertLess(slowest, 20)
        api = Api(self.server.url)
        self.assertEqual(api.series(api.run(self.namespace)["id"])["x", ""]["values"], list(range(5000)))
        self.assertEqual(self.spools, [])

    def test_without_a_server_a_process_ends_soon_and_says_what_is_left(self) -> None:
        self.server.kill()
        # It would be killed after a minute.
        done = self.script("import cairn\nrun = cairn.init()\nrun.log({'x': 1.0})\n", timeout_s=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"not everything was delivered. The rest is kept in \S+spool/[0-9a-f]{32}")
        self.assertIn("cairn sync", done.stderr)
        self.assertEqual(len(self.spools), 1)
        self.server.start()
        self.sync(self.server.url)
        api = Api(self.server.url)
        info = api.run(self.namespace)
        self.assertEqual(info["status"], "RUN_STATUS_FINISHED")
        self.assertEqual(self.spools, [])

    def test_an_offline_run_is_delivered_by_sync_with_all_it_has(self) -> None:
        (self.folder / "file").write_bytes(b"content")
        done = self.script(
            """
            import cairn
            with cairn.init(offline=True, params={"lr": 0.1}, tags={"t": "v"}, name="away") as run:
                for step in range(3000):
                    run.log({"x": float(step), "text": str(step), "big": 2**60 + step, "ok": step % 2 == 0}, step=step)
                run.line("hello")
                run.source("s3://data")
                run.artifact("file", "file", {"k": [1]}, step=2)
                run.media("a.png", b"tiny", step=1)
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(self.spools), 1)
        self.assertRegex(self.sync(self.server.url), r"1 file uploaded, 1 source linked")
        self.assertEqual(self.spools, [])
        api = Api(self.server.url)
        info = api.run(self.namespace)
        self.assertEqual((info["name"], info["params"], info["tags"]), ("away", {"lr": "0.1"}, {"t": "v"}))
        self.assertLessEqual(int(info["startedUs"]), int(info["endedUs"]))
        series = api.series(info["id"])
        self.assertEqual(series["x", ""]["values"], list(range(3000)))
        self.assertEqual(series["big", ""]["values"][-1], str(2**60 + 2999))
        artifacts = api.call("ArtifactService/ListArtifacts", {"run": {"id": info["id"]}})["artifacts"]
        self.assertEqual([artifact["name"] for artifact in artifacts], ["a.png", "file"])
        self.assertEqual(api.call("LogService/ReadLog", {"run": {"id": info["id"]}})["lines"][0]["text"], "hello")

    def test_what_the_cap_dropped_is_declared_lost(self) -> None:
        from cairn.delivery.channel import Channel, new_writer
        from cairn.login import Server
        from cairn.messages import NUMBER, encode_create_run, encode_series

        self.server.kill()
        body = encode_create_run(namespace=self.namespace, aliases=("capped",))
        with self.said():
            channel = Channel(
                Server(self.server.url), self.folder / "spool", new_writer(), body, label="x", spool_bytes_max=200_000
            )
            channel.spool._segment_bytes_max = 20_000
            for step in range(100):
                points = [float(step)] * 1000
                channel.write(encode_series(f"x{step}", {}, NUMBER, list(range(1000)), list(range(1000)), points))
            self.server.start()
            report = channel.close(60)
        self.assertTrue(report.delivered)
        self.assertGreater(report.dropped, 10)
        api = Api(self.server.url)
        run_id = api.run(self.namespace)["id"]
        verdict = api.verify(run_id)["verdict"]
        self.assertRegex(verdict, rf"^{100 - report.dropped} of 100 envelopes, {report.dropped} declared lost, 0 gaps$")

    def test_a_wrong_token_is_reported_once_and_ends_nothing(self) -> None:
        with self.said() as said:
            run = cairn.init(token="cairn_wrong")
            run.log({"x": 1.0})
            self.assertFalse(run.flush(3))
            report = run.finish(timeout_s=1)
        assert report is not None
        self.assertFalse(report.delivered)
        self.assertEqual(
            len(re.findall(r"token|credential", said.getvalue().split("\n")[0])) > 0, True, said.getvalue()
        )
        # With the right credential, here none, it is delivered.
        done = self.script("print('the owner of this spool is gone')")
        self.assertEqual(done.returncode, 0)
