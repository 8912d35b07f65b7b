from __future__ import annotations

import io
import os
import sys
import time
from unittest import mock

from cairn.capture.console import capture_console
from cairn.capture.secret_args import redact_args
from cairn.capture.secret_names import is_secret_name
from cairn.capture.secrets import redact_text
from cairn.capture.system import Meter, parse_gpus, start_system_metrics
from tests.support import Case


class ConsoleTest(Case):
    def capture(self) -> tuple[list[tuple[str, str]], io.StringIO, object]:
        lines: list[tuple[str, str]] = []
        shown = io.StringIO()
        self.enterContext2(mock.patch.object(sys, "stdout", shown))
        stop = capture_console(lambda line, stream: lines.append((stream, line)))
        self.addCleanup(stop)
        return lines, shown, stop

    def enterContext2(self, context: object) -> None:
        context.__enter__()  # type: ignore[attr-defined]
        self.addCleanup(context.__exit__, None, None, None)  # type: ignore[attr-defined]

    def test_lines_are_reported_and_everything_passes_on(self) -> None:
        lines, shown, stop = self.capture()
        print("one")
        sys.stdout.write("two\nthr")
        sys.stdout.write("ee\npart")
        print("", file=sys.stderr, end="")
        self.assertEqual(lines, [("stdout", "one"), ("stdout", "two"), ("stdout", "three")])
        stop()  # type: ignore[operator]
        self.assertEqual(lines[-1], ("stdout", "part"))
        self.assertEqual(shown.getvalue(), "one\ntwo\nthree\npart")
        self.assertIs(sys.stdout, shown)
        print("after")
        self.assertEqual(len(lines), 4)

    def test_of_a_progress_bar_the_last_state_stays(self) -> None:
        lines, _, _ = self.capture()
        for at in range(1000):
            sys.stdout.write(f"\r{at / 10:.1f}%")
        sys.stdout.write("\n")
        sys.stdout.write("done\r\n")
        self.assertEqual(lines, [("stdout", "99.9%"), ("stdout", "done")])

    def test_a_listener_may_print_and_may_fail(self) -> None:
        shown = io.StringIO()
        self.enterContext2(mock.patch.object(sys, "stdout", shown))

        def listen(line: str, stream: str) -> None:
            print("echo")
            raise RuntimeError("listener")

        stop = capture_console(listen)
        print("x")
        print("y")
        stop()
        self.assertEqual(shown.getvalue(), "x\necho\ny\n")

    def test_a_stream_on_top_is_kept(self) -> None:
        _, _, stop = self.capture()
        on_top = io.StringIO()
        with mock.patch.object(sys, "stdout", on_top):
            stop()  # type: ignore[operator]
            self.assertIs(sys.stdout, on_top)


class SecretsTest(Case):
    def test_names(self) -> None:
        for name in ("--api-key", "DB_PASSWORD", "hubToken", "AWS_SECRET_ACCESS_KEY", "auth", "wandb_api_key"):
            self.assertTrue(is_secret_name(name), name)
        for name in ("--key", "max_tokens", "token_ids", "PWD", "author", "--lr", "pad_token", "keys"):
            self.assertFalse(is_secret_name(name), name)

    def test_a_command_line(self) -> None:
        given = [
            "train.py",
            "--token",
            "abc",
            "--lr=1",
            "--password=x y",
            "DB=postgres://u:p@h/d",
            "ghp_" + "a" * 20,
            "--auth",
            "--x",
        ]
        clean = redact_args(given)
        self.assertEqual(len(clean), len(given))
        self.assertEqual(clean[:5], ["train.py", "--token", "[redacted]", "--lr=1", "--password=[redacted]"])
        self.assertEqual(clean[5:], ["DB=postgres://[redacted]@h/d", "[redacted]", "--auth", "--x"])

    def test_text(self) -> None:
        self.assertEqual(redact_text('{"api_key": "s3cr3t", "lr": 1}'), '{"api_key": "[redacted]", "lr": 1}')
        self.assertEqual(redact_text("ssh://git@host/x"), "ssh://git@host/x")
        self.assertEqual(redact_text("Authorization: Bearer abcdefgh"), "Authorization: [redacted]")


class SystemTest(Case):
    def test_a_process_and_its_machine(self) -> None:
        meter = Meter(whole_machine=True)
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass
        values = meter.read()
        names = {"cpu.percent", "cpu.process.percent", "memory.used", "memory.percent", "memory.rss", "disk.percent"}
        self.assertLessEqual({f"system/{name}" for name in names}, set(values))
        self.assertGreater(values["system/cpu.process.percent"], 1)
        self.assertGreater(values["system/memory.rss"], 1 << 20)
        self.assertEqual(set(Meter(whole_machine=False).read()), {"system/cpu.process.percent", "system/memory.rss"})

    def test_cards(self) -> None:
        text = "0, 97, 50, 200, 61, 402.11\n5, [N/A], 1, 2, 33, [N/A]\nNo devices were found\n"
        self.assertEqual(
            dict(parse_gpus(text)),
            {
                "0": {
                    "system/gpu.utilization": 97,
                    "system/gpu.memory.used": 50 << 20,
                    "system/gpu.memory.percent": 25,
                    "system/gpu.temperature": 61,
                    "system/gpu.power": 402.11,
                },
                "5": {"system/gpu.memory.used": 1 << 20, "system/gpu.memory.percent": 50, "system/gpu.temperature": 33},
            },
        )

    def test_a_program_that_fails_is_stopped_after_three_times(self) -> None:
        calls = self.folder / "calls"
        program = self.folder / "nvidia-smi"
        program.write_text(f"#!/bin/sh\necho x >> {calls}\nexit 9\n")
        program.chmod(0o755)
        seen: list[dict[str, float]] = []
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path}):
            stop = start_system_metrics(
                lambda values, labels: seen.append(dict(values)), whole_machine=True, interval_s=0.01
            )
            self.addCleanup(stop)
            self.eventually(lambda: len(seen) > 20)
        stop()
        self.assertEqual(calls.read_text(), "x\n" * 3)
