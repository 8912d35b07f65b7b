from __future__ import annotations

import json
import math
import struct
import threading
import time
import urllib.request
from typing import Any
from unittest import mock

import cairn
from tests.support import ServerCase, dose, needs_server


@needs_server
class RunTest(ServerCase):
    def test_values_come_back_as_what_they_were(self) -> None:
        numbers = [0.1, -0.0, 5e-324, math.inf, -math.inf, struct.unpack("<d", b"\x01\0\0\0\0\0\xf8\x7f")[0]]
        with cairn.init(name="exact") as run:
            for step, value in enumerate(numbers):
                run.log({"number": value}, step=step)
            run.log({"integer": 2**62 + 1, "bool": True, "text": "snow ☃", "whole": 3}, step=2**53)
            run.log({"bool": False, "text": ""}, step=-(2**53))
        info = self.api.run(self.namespace)
        self.assertEqual((info["status"], info["name"]), ("RUN_STATUS_FINISHED", "exact"))
        body = {"series": [{"run": {"id": info["id"]}, "key": "number"}]}
        import base64

        column = self.api.call("MetricService/ReadSeries", body)["series"][0]["values"]["bytes"]
        self.assertEqual(base64.b64decode(column), struct.pack("<6d", *numbers))
        series = self.api.series(info["id"])
        self.assertEqual(series["integer", ""]["values"], [str(2**62 + 1)])
        self.assertEqual(series["bool", ""]["values"], [0, 1])
        self.assertEqual(series["text", ""]["values"], ["", "snow ☃"])
        self.assertEqual(series["whole", ""]["values"], [3])
        self.assertEqual(series["text", ""]["steps"], [-(2**53), 2**53])
        self.assertEqual(self.spools, [])

    def test_without_a_step_they_are_counted(self) -> None:
        with cairn.init() as run:
            run.log({"a": 1.0, "b": 2.0})
            run.log({"a": 1.0})
            run.log({"a": 1.0}, step=10)
            run.log({"b": 1.0})
        series = self.api.series(self.api.run(self.namespace)["id"])
        self.assertEqual((series["a", ""]["steps"], series["b", ""]["steps"]), ([0, 1, 10], [0, 11]))

    def test_ten_thousand_points_with_labels_and_times(self) -> None:
        with cairn.init() as run:
            for step in range(10_000):
                run.log({"x": float(step)}, step=step, labels={"host": "n1"}, time_us=1_700_000_000_000_000 + step)
        info = self.api.run(self.namespace)
        read = self.api.call(
            "MetricService/ReadSeries",
            {
                "series": [{"run": {"id": info["id"]}, "key": "x", "labels": {"host": "n1"}}],
                "encoding": "ENCODING_NUMBERS",
            },
        )["series"][0]
        self.assertEqual(read["values"]["numbers"], list(range(10_000)))
        self.assertEqual(read["timesUs"]["numbers"][-1], 1_700_000_000_009_999)
        self.assertRegex(self.api.verify(info["id"])["verdict"], r"^(\d+) of \1 envelopes, 0 gaps$")

    def test_params_tags_notes_sources_and_flat_configurations(self) -> None:
        marker = object()
        first = {"lr": 1e-3, "n": 1, "one": 1.0, "deep": {"a": [None, True]}, "odd": marker}
        with cairn.init(params=first, tags={"team": "asr"}, notes="# hello", alias="job-1") as run:
            run.params["late"] = {"x": math.nan}
            run.params.update(lr=0.5)
            run.tag(best="yes", count=3)
            run.log_params_flat({"optim": {"name": "adam", "betas": [0.9, 0.99]}})
            run.source("s3://data/c4", "train")
            self.assertEqual((run.params["lr"], run.tags["count"]), (0.5, "3"))
        info = self.api.run(self.namespace)
        params = {key: json.loads(text) for key, text in info["params"].items()}
        self.assertEqual((params["lr"], info["params"]["n"], info["params"]["one"]), (0.5, "1", "1.0"))
        self.assertEqual((params["deep"], params["optim.betas"]), ({"a": [None, True]}, [0.9, 0.99]))
        self.assertEqual((params["odd"], info["tags"]["as-text.odd"]), (repr(marker), "object"))
        self.assertEqual(info["params"]["late"], '{"x":NaN}')
        self.assertEqual((info["tags"]["team"], info["tags"]["best"], info["notes"]), ("asr", "yes", "# hello"))
        self.assertEqual(info["aliases"], ["job-1"])
        links = self.api.call("LineageService/ListSources", {"run": {"id": info["id"]}})["sources"]
        self.assertEqual([(link["externalId"], link["artifact"]) for link in links], [("s3://data/c4", "train")])

    def test_resume(self) -> None:
        with cairn.init(alias="again", params={"a": 1}) as run:
            run.log({"x": 1.0}, step=41)
        first = self.api.run(self.namespace)["id"]
        with cairn.init(resume="again", params={"b": 2}) as run:
            self.assertEqual((run.id, run.step), (first, 42))
            run.log({"x": 2.0})
            self.assertTrue(run.flush())
            self.assertEqual(self.api.run(self.namespace)["status"], "RUN_STATUS_RUNNING")
        with cairn.init(resume=first) as run:
            run.log({"x": 3.0})
        info = self.api.run(self.namespace)
        self.assertEqual(info["params"], {"a": "1", "b": "2"})
        self.assertEqual(self.api.series(first)["x", ""]["steps"], [41, 42, 43])
        with self.assertRaisesRegex(ValueError, "cannot resume"):
            cairn.init(resume="f" * 32)

    def test_files_references_and_media(self) -> None:
        large, small = bytes(range(256)) * 4096, self.folder / "weights.bin"
        small.write_bytes(b"weights")
        with cairn.init() as run:
            run.artifact("models/last.pt", small, {"loss": 0.5}, step=7, kind="model")
            small.write_bytes(b"something else")
            run.artifact("best", "s3://models/best", kind="model")
            run.media("samples/a.png", b"\x89PNG tiny", step=3)
            run.media("samples/b.bin", large, step=4, kind="file", media_type="application/x-large")
            run.artifact("gone", self.folder / "nothing")
        run_id = self.api.run(self.namespace)["id"]
        listed = self.api.call("ArtifactService/ListArtifacts", {"run": {"id": run_id}})["artifacts"]
        found = {artifact["name"]: artifact for artifact in listed}
        self.assertEqual(sorted(found), ["best", "models/last.pt", "samples/a.png", "samples/b.bin"])
        self.assertEqual((found["best"]["uri"], found["best"]["kind"]), ("s3://models/best", "ARTIFACT_KIND_MODEL"))
        self.assertEqual((found["models/last.pt"]["step"], found["models/last.pt"]["metadata"]), ("7", {"loss": "0.5"}))
        self.assertEqual(found["samples/a.png"]["mediaType"], "image/png")
        with urllib.request.urlopen(f"{self.url}/artifacts/{run_id}/models/last.pt", timeout=30) as answer:
            self.assertEqual(answer.read(), b"weights")
        with urllib.request.urlopen(f"{self.url}/artifacts/{run_id}/samples/b.bin", timeout=30) as answer:
            self.assertEqual((answer.read() == large, answer.headers["content-type"]), (True, "application/x-large"))

    def test_a_file_that_is_replaced_is_sent_as_it_was(self) -> None:
        path = self.folder / "checkpoint"
        path.write_bytes(b"first")
        with cairn.init() as run:
            run.artifact("checkpoint", path)
            replacement = self.folder / "new"
            replacement.write_bytes(b"second")
            replacement.replace(path)
        run_id = self.api.run(self.namespace)["id"]
        with urllib.request.urlopen(f"{self.url}/artifacts/{run_id}/checkpoint", timeout=30) as answer:
            self.assertEqual(answer.read(), b"first")

    def test_lines(self) -> None:
        with cairn.init() as run:
            for at in range(2500):
                run.line(f"line {at}")
            run.line("two\nlines", "stderr")
            run.line("\x1b[31mred\x00 \ud800")
        run_id = self.api.run(self.namespace)["id"]
        read = self.api.call("LogService/ReadLog", {"run": {"id": run_id}, "limit": 10_000})
        texts = [line.get("text", "") for line in read["lines"]]
        self.assertEqual(texts[:2500], [f"line {at}" for at in range(2500)])
        self.assertEqual(texts[2500:], ["two", "lines", "\x1b[31mred\x00 ?"])
        self.assertEqual(read["lines"][2500]["stream"], "stderr")

    def test_the_console_is_recorded_when_it_is_asked_for(self) -> None:
        source = """
            import cairn, sys
            run = cairn.init(capture=["console", "code", "host", "packages"])
            print("hello"); print("oops", file=sys.stderr)
        """
        done = self.script(source)
        self.assertEqual((done.stdout, done.stderr), ("hello\n", "oops\n"))
        info = self.api.run(self.namespace)
        lines = self.api.call("LogService/ReadLog", {"run": {"id": info["id"]}})["lines"]
        self.assertEqual(
            sorted((line["stream"], line["text"]) for line in lines), [("stderr", "oops"), ("stdout", "hello")]
        )
        self.assertIn("python", info["provenance"]["environment"])
        self.assertTrue(info["provenance"]["command"][-1].endswith(".py"))

    def test_a_silent_run_has_heartbeats(self) -> None:
        run = cairn.init(heartbeat_s=1)
        self.addCleanup(run.finish)
        self.eventually(lambda: run.id)
        assert run.id is not None

        def last() -> int:
            writers = self.api.verify(run.id or "").get("writers", [])
            return int(writers[0]["lastSeq"]) if writers else 0

        self.eventually(lambda: last() >= 3)
        self.assertEqual(self.api.run(self.namespace)["status"], "RUN_STATUS_RUNNING")

    def test_bad_values_and_late_calls_never_raise(self) -> None:
        class Rude:
            def __getattr__(self, name: str) -> Any:
                raise RuntimeError(name)

        run = cairn.init()
        with self.said() as said:
            for _ in range(3):
                run.log({"ok": 1.0, "none": None, "list": [1, 2], "rude": Rude(), "": 5.0, "k\n": 1.0}, step=0)
                run.log(17)  # type: ignore[arg-type]
                run.log({"x": 1.0}, step=1.5)  # type: ignore[arg-type]
                run.log({"x": 1.0}, step=2**53 + 1)
                run.log({"nested": {"a": 1.0, "b": {"c": 2.0}}}, step=0)
            run.finish()
            run.log({"late": 1.0})
            run.log({"late": 1.0})
            run.params["late"] = 1
            self.assertIsNone(run.finish())
        self.assertEqual(said.getvalue().count('"none" is left out'), 1)
        self.assertEqual(said.getvalue().count("log after finish()"), 1)
        series = self.api.series(self.api.run(self.namespace)["id"])
        keys = {key for key, _ in series}
        self.assertEqual(keys, {"ok", "unnamed", "k\N{REPLACEMENT CHARACTER}", "nested/a", "nested/b/c"})

    def test_very_many_names(self) -> None:
        names = dose(10_000, 100_000)
        run = cairn.init()
        for at in range(names):
            run.log({f"name/{at}": 1.0}, step=0)
        # The machine may be busy.
        run.finish(timeout_s=200)
        info = self.api.run(self.namespace)
        answer = self.api.call("MetricService/ListSeries", {"run": {"id": info["id"]}, "pageSize": 1})
        self.assertEqual(answer["totalCount"], str(names))

    def test_an_interpreter_that_ends_starts_no_threads_and_still_delivers(self) -> None:
        """So it is from 3.12 on when a short script leaves its run to the exit handler."""
        run = cairn.init()
        run.log({"x": 1.0})
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't create new thread")):
            report = run.finish()
        assert report is not None
        self.assertTrue(report.delivered)
        self.assertEqual(self.api.run(self.namespace)["status"], "RUN_STATUS_FINISHED")
        self.assertEqual(self.spools, [])

    def test_misuse_raises_at_once(self) -> None:
        for options in (
            {"namespace": "/a"},
            {"server": "ftp://x"},
            {"fsync": "x"},
            {"capture": ["x"]},
            {"alias": "a", "resume": "b"},
        ):
            with self.assertRaises(ValueError, msg=repr(options)):
                cairn.init(**options)  # type: ignore[arg-type]

    def test_beginning_and_logging_are_quick(self) -> None:
        """With a wide margin, and in time of this thread; the figures are in docs/guides/python.md."""
        run = cairn.init()
        self.addCleanup(run.finish)
        times = []
        for step in range(20_000):
            begun = time.thread_time_ns()
            run.log({"loss": 0.5}, step=step)
            times.append(time.thread_time_ns() - begun)
        self.assertLess(sorted(times)[len(times) // 2], 25_000)
