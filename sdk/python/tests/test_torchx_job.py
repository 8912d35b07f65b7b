"""What the tracker records of the job it runs in, without a line about it in the program."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

from tests.repository import git, make_repository
from tests.support import needs_server
from tests.test_torchx import TorchxCase

_START = "import os, sys, time\nfrom torchx.tracker import app_run_from_env\napp = app_run_from_env()\n"


@needs_server
class JobTest(TorchxCase):
    def setUp(self) -> None:
        super().setUp()
        del os.environ["CAIRN_CAPTURE"]

    def environment(self, job: str, **more: str) -> dict[str, str]:
        config = more.pop("config", self.config)
        return {"TORCHX_TRACKERS": "cairn", "TORCHX_TRACKER_CAIRN_CONFIG": config, "TORCHX_JOB_ID": job, **more}

    def work(self, source: str, job: str = "job", **more: str) -> subprocess.CompletedProcess[str]:
        return self.script(f"{_START}{source}\n", **self.environment(job, **more))

    def found(self, job: str = "job") -> dict[str, Any]:
        return self.api.call("RunService/GetRun", {"run": {"alias": job, "namespace": self.namespace}})

    def lines(self, run: dict[str, Any]) -> list[tuple[str, str]]:
        read = self.api.call("LogService/ReadLog", {"run": {"id": run["id"]}})
        return [(line.get("stream", "stdout"), line["text"]) for line in read.get("lines", [])]

    def test_command_code_host_packages_and_lines_are_recorded(self) -> None:
        folder = make_repository(self.folder / "work")
        (folder / "a.py").write_text("two\n")
        done = self.work(f"print('from the job')\nprint('to stderr', file=sys.stderr)\nos.chdir({str(folder)!r})")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.found()
        self.assertEqual(run["status"], "RUN_STATUS_FINISHED")
        provenance = run["provenance"]
        self.assertTrue(provenance["command"][-1].endswith(".py"))
        self.assertTrue(provenance["user"])
        environment = provenance["environment"]
        self.assertLessEqual({"host", "python", "env:TORCHX_JOB_ID"}, set(environment))
        self.assertTrue(any(key.startswith("package:") for key in environment))
        self.assertEqual(self.lines(run), [("stdout", "from the job"), ("stderr", "to stderr")])

    def test_the_code_is_that_of_the_working_directory(self) -> None:
        folder = make_repository(self.folder / "work")
        (folder / "job.py").write_text(_START)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "second")
        (folder / "a.py").write_text("two\n")
        done = self.script(
            f"import os\nos.chdir({str(folder)!r})\nexec(open('job.py').read())\n", **self.environment("job")
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        code = self.found()["provenance"]["code"]
        self.assertEqual(code["commit"], git(folder, "rev-parse", "HEAD").strip())
        self.assertIn("+two", code["dirtyPatch"])
        self.assertEqual(code["archive"], "code/workdir.tar.gz")

    def test_an_exception_leaves_its_traceback(self) -> None:
        done = self.work("app.add_metadata(a=1)\nprint('last')\nraise ValueError('no such shard')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ValueError: no such shard", done.stderr)
        run = self.found()
        self.assertEqual(run["status"], "RUN_STATUS_FAILED")
        lines = self.lines(run)
        self.assertEqual(lines[0], ("stdout", "last"))
        self.assertEqual(lines[1], ("stderr", "Traceback (most recent call last):"))
        self.assertEqual(lines[-1], ("stderr", "ValueError: no such shard"))

    def test_a_signal_leaves_the_last_lines(self) -> None:
        source = f"{_START}print('alive', flush=True)\nprint('unfinished', end='', flush=True)\ntime.sleep(100)\n"
        process = self.start(source, **self.environment("job"))
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "alive\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), -signal.SIGTERM)
        run = self.found()
        self.assertEqual(run["status"], "RUN_STATUS_KILLED")
        self.assertEqual([text for _, text in self.lines(run)][:1], ["alive"])
        self.assertTrue(run["provenance"]["command"])

    def test_a_run_that_init_continues_has_each_line_once(self) -> None:
        for job, source in {
            "tracker-first": f"{_START}print('one')\nimport cairn\nrun = cairn.init()\nprint('two')\n",
            "init-first": f"import cairn\nrun = cairn.init()\nprint('one')\n{_START}print('two')\n",
        }.items():
            done = self.script(source, **self.environment(job))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(self.lines(self.found(job))), [("stdout", "one"), ("stdout", "two")])

    def test_nothing_is_recorded_where_that_is_off(self) -> None:
        for job, more in {
            "config": {"config": f"{self.config}&capture=none"},
            "environment": {"CAIRN_CAPTURE": "none"},
        }.items():
            done = self.work("print('x')\napp.add_metadata(a=1)", job, **more)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = self.found(job)
            self.assertEqual((run["status"], self.lines(run)), ("RUN_STATUS_FINISHED", []))
            self.assertNotIn("provenance", run)

    def test_ranks_share_the_run_and_the_first_ends_it(self) -> None:
        for rank in ("1", "0"):
            done = self.work(f"print('rank {rank}')", RANK=rank, WORLD_SIZE="2", LOCAL_RANK=rank)
            self.assertEqual(done.returncode, 0, done.stderr)
            status = "FINISHED" if rank == "0" else "RUNNING"
            self.assertEqual(self.found()["status"], f"RUN_STATUS_{status}")
        self.assertEqual(sorted(text for _, text in self.lines(self.found())), ["rank 0", "rank 1"])

    def test_a_source_with_the_name_of_a_role_is_provenance(self) -> None:
        done = self.work(
            "app.add_source('s3://c4@v3', 'training_data')\napp.add_source('s3://t', 'test')\n"
            "app.add_source('s3://w@7', 'initial_state')\napp.add_source('s3://f', 'feature_pipeline')\n"
            "app.add_source('s3://other', 'weights')"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        provenance = self.found()["provenance"]
        names = ("trainingData", "testData", "initialState", "featurePipeline")
        self.assertEqual([provenance[name] for name in names], [["s3://c4@v3"], ["s3://t"], "s3://w@7", "s3://f"])

    def test_outside_of_a_job_nothing_is_captured_and_no_run_stays_running(self) -> None:
        tracker = self.tracker()
        tracker.add_metadata("by-hand", a=1)
        tracker.add_source("by-hand", "elsewhere")
        run = self.found("by-hand")
        self.assertEqual(run["status"], "RUN_STATUS_FINISHED")
        self.assertNotIn("provenance", run)
        # A job with this id continues it.
        process = self.start(f"{_START}print('up', flush=True)\nsys.stdin.read()\n", **self.environment("by-hand"))
        self.eventually(lambda: self.found("by-hand")["status"] == "RUN_STATUS_RUNNING")
        process.kill()
