"""Provenance is complete, or says what is missing, whatever a program does first."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from tests.repository import git, make_repository, slow_git
from tests.support import SEED, ServerCase, dose, needs_server

_CAPTURE = "archive,code,packages,host"
_ARCHIVE = "code/workdir.tar.gz"
#: On a machine of any load.
_UNTIL_COLLECTED = "run._collector.surroundings._thread.join()\n"


class OrderCase(ServerCase):
    def run_in(self, folder: Path, source: str, **env: str) -> dict[str, Any]:
        """The run that a program has made in a working directory."""
        body = f"import os\nos.chdir({str(folder)!r})\n" + source
        done = self.script(body, CAIRN_CAPTURE=_CAPTURE, **env)
        self.assertNotIn("Traceback", done.stderr)
        return self.api.run(self.namespace)

    def check(self, run: dict[str, Any], truth: dict[str, Any], case: str) -> bool:
        """Whether the code is complete. Fails on what is false."""
        provenance = run.get("provenance", {})
        environment = provenance.get("environment", {})
        code = provenance.get("code", {})
        # On a machine that is too busy to load what redacts it.
        self.assertTrue(provenance.get("command") or "note:code" in environment, case)
        self.assertTrue("host" in environment or "note:host" in environment, case)
        self.assertTrue("note:packages" in environment or any(key[:8] == "package:" for key in environment), case)
        self.assertTrue("host" not in environment or provenance.get("user"), case)
        request = {"run": {"id": run["id"]}}
        artifacts = self.api.call("ArtifactService/ListArtifacts", request).get("artifacts", [])
        has_archive = any(artifact["name"] == _ARCHIVE for artifact in artifacts)
        self.assertTrue(has_archive or not code.get("archive"), f"{case}: {code}")
        self.assertTrue(has_archive or "note:archive" in environment, f"{case}: {environment.get('note:archive')}")
        self.assertIn(code.get("commit", ""), ("", truth["commit"]), case)
        left_out = code.get("patchLeftOut", "")
        tracked = code.get("trackedChanges")
        if tracked is None:
            self.assertTrue(left_out or "note:code" in environment, f"{case}: unknown without a reason: {code}")
            self.assertNotIn("dirtyPatch", code, case)
        else:
            self.assertEqual(tracked, f"TRACKED_CHANGES_{'SOME' if truth['changed'] else 'NONE'}", case)
        if tracked == "TRACKED_CHANGES_SOME" and not left_out:
            self.assertEqual(code["dirtyPatch"], truth["patch"], case)
        if truth["isLarge"] and tracked is not None:
            self.assertTrue(left_out, case)
        self.assertIn(code.get("untrackedFiles"), (None, truth["untracked"]), case)
        self.assertIn(code.get("changedSubmodules"), (None, 0), case)
        return tracked is not None and "untrackedFiles" in code and "changedSubmodules" in code


@needs_server
class OrderTest(OrderCase):
    def test_an_artifact_before_anything_else_loses_nothing(self) -> None:
        folder = make_repository(self.folder / "work")
        first = {
            "artifact": "run.artifact('x.txt', __file__)",
            "media": "run.media('x.bin', b'x' * 300_000, kind='file')",
            "fsync": "pass",
        }
        for name, call in first.items():
            os.environ["CAIRN_NAMESPACE"] = self.namespace = f"{self.namespace}/{name}"
            fsync = "every" if name == "fsync" else "segment"
            source = f"import cairn\nrun = cairn.init(fsync={fsync!r})\n{call}\nrun.flush()\n{_UNTIL_COLLECTED}"
            found = self.run_in(folder, source)
            truth = {"commit": git(folder, "rev-parse", "HEAD").strip(), "changed": False}
            truth.update({"patch": "", "isLarge": False, "untracked": 0})
            self.assertTrue(self.check(found, truth, name), found.get("provenance"))

    def test_a_git_that_never_answers_is_said_to_be_slow(self) -> None:
        folder = make_repository(self.folder / "work")
        path = f"{slow_git(self.folder / 'bin', 60)}{os.pathsep}{os.environ['PATH']}"
        source = "import cairn\nrun = cairn.init()\nrun.log({'a': 1})\n"
        code = self.run_in(folder, source, PATH=path)["provenance"]["code"]
        code.pop("archive", None)
        self.assertEqual(code, {"patchLeftOut": "the run ended before git answered"})

    def test_a_run_that_was_there_before_gets_what_it_lacks(self) -> None:
        folder = make_repository(self.folder / "work")
        self.api.call("RunService/CreateRun", {"namespace": self.namespace, "aliases": ["shared"]})
        source = "import cairn\nrun = cairn.init(alias='shared', study='s-1', training_data='s3://c4@v3')\n"
        source += _UNTIL_COLLECTED
        provenance = self.run_in(folder, source)["provenance"]
        self.assertEqual(provenance["code"]["commit"], git(folder, "rev-parse", "HEAD").strip())
        self.assertEqual((provenance["study"], provenance["trainingData"]), ("s-1", ["s3://c4@v3"]))

    def test_a_child_that_opens_the_run_first_loses_nothing_of_its_parent(self) -> None:
        folder = make_repository(self.folder / "work")
        source = (
            "import cairn, time\n"
            "run = cairn.init()\n"
            "if os.fork() == 0:\n"
            "    run.log({'a': 1}); run.flush(); os._exit(0)\n"
            "os.wait()\n"
            "run.log({'b': 1})\n"
        ) + _UNTIL_COLLECTED
        provenance = self.run_in(folder, source)["provenance"]
        self.assertEqual(provenance["code"]["commit"], git(folder, "rev-parse", "HEAD").strip())

    def test_forks_do_not_repeat_it(self) -> None:
        folder = make_repository(self.folder / "work")
        source = (
            "import cairn, os, time\n"
            "run = cairn.init()\n"
            "assert run.flush()\n"
            f"{_UNTIL_COLLECTED}"
            "run._archiving._thread.join()\n"
            "run._collector.collect(force=True)\n"
            "before = run._collector.channel.seq\n"
            "for _ in range(5):\n"
            "    pid = os.fork() or os._exit(0)\n"
            "    os.waitpid(pid, 0)\n"
            "assert run.flush()\n"
            "assert run._collector.channel.seq == before, (before, run._collector.channel.seq)\n"
        )
        self.assertEqual(self.run_in(folder, source)["status"], "RUN_STATUS_FINISHED")

    def test_any_order_of_calls(self) -> None:
        rng = random.Random(SEED)
        complete = 0
        cases = dose(8, 40)
        for at in range(cases):
            os.environ["CAIRN_NAMESPACE"] = self.namespace = f"py/{os.urandom(5).hex()}x"
            folder = self.folder / f"work-{at}"
            truth = self.make_work_tree(rng, folder)
            env, source, case = self.make_program(rng, at)
            case = f"CAIRN_SEED={SEED}, case {at}: {truth['how']}, {case}"
            complete += self.check(self.run_in(folder, source, **env), truth, case)
        self.assertGreater(complete, cases // 4)

    def make_work_tree(self, rng: random.Random, folder: Path) -> dict[str, Any]:
        make_repository(folder)
        how = rng.choice(["clean", "changed", "large", "untracked"])
        if how == "changed":
            (folder / "a.py").write_text("".join(f"line {rng.random()}\n" for _ in range(rng.randrange(1, 2000))))
        elif how == "large":
            (folder / "a.py").write_text("x = 1\n" * rng.randrange(250_000, 600_000))
        elif how == "untracked":
            for at in range(rng.randrange(1, 50)):
                (folder / f"new-{at}.py").write_text("x")
        return {
            "how": how,
            "commit": git(folder, "rev-parse", "HEAD").strip(),
            "changed": how in ("changed", "large"),
            "isLarge": how == "large",
            "patch": git(folder, "diff", "--full-index", "HEAD"),
            "untracked": len(git(folder, "ls-files", "--others").split()),
        }

    def make_program(self, rng: random.Random, at: int) -> tuple[dict[str, str], str, str]:
        env: dict[str, str] = {}
        delay = rng.choice([0.0, 0.0, 0.1, 0.6, 60.0])
        if delay:
            only = rng.choice(["", "status", "diff", "ls-files", "rev-parse"])
            bin_folder = slow_git(self.folder / f"bin-{at}", delay, only)
            env["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        calls = [
            "run.artifact('f.txt', __file__)",
            "run.media('m.bin', b'x' * 300_000, kind='file')",
            "run.media('s.bin', b'x', kind='file')",
            "run.log({'a': 0.5})",
            "run.flush(0.2)",
            "run.params['p'] = 1",
            "run.line('said')",
            "run.data('train', 's3://c4', 'v3')",
            "time.sleep(0.9)",
            "pid = os.fork() or (run.log({'c': 1}), run.flush(5), os._exit(0))",
        ]
        chosen = rng.sample(calls, rng.randrange(0, len(calls) + 1))
        ends = ["", "run.finish()", "sys.exit(3)", "os.kill(os.getpid(), 15)", "run.finish('failed', timeout_s=20)"]
        end = rng.choice(ends)
        fsync = rng.choice(["every", "segment"])
        alias = rng.choice(["None", "'shared'"])
        lines = ["import cairn, os, sys, time", f"run = cairn.init(fsync={fsync!r}, alias={alias})", *chosen, end]
        return env, "\n".join(lines) + "\n", f"git takes {delay} s more, {lines[1:]}"
