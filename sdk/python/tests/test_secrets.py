from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from cairn.capture import provenance
from cairn.capture.console import capture_console
from cairn.capture.patch import redact_patch
from cairn.capture.secret_args import redact_args
from cairn.capture.secret_lines import LineRedactor
from cairn.capture.secret_names import is_secret_name
from cairn.capture.secrets import redact_text
from tests.corpus import Form, hostile_pieces, read_corpus, words_of
from tests.support import Api, Case, OwnServer, needs_node

_HEAD = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n"


def stored(form: Form) -> str:
    """What would be stored of a form. Files are archived by the TypeScript client alone."""
    if form.where == "line":
        redactor = LineRedactor({})
        return "\n".join(redactor.redact(line) for line in form.text.split("\n"))
    if form.where == "patch":
        return redact_patch(f"{_HEAD}{form.text}\n")[len(_HEAD) : -1]
    if form.where == "command":
        return " ".join(redact_args(words_of(form.text)))
    name, _, value = form.text.partition("=")
    chosen = [f"{key[4:]}={one}" for key, one in provenance.chosen_variables({name: value})]
    return "\n".join([*chosen, LineRedactor({name: value}).redact(f"printed {value}")])


def expected(form: Form) -> str:
    if form.where == "environment":
        return f"{form.text}\nprinted {form.text.partition('=')[2]}"
    return form.text.replace("␣", " ")


class CorpusTest(Case):
    def setUp(self) -> None:
        super().setUp()
        self.corpus = [form for form in read_corpus() if form.where != "file"]

    def test_none_of_the_secrets_is_stored(self) -> None:
        secrets = [form for form in self.corpus if form.secret]
        self.assertGreaterEqual(len(secrets), 200)
        self.assertEqual([form for form in secrets if form.secret in stored(form)], [])

    def test_harmless_text_is_left_as_it_is(self) -> None:
        harmless = [form for form in self.corpus if not form.secret]
        self.assertGreaterEqual(len(harmless), 100)
        self.assertEqual([(form, stored(form)) for form in harmless if stored(form) != expected(form)], [])

    def test_a_patch_has_none_of_the_secrets_of_files(self) -> None:
        for form in (form for form in read_corpus() if form.where == "file"):
            path, *lines = form.text.rstrip("\n").split("\n")
            patch = f"diff --git a/{path} b/{path}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
            patch += "".join(f"+{line}\n" for line in lines)
            if form.secret:
                self.assertNotIn(form.secret, redact_patch(patch))
            else:
                self.assertEqual(redact_patch(patch), patch)

    def test_lines_stay_lines_and_a_second_pass_changes_nothing(self) -> None:
        for form in self.corpus:
            if form.where in ("line", "patch"):
                once = stored(form)
                self.assertEqual(once.count("\n"), form.text.count("\n"), form)
                self.assertEqual(stored(form._replace(text=once)), once, form)

    def test_a_hostile_line_takes_linear_time(self) -> None:
        slow = {}
        for piece in hostile_pieces():
            line = (piece * (65536 // len(piece) + 1))[:65536]
            redactor = LineRedactor({})
            redactor.redact(line)
            begun = time.process_time()
            for _ in range(4):
                redactor.redact(line)
            slow[piece] = time.process_time() - begun
        # A quarter of a megabyte each. The slowest took 0.08 s on a busy machine; quadratic time is over 1 s.
        self.assertEqual({piece: took for piece, took in slow.items() if took > 0.5}, {})

    def test_a_hostile_patch_takes_linear_time(self) -> None:
        for piece in hostile_pieces():
            line = f"+{piece * 20}\n"
            for mode in ("code", "settings"):
                begun = time.process_time()
                redact_text(line * (200_000 // len(line)), mode)
                self.assertLess(time.process_time() - begun, 1, (mode, piece))


@needs_node
class StoredTest(Case):
    """A real run against a real server, whose files are searched afterwards."""

    def git(self, folder: Path, *arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)

    def test_a_job_that_prints_patches_and_is_given_the_corpus_stores_none_of_it(self) -> None:
        server = OwnServer(self.folder)
        self.addCleanup(server.kill)
        corpus = read_corpus()
        work = self.folder / "work"
        work.mkdir()
        lines = [line for form in corpus if form.where == "patch" and form.secret for line in form.text.split("\n")]
        self.git(work, "init", "-q", "-b", "main")
        (work / "changed.txt").write_text("".join(f"{line[1:]}\n" for line in lines if line.startswith("-")))
        files = [form.text.partition("\n") for form in corpus if form.where == "file" and form.secret]
        paths = [work / f"form-{at}" / name for at, (name, _, _) in enumerate(files)]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        self.git(work, "add", "-f", ".")
        self.git(work, "commit", "-q", "-m", "first")
        (work / "changed.txt").write_text("".join(f"{line[1:]}\n" for line in lines if line.startswith("+")))
        for path, (_, _, content) in zip(paths, files):
            path.write_text(content)
        (self.folder / "lines.json").write_text(json.dumps([form.text for form in corpus if form.where == "line"]))
        words = [word for form in corpus if form.where == "command" and form.secret for word in words_of(form.text)]
        pairs = [form.text.partition("=") for form in corpus if form.where == "environment" and form.secret]
        ended = self.script(
            """
            import json, os
            import cairn, cairn.capture.captured
            # The machine may be busy.
            cairn.capture.captured._GIT_S = 30
            os.chdir("work")
            with cairn.init(capture=["console", "code", "host"]) as run:
                for text in json.load(open("../lines.json")):
                    print(text)
                print("a value of the environment: " + os.environ["OWN_SECRET"])
                run.log({"loss": 1.0})
                run._collector.surroundings._thread.join()
            """,
            *words,
            **{name: value for name, _, value in pairs if not is_secret_name(name)},
            CAIRN_SERVER=server.url,
            CAIRN_NAMESPACE="secrets",
            OWN_SECRET="planted-in-env",
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        api = Api(server.url)
        run = api.run("secrets")
        log = api.call("LogService/ReadLog", {"run": {"id": run["id"]}, "limit": 10000})
        printed = {line.get("text", "") for line in log["lines"]}
        harmless = {form.text for form in corpus if form.where == "line" and not form.secret}
        self.assertEqual(harmless - printed, set())
        self.assertIn("a value of the environment: [redacted]", printed)
        self.assertIn("[redacted]", run["provenance"]["code"]["dirtyPatch"])
        self.assertIn("[redacted]", run["provenance"]["command"])
        server.kill()
        everything = [json.dumps([run, log], ensure_ascii=False)]
        everything += [path.read_text("latin-1") for path in (self.folder / "data").rglob("*") if path.is_file()]
        secrets = {form.secret for form in corpus if form.secret} | {"planted-in-env"}
        self.assertEqual([one for one in secrets if any(one in text for text in everything)], [])


class ConsoleTest(Case):
    def test_the_output_is_unchanged_and_lines_are_reported_without_secrets(self) -> None:
        shown = io.StringIO()
        lines: list[str] = []
        with mock.patch.object(sys, "stdout", shown):
            stop = capture_console(lambda line, _: lines.append(line), {"HF_TOKEN": "planted-value"})
            print("password=hunter2Xq planted-value")
            stop()
        self.assertEqual(shown.getvalue(), "password=hunter2Xq planted-value\n")
        self.assertEqual(lines, ["password=[redacted] [redacted]"])
