"""Namespaces that forbid capture."""

from __future__ import annotations

import subprocess

import cairn
from cairn.forbidden import Forbidden, parse_forbidden, read_forbidden
from cairn.record.lines import Lines
from cairn.wire import message, number, read_message, text
from tests.support import Case, ServerCase, needs_server


class MessagesTest(Case):
    def test_answers_of_the_server_are_parsed_and_garbage_is_refused(self) -> None:
        answer = message(1, b"") + message(3, text(1, "lab") + text(2, "lab/asr"))
        self.assertEqual(read_forbidden(read_message(answer), 3), Forbidden("lab", "lab/asr"))
        self.assertEqual(read_forbidden(read_message(b""), 3), Forbidden())
        for bad in (number(3, 7), message(3, b"\xff"), message(3, number(1, 7))):
            with self.assertRaises(ValueError):
                read_forbidden(read_message(bad), 3)
        self.assertEqual(parse_forbidden({"forbiddenCapture": {"code": "lab"}}), Forbidden("", "lab"))
        self.assertEqual(parse_forbidden({}), Forbidden())

    def test_captured_lines_are_marked_and_can_be_dropped(self) -> None:
        lines = Lines(None)

        def fill() -> None:
            lines.add("stdout", "given", 1, written=True)
            lines.add("stdout", "printed", 2, written=False)
            lines.add("stdout", "given again", 3, written=True)

        def marks(captured: bool) -> list[tuple[bool, list[bytes]]]:
            groups = [read_message(part.body)[11][-1] for part in lines.take(captured=captured)]
            found = [read_message(group) for group in groups if isinstance(group, bytes)]
            return [(fields.get(6) == [1], [line for line in fields[5] if isinstance(line, bytes)]) for fields in found]

        fill()
        self.assertEqual(marks(True), [(True, [b"given"]), (False, [b"printed"]), (True, [b"given again"])])
        fill()
        self.assertEqual(marks(False), [(True, [b"given", b"given again"])])


_HEAD = """
    import json, sys, time, urllib.request
    import cairn

    def policy(**change):
        body = json.dumps({"path": sys.argv[2], **change}).encode()
        request = urllib.request.Request(
            sys.argv[1] + "/cairn.v1.NamespaceService/UpdateNamespace", body, {"content-type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=30).read()

    def until(holds):
        limit = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < limit
            time.sleep(0.01)
"""


@needs_server
class ForbiddenTest(ServerCase):
    def setUp(self) -> None:
        super().setUp()
        self.api.call("NamespaceService/CreateNamespace", {"path": self.namespace})

    def forbid(self, **change: bool) -> None:
        self.api.call("NamespaceService/UpdateNamespace", {"path": self.namespace, **change})

    def job(self, body: str) -> subprocess.CompletedProcess[str]:
        done = self.script(_HEAD + body, self.url, self.namespace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def texts(self) -> list[str]:
        run_id = self.api.run(self.namespace)["id"]
        read = self.api.call("LogService/ReadLog", {"run": {"id": run_id}})
        return [line["text"] for line in read.get("lines", [])]

    def notices_of(self, stderr: str, what: str) -> int:
        return stderr.count(f'{what} capture is off in namespace "{self.namespace}": an administrator forbade it')

    def test_nothing_that_is_printed_leaves_the_process(self) -> None:
        self.forbid(forbidConsole=True)
        # Once it is allowed again, the server would store what the client sends.
        done = self.job("""
    run = cairn.init(capture=["console"])
    print("printed before the answer")
    run.log({"loss": 1.0})
    until(lambda: run._collector.forbidden.console)
    policy(forbidConsole=False)
    print("printed after it")
    run.line("given")
    run.finish()
    """)
        self.assertEqual(done.stdout, "printed before the answer\nprinted after it\n")
        self.assertEqual(self.texts(), ["given"])
        self.assertEqual(self.notices_of(done.stderr, "console"), 1)
        self.assertEqual(self.notices_of(done.stderr, "code"), 0)
        series = self.api.series(self.api.run(self.namespace)["id"])
        self.assertEqual(series["loss", ""]["values"], [1])

    def test_a_patch_is_left_out_and_a_run_that_captures_nothing_has_no_notice(self) -> None:
        self.forbid(forbidCode=True, forbidConsole=True)
        (self.folder / "train.py").write_text("one\n")
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        for command in (["init", "-q"], ["add", "train.py"], [*author, "commit", "-qm", "x"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True)
        (self.folder / "train.py").write_text("two\n")
        done = self.job("""
    run = cairn.init(capture=["code"])
    run.finish()
    """)
        provenance = self.api.run(self.namespace)["provenance"]
        self.assertEqual(len(provenance["code"]["commit"]), 40)
        self.assertNotIn("dirtyPatch", provenance["code"])
        self.assertIn("forbids code capture", provenance["environment"]["note:code"])
        self.assertEqual((self.notices_of(done.stderr, "code"), self.notices_of(done.stderr, "console")), (1, 0))
        quiet = self.job("""
    run = cairn.init(capture=False)
    run.finish()
    """)
        self.assertEqual(quiet.stderr, "")

    def test_a_run_stops_capturing_when_something_was_left_out(self) -> None:
        done = self.job("""
    run = cairn.init(capture=["console"])
    print("before")
    assert run.flush()
    policy(forbidConsole=True)
    print("left out by the server")
    assert run.flush()
    policy(forbidConsole=False)
    print("not sent")
    run.log({"loss": 2.0})
    run.finish()
    """)
        self.assertEqual(self.texts(), ["before"])
        self.assertEqual(self.notices_of(done.stderr, "console"), 1)

    def test_a_run_that_is_resumed_asks_first(self) -> None:
        self.forbid(forbidConsole=True)
        run_id = self.api.call("RunService/CreateRun", {"namespace": self.namespace})["run"]["id"]
        done = self.job(f"""
    before = sys.stdout
    run = cairn.init(resume="{run_id}", capture=["console"])
    assert sys.stdout is before
    run.finish()
    """)
        self.assertEqual(self.notices_of(done.stderr, "console"), 1)
        self.assertEqual(self.texts(), [])

    def test_lines_wait_for_the_answer_and_come_in_order(self) -> None:
        with cairn.init() as run:
            for at in range(5):
                run.line(f"line {at}")
        self.assertEqual(self.texts(), [f"line {at}" for at in range(5)])
