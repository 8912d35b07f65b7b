"""TorchX's own AppRun drives our plugin through the cases of its contract (api_test.py and fsspec_test.py of TorchX)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from unittest import mock

from tests.support import ServerCase, dose, needs_server

try:
    from torchx.tracker.api import AppRun, Lineage, TrackerArtifact, TrackerBase, TrackerSource, trackers_from_environ

    from cairn import torchx_tracker
    from cairn.torchx_tracker import CairnTracker, create_tracker
except ImportError:
    AppRun = None


class TorchxCase(ServerCase):
    def setUp(self) -> None:
        if AppRun is None:
            self.skipTest("there is no torchx")
        super().setUp()
        # The machine may be busy, and what was not stored in time is not read.
        self.config = f"{self.url}/{self.namespace}?wait_s=60"
        AppRun.run_from_env.cache_clear()
        self.addCleanup(AppRun.run_from_env.cache_clear)

    def tracker(self, **env: str) -> CairnTracker:
        with mock.patch.dict(os.environ, env):
            tracker = create_tracker(self.config)
        self.addCleanup(tracker.close)
        return tracker

    @contextlib.contextmanager
    def job(self, run_id: str, **env: str) -> Iterator[AppRun]:
        said = {"TORCHX_JOB_ID": run_id, "TORCHX_TRACKERS": "cairn", "TORCHX_TRACKER_CAIRN_CONFIG": self.config, **env}
        with mock.patch.dict(os.environ, said):
            AppRun.run_from_env.cache_clear()
            run = AppRun.run_from_env()
            yield run
            for backend in run.backends:
                backend.close()


@needs_server
class AppRunTest(TorchxCase):
    def test_env_factory(self) -> None:
        with self.job("job", TORCHX_PARENT_RUN_ID="parent") as run:
            self.assertEqual([type(backend) for backend in run.backends], [CairnTracker])
            self.assertEqual([source.parent.job_id() for source in run.sources()], ["parent"])
            self.assertEqual(list(run.sources())[0].parent.backends, run.backends)

    def test_job_id(self) -> None:
        with self.job("scheduler://session/app") as run:
            self.assertEqual(run.job_id(), "scheduler://session/app")

    def test_artifacts(self) -> None:
        with self.job("job") as run:
            run.add_artifact("checkpoint", "/tmp/a")
            run.add_artifact("model", "s3://b", {"acc": 0.5, "tags": ["x"], "none": None})
            run.add_artifact("checkpoint", "/tmp/b")
            found = run.backends[0].artifacts("job")
        self.assertEqual(found["checkpoint"], TrackerArtifact("checkpoint", "/tmp/b", None))
        self.assertEqual(found["model"].metadata, {"acc": 0.5, "tags": ["x"], "none": None})
        self.assertEqual(set(found), {"checkpoint", "model"})

    def test_metadata_is_merged_per_key_and_keeps_its_types(self) -> None:
        given = {
            "lr": 0.01,
            "bs": 25,
            "one": 1.0,
            "text": "1",
            "yes": True,
            "none": None,
            "deep": {"a": [1, 2.5, {"b": None}]},
        }
        with self.job("job") as run:
            run.add_metadata(**given)
            self.assertEqual(run.backends[0].metadata("job"), given)
            run.add_metadata(lr=0.02)
            found = run.backends[0].metadata("job")
        self.assertEqual(found, {**given, "lr": 0.02})
        self.assertEqual(
            [type(found[key]) for key in ("lr", "bs", "one", "text", "yes")], [float, int, float, str, bool]
        )

    def test_the_last_of_many_updates_wins(self) -> None:
        with self.job("job") as run:
            for at in range(300):
                run.add_metadata(step=at)
            self.assertEqual(run.backends[0].metadata("job"), {"step": 299})

    def test_sources(self) -> None:
        with self.job("job") as run:
            for _ in range(3):
                run.add_source("source")
            run.add_source("source", "a")
            run.add_source("source", "b")
            tracker = run.backends[0]
            every = [TrackerSource("source", None), TrackerSource("source", "a"), TrackerSource("source", "b")]
            self.assertEqual(list(tracker.sources("job")), every)
            self.assertEqual(list(tracker.sources("job", "a")), [TrackerSource("source", "a")])
            self.assertEqual(list(tracker.sources("job", artifact_name="c")), [])

    def test_run_ids(self) -> None:
        tracker = self.tracker()
        for run_id, parent in (("one", "p"), ("two", "p"), ("three", "q")):
            tracker.add_metadata(run_id, kind=run_id, rate=0.5)
            tracker.add_source(run_id, parent, artifact_name="x")
            tracker.add_source(run_id, parent)
        self.assertEqual(tracker.run_ids(), ["one", "two", "three"])
        self.assertEqual(tracker.run_ids(parent_run_id=None), ["one", "two", "three"])
        self.assertEqual(tracker.run_ids(parent_run_id="p"), ["one", "two"])
        self.assertEqual(tracker.run_ids(parent_run_id="unknown"), [])
        self.assertEqual(tracker.run_ids(kind="two"), ["two"])
        self.assertEqual(tracker.run_ids(rate="0.5", parent_run_id="q"), ["three"])
        self.assertEqual(tracker.run_ids(kind='"] or true ['), [])

    def test_run_ids_come_in_pages(self) -> None:
        api_runs = [f"run-{at:04d}" for at in range(50)]
        for alias in api_runs:
            self.api.call("RunService/CreateRun", {"namespace": f"{self.namespace}/below", "aliases": [alias]})
        # Two full ones and the rest.
        with mock.patch.object(torchx_tracker, "_PAGE", 20):
            self.assertEqual(self.tracker().run_ids(), api_runs)

    def test_lineage(self) -> None:
        tracker = self.tracker()
        # An id that several namespaces have names no run for sure.
        base, tuned, distilled, eager, late = (f"{name}-{self.namespace}" for name in ("b", "t", "d", "e", "l"))
        tracker.add_artifact(base, "weights", "s3://w")
        for child, parent in ((tuned, base), (distilled, tuned)):
            tracker.add_source(child, parent, "weights")
        tracker.add_source(base, "s3://data")
        # Linked before the run is there.
        tracker.add_source(eager, late)
        tracker.add_metadata(late, a=1)
        lineage = tracker.lineage(tuned)
        self.assertIsInstance(lineage, Lineage)
        self.assertEqual([run.run_id for run in lineage.ancestors], [base, "s3://data"])
        self.assertEqual([run.run_id for run in lineage.descendants], [distilled])
        self.assertEqual(lineage.ancestors[0].artifacts, {"weights": "s3://w"})
        self.assertIn((base, tuned, "weights"), lineage.links)
        self.assertEqual([run.run_id for run in tracker.lineage(late).descendants], [eager])

    def test_unknown_runs_are_empty(self) -> None:
        tracker = self.tracker()
        self.assertEqual((tracker.metadata("x"), tracker.artifacts("x"), list(tracker.sources("x"))), ({}, {}, []))
        self.assertEqual(tracker.lineage("x").ancestors, [])

    def test_the_experiment_extends_the_namespace(self) -> None:
        names = {"TORCHX_TRACKING_EXPERIMENT_NAME": "speech", "TORCHX_TRACKING_RUN_NAME": "first/try"}
        with self.job("local://torchx/app-1", **names) as run:
            run.add_metadata(a=1)
        found = self.api.run(self.namespace)
        self.assertEqual((found["namespace"], found["name"]), (f"{self.namespace}/speech", "first/try"))
        # The launcher does not have these variables.
        launcher = self.tracker()
        self.assertEqual(launcher.run_ids(), ["local://torchx/app-1"])
        launcher.add_metadata("local://torchx/app-1", b=2)
        self.assertEqual(launcher.metadata("local://torchx/app-1"), {"a": 1, "b": 2})
        self.assertEqual(len(self.api.runs(self.namespace)), 1)

    def test_a_job_says_how_it_ended_and_shares_its_run(self) -> None:
        source = """
            import cairn
            from torchx.tracker import app_run_from_env
            app_run_from_env().add_metadata(a=1)
            run = cairn.init(params={"b": 2}, capture=["code"])
            run.log({"loss": 0.5})
            {end}
        """
        env = {"TORCHX_TRACKERS": "cairn", "TORCHX_TRACKER_CAIRN_CONFIG": self.config, "CAIRN_NAMESPACE": "elsewhere"}
        for job, end, status in (("good", "", "FINISHED"), ("bad", "raise SystemError", "FAILED")):
            done = self.script(source.replace("{end}", end), TORCHX_JOB_ID=job, **env)
            self.assertEqual(done.returncode, 0 if job == "good" else 1, done.stderr)
            found = self.api.call("RunService/GetRun", {"run": {"alias": job, "namespace": self.namespace}})
            self.assertEqual((found["status"], found["params"]), (f"RUN_STATUS_{status}", {"a": "1", "b": "2"}))
            self.assertTrue(found["provenance"]["command"])

    def test_without_torchx_as_a_launcher_nothing_is_tracked(self) -> None:
        run = AppRun.run_from_env()
        self.assertEqual((run.job_id(), list(run.backends)), ("<UNDEFINED>", []))
        run.add_metadata(a=1)

    def test_every_name_of_the_base_exists(self) -> None:
        self.assertTrue(issubclass(CairnTracker, TrackerBase))
        with mock.patch.dict(os.environ, {"TORCHX_TRACKERS": "cairn"}):
            self.assertEqual(len(list(trackers_from_environ())), 1)

    def test_flat_params(self) -> None:
        tracker = self.tracker()
        tracker.log_params_flat("job", {"optim": {"lr": 0.1, "betas": [0.9, 0.99]}, "layers": [{"n": 1}, {"n": 2}]})
        expected = {"optim.lr": 0.1, "optim.betas": [0.9, 0.99], "layers._0.n": 1, "layers._1.n": 2}
        self.assertEqual(tracker.metadata("job"), expected)

    def test_ranks_add_the_parent_link_at_once(self) -> None:
        source = "from torchx.tracker import app_run_from_env\nrun = app_run_from_env()\nrun.add_metadata(seen=1)\n"
        env = {"TORCHX_TRACKERS": "cairn", "TORCHX_TRACKER_CAIRN_CONFIG": self.config, "TORCHX_JOB_ID": "job"}
        in_all = dose(6, 64)
        env.update(TORCHX_PARENT_RUN_ID="parent", WORLD_SIZE=str(in_all))
        for first in range(0, in_all, 32):
            ranks = [self.start(source, RANK=str(rank), **env) for rank in range(first, min(in_all, first + 32))]
            for process in ranks:
                _, complaints = process.communicate(timeout=200)
                self.assertEqual(process.returncode, 0, complaints)
        self.assertEqual(self.tracker().run_ids(), ["job"])
        self.assertEqual(list(self.tracker().sources("job")), [TrackerSource("parent", None)])
