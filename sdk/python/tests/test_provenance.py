from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from unittest import mock

from cairn.capture.captured import Captured
from cairn.capture.git import read_git
from cairn.capture.provenance import find_packages
from cairn.provenance import CHANGED, NOT_ASKED, UNCHANGED, Code, encode_stated, join_reference, split_reference
from cairn.wire import read_message, read_text
from tests.repository import git, make_repository, slow_git
from tests.support import Case


class GitCase(Case):
    def repository(self) -> Path:
        return make_repository(self.folder / "repository")

    def code(self, folder: Path, timeout_s: float = 60) -> Code:
        found, _ = read_git(str(folder), timeout_s)
        assert found is not None
        return found


class GitTest(GitCase):
    def test_changes_are_a_patch_without_credentials(self) -> None:
        folder = self.repository()
        (folder / "a.py").write_text("two\n")
        (folder / ".env").write_text("PASSWORD=hunter2\n")
        git(folder, "add", "-f", ".env")
        code = self.code(folder)
        self.assertEqual((code.branch, len(code.commit)), ("main", 40))
        self.assertEqual(code.repository, "https://host/repository.git")
        self.assertIn("+two", code.dirty_patch)
        self.assertNotIn("hunter2", code.dirty_patch)
        # What it does not have is said.
        self.assertEqual(code.patch_left_out, "1 file that may hold secrets")

    def test_a_repository_runs_nothing(self) -> None:
        folder = self.repository()
        proof = self.folder / "proof"
        program = f"sh -c 'touch {proof}; cat'"
        for setting in ("core.fsmonitor", "filter.evil.clean", "diff.external", "core.pager", "diff.evil.textconv"):
            git(folder, "config", setting, program)
        (folder / ".gitattributes").write_text("* filter=evil diff=evil\n")
        proof.unlink(missing_ok=True)
        (folder / "a.py").write_text("two\n")
        code = self.code(folder)
        self.assertIn("+two", code.dirty_patch)
        self.assertEqual((code.tracked_changes, code.untracked_files), (CHANGED, 1))
        self.assertFalse(proof.exists())

    def test_nor_does_a_submodule(self) -> None:
        folder = self.with_submodule()
        proof = self.folder / "proof"
        git(folder / "sub", "config", "filter.evil.clean", f"sh -c 'touch {proof}; cat'")
        git(folder / "sub", "config", "core.fsmonitor", f"sh -c 'touch {proof}'")
        (folder / "sub" / ".gitattributes").write_text("* filter=evil\n")
        proof.unlink(missing_ok=True)
        (folder / "sub" / "a.py").write_text("two\n")
        self.assertEqual(self.code(folder).changed_submodules, 1)
        self.assertFalse(proof.exists())

    def with_submodule(self) -> Path:
        folder = self.repository()
        inner = make_repository(self.folder / "inner")
        git(folder, "submodule", "--quiet", "add", str(inner), "sub")
        git(folder, "commit", "-q", "-m", "second")
        return folder

    def test_a_work_tree_elsewhere_is_ignored(self) -> None:
        folder = self.repository()
        git(folder, "config", "core.worktree", "/")
        self.assertEqual(read_git(str(folder), 60), (None, ["the repository configures a work tree somewhere else"]))

    def test_clean_is_what_git_says_of_everything(self) -> None:
        folder = self.with_submodule()
        (folder / ".gitignore").write_text("*.log\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "third")
        (folder / "x.log").write_text("ignored\n")
        code = self.code(folder)
        self.assertEqual((code.tracked_changes, code.untracked_files, code.changed_submodules), (UNCHANGED, 0, 0))
        self.assertEqual((code.dirty_patch, code.patch_left_out, code.left_out_bytes), ("", "", 0))

    def test_untracked_files_are_counted_from_the_top(self) -> None:
        folder = self.repository()
        inner = folder / "data"
        inner.mkdir()
        for at in range(3):
            (folder / f"n{at}.py").write_text("x")
            (inner / f"{at}.txt").write_text("x")
        code = self.code(inner)
        self.assertEqual((code.tracked_changes, code.untracked_files, code.dirty_patch), (UNCHANGED, 6, ""))

    def test_changed_submodules_are_counted_and_are_not_in_the_patch(self) -> None:
        folder = self.with_submodule()
        (folder / "sub" / "new.py").write_text("untracked\n")
        found, notes = read_git(str(folder), 60)
        assert found is not None
        self.assertEqual((found.tracked_changes, found.changed_submodules), (UNCHANGED, 1))
        self.assertEqual(notes, ["changes inside of 1 submodule are not in the patch"])
        git(folder / "sub", "add", ".")
        git(folder / "sub", "commit", "-q", "-m", "moved")
        code = self.code(folder)
        # Another commit of a submodule is a line of the patch.
        self.assertEqual((code.tracked_changes, code.changed_submodules, code.patch_left_out), (CHANGED, 1, ""))
        self.assertIn("+Subproject commit", code.dirty_patch)

    def test_before_the_first_commit_everything_is_new(self) -> None:
        folder = self.folder / "new"
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        (folder / "a.py").write_text("one\n")
        git(folder, "add", ".")
        code = self.code(folder)
        self.assertEqual((code.commit, code.tracked_changes), ("", CHANGED))
        self.assertIn("+one", code.dirty_patch)

    def test_a_patch_with_binary_files_applies(self) -> None:
        folder = self.repository()
        content = bytes(range(256)) * 20
        (folder / "b.bin").write_bytes(content)
        git(folder, "add", ".")
        patch = self.code(folder).dirty_patch
        git(folder, "reset", "-q", "--hard")
        (self.folder / "patch").write_text(patch)
        git(folder, "apply", str(self.folder / "patch"))
        self.assertEqual((folder / "b.bin").read_bytes(), content)

    def test_a_patch_that_is_too_large_is_measured(self) -> None:
        folder = self.repository()
        (folder / "a.py").write_text("x" * (2 << 20))
        found, notes = read_git(str(folder), 60)
        assert found is not None
        self.assertEqual((found.dirty_patch, found.tracked_changes), ("", CHANGED))
        self.assertEqual(found.patch_left_out, "it is larger than 1 MiB")
        self.assertGreater(found.left_out_bytes, 2 << 20)
        self.assertEqual(notes, ["the uncommitted changes are left out: it is larger than 1 MiB"])

    def test_a_git_that_is_slow_leaves_the_state_unknown(self) -> None:
        folder = self.repository()
        begun = time.monotonic()
        for only in ("", "status", "rev-parse"):
            path = f"{slow_git(self.folder / f'slow-{only}', 60, only)}{os.pathsep}{os.environ['PATH']}"
            with mock.patch.dict(os.environ, {"PATH": path}):
                code = self.code(folder, 1.0)
            self.assertEqual((code.tracked_changes, code.untracked_files), (NOT_ASKED, None))
            self.assertEqual(code.patch_left_out, "git took longer than 1 s")
        self.assertLess(time.monotonic() - begun, 20)

    def test_a_git_that_is_slow_to_list_leaves_that_unknown(self) -> None:
        folder = self.repository()
        path = f"{slow_git(self.folder / 'slow', 60, '--others')}{os.pathsep}{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path}):
            code = self.code(folder, 2.0)
        self.assertEqual((code.tracked_changes, code.untracked_files, code.changed_submodules), (UNCHANGED, None, None))

    def test_a_git_that_fails_or_is_missing(self) -> None:
        folder = self.repository()
        broken = self.folder / "bin"
        broken.mkdir()
        (broken / "git").write_text("#!/bin/sh\necho 'fatal: detected dubious ownership' >&2\nexit 128\n")
        (broken / "git").chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": str(broken)}):
            code = self.code(folder)
        self.assertEqual(code.patch_left_out, "git failed: fatal: detected dubious ownership")
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertEqual(read_git(str(folder), 60), (None, ["git is not installed"]))

    def test_outside_of_a_repository(self) -> None:
        self.assertEqual(read_git(str(self.folder), 10), (None, []))


class CapturedTest(GitCase):
    def environment(self, found: bytes) -> dict[str, str]:
        entries = [read_message(entry) for entry in read_message(found).get(8, []) if isinstance(entry, bytes)]
        return {read_text(entry, 1): read_text(entry, 2) for entry in entries}

    def test_the_whole(self) -> None:
        env = {
            "SLURM_JOB_ID": "7",
            "HOME_SECRET": "hidden-value-1",
            "SLURM_JOB_NAME": "x hidden-value-1",
            "EDITOR": "vi",
        }
        argv = ["python", "train.py", "--token", "abc"]
        folder = self.repository()
        (folder / "inner").mkdir()
        chosen = frozenset({"code", "host", "packages"})
        captured = Captured(chosen, argv=argv, folder=str(folder / "inner"), env=env)
        captured.load()
        captured.collect()
        found = read_message(captured.encode())
        words = [word for word in found[7] if isinstance(word, bytes)]
        self.assertEqual(words, [b"python", b"train.py", b"--token", b"[redacted]"])
        self.assertTrue(read_text(found, 10))
        environment = self.environment(captured.encode())
        self.assertEqual(environment["env:SLURM_JOB_ID"], "7")
        self.assertEqual(environment["env:SLURM_JOB_NAME"], "x [redacted]")
        self.assertEqual(environment["directory"], "inner")
        self.assertNotIn("env:EDITOR", environment)
        self.assertLessEqual({"host", "python", "cpu.count"}, set(environment))
        self.assertFalse(any("hidden-value-1" in value for value in environment.values()))

    def test_what_is_not_there_yet_is_said_to_be_missing(self) -> None:
        folder = self.repository()
        chosen = frozenset({"code", "host", "packages"})
        captured = Captured(chosen, argv=["python", "train.py", "--token=abc"], folder=str(folder), env={})
        # Before anything that redacts is loaded there are only notes.
        self.assertEqual(list(read_message(captured.encode())), [8])
        captured.load()
        found = read_message(captured.encode())
        code = read_message(found[6][-1])  # type: ignore[arg-type]
        self.assertEqual(read_text(code, 9), "the run ended before git answered")
        self.assertEqual(found[7], [b"python", b"train.py", b"--token=[redacted]"])
        notes = self.environment(captured.encode())
        self.assertEqual(set(notes), {"note:code", "note:host", "note:packages"})

    def test_a_very_long_command_is_cut(self) -> None:
        argv = ["python", *["x" * 100_000] * 2000]
        captured = Captured(frozenset({"code"}), argv=argv, folder=str(self.folder), env={})
        captured.load()
        captured.collect()
        words = [word for word in read_message(captured.encode())[7] if isinstance(word, bytes)]
        self.assertLess(sum(map(len, words)), 1 << 20)
        self.assertEqual(self.environment(captured.encode())["note:command"], f"cut off after {len(words)} words")

    def test_the_host_is_not_named_where_that_is_off(self) -> None:
        captured = Captured(frozenset({"code"}), argv=["python"], folder=str(self.folder), env={})
        captured.load()
        captured.collect()
        found = read_message(captured.encode())
        self.assertEqual((read_text(found, 10), self.environment(captured.encode())), ("", {}))

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


class ReferenceTest(Case):
    def test_a_reference_is_joined_and_split(self) -> None:
        digest = "0A" * 32
        self.assertEqual(join_reference("s3://c4"), "s3://c4")
        self.assertEqual(join_reference("s3://c4", "v3"), "s3://c4@v3")
        self.assertEqual(join_reference("s3://c4", digest=digest), f"s3://c4@sha256:{'0a' * 32}")
        self.assertEqual(join_reference("s3://c4", digest=f"sha256:{digest}"), f"s3://c4@sha256:{'0a' * 32}")
        for text, parts in (
            ("s3://c4@v3", ("s3://c4", "v3")),
            ("git@host:team/features.git", ("git@host:team/features.git", "")),
            ("git@host:team/features.git@4f2a91c", ("git@host:team/features.git", "4f2a91c")),
            ("@v3", ("@v3", "")),
            ("s3://c4@", ("s3://c4@", "")),
            ("plain", ("plain", "")),
        ):
            self.assertEqual(split_reference(text), parts)
        for bad in ({"version": "a/b"}, {"version": ""}, {"version": "a@b"}, {"digest": "beef"}):
            with self.assertRaises(ValueError):
                join_reference("s3://c4", **bad)
        with self.assertRaises(ValueError):
            join_reference("s3://c4", "v3", digest)
        with self.assertRaises(ValueError):
            join_reference("")

    def test_what_a_server_would_refuse_is_cut(self) -> None:
        with self.said() as said:
            found = read_message(encode_stated(training_data=[f"s3://{at}" for at in range(1500)], study="x" * 10_000))
            large = read_message(encode_stated(test_data=["x" * 9000] * 900))
        self.assertEqual((len(found[2]), len(read_text(found, 5))), (1000, 8192))
        self.assertLess(sum(len(one) for one in large[3] if isinstance(one, bytes)), 4 << 20)
        self.assertIn("of 1500 references to data only 1000 are kept", said.getvalue())

    def test_statements_in_a_row_are_one_message(self) -> None:
        both = encode_stated(study="a", training_data="x@1") + encode_stated(study="b", training_data=["y", "z"])
        found = read_message(both)
        self.assertEqual((read_text(found, 5), found[2]), ("b", [b"x@1", b"y", b"z"]))
