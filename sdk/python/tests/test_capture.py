from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from cairn.capture import provenance
from cairn.capture.console import capture_console
from cairn.capture.git import read_git
from cairn.capture.provenance import collect_provenance, find_packages
from cairn.capture.secret_args import redact_args
from cairn.capture.secret_names import is_secret_name
from cairn.capture.secrets import redact_text
from cairn.capture.system import Meter, parse_gpus, start_system_metrics
from cairn.wire import read_message, read_text
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


class ProvenanceTest(Case):
    def repository(self) -> Path:
        folder = self.folder / "repository"
        folder.mkdir()
        self.git(folder, "init", "-q", "-b", "main")
        (folder / "a.py").write_text("one\n")
        self.git(folder, "add", ".")
        self.git(folder, "commit", "-q", "-m", "first")
        self.git(folder, "remote", "add", "origin", "https://user:hunter2@host/repository.git")
        return folder

    def git(self, folder: Path, *arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)

    def test_git(self) -> None:
        folder = self.repository()
        (folder / "a.py").write_text("two\n")
        (folder / ".env").write_text("PASSWORD=hunter2\n")
        self.git(folder, "add", "-f", ".env")
        code, notes = read_git(str(folder), 10)
        self.assertEqual(notes, [])
        self.assertEqual((code["branch"], len(code["commit"])), ("main", 40))
        self.assertEqual(code["repository"], "https://host/repository.git")
        self.assertIn("+two", code["dirty_patch"])
        self.assertNotIn("hunter2", code["dirty_patch"])

    def test_a_repository_runs_nothing(self) -> None:
        folder = self.repository()
        proof = self.folder / "proof"
        program = f"sh -c 'touch {proof}; cat'"
        for setting in ("core.fsmonitor", "filter.evil.clean", "diff.external", "core.pager", "diff.evil.textconv"):
            self.git(folder, "config", setting, program)
        (folder / ".gitattributes").write_text("* filter=evil diff=evil\n")
        proof.unlink(missing_ok=True)
        (folder / "a.py").write_text("two\n")
        code, _ = read_git(str(folder), 10)
        self.assertIn("+two", code["dirty_patch"])
        self.assertFalse(proof.exists())

    def test_outside_of_a_repository_and_out_of_time(self) -> None:
        self.assertEqual(read_git(str(self.folder), 10), ({}, []))
        self.assertEqual(read_git(str(self.repository()), 0), ({}, []))

    def test_large_changes_are_left_out_with_a_note(self) -> None:
        folder = self.repository()
        (folder / "a.py").write_text("x" * (2 << 20))
        code, notes = read_git(str(folder), 10)
        self.assertNotIn("dirty_patch", code)
        self.assertEqual(len(notes), 1)

    def test_the_whole(self) -> None:
        env = {
            "SLURM_JOB_ID": "7",
            "HOME_SECRET": "hidden-value-1",
            "SLURM_JOB_NAME": "x hidden-value-1",
            "EDITOR": "vi",
        }
        argv = ["python", "train.py", "--token", "abc"]
        with mock.patch.object(provenance.sys, "orig_argv", argv, create=True):
            found = read_message(collect_provenance(frozenset({"code", "host", "packages"}), env))
        self.assertEqual([word.decode() for word in found[7]], ["python", "train.py", "--token", "[redacted]"])  # type: ignore[union-attr]
        entries = [read_message(entry) for entry in found[8]]  # type: ignore[arg-type]
        environment = {read_text(entry, 1): read_text(entry, 2) for entry in entries}
        self.assertEqual(environment["env:SLURM_JOB_ID"], "7")
        self.assertEqual(environment["env:SLURM_JOB_NAME"], "x [redacted]")
        self.assertNotIn("env:EDITOR", environment)
        self.assertIn("python", environment)
        self.assertIn("cpu.count", environment)
        self.assertFalse(any("hidden-value-1" in value for value in environment.values()))

    def test_packages_are_those_that_importlib_finds(self) -> None:
        from importlib.metadata import distributions

        known = {}
        for found in distributions():
            name = found.metadata["Name"]
            if name and found.files is not None:
                known.setdefault(f"package:{name.lower().replace('_', '-').replace('.', '-')}", found.version)
        packages = {key.replace(".", "-"): value for key, value in find_packages(sys.path).items()}
        missing = {key: value for key, value in known.items() if packages.get(key) != value}
        self.assertEqual(missing, {})


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
