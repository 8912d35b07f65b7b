"""The last lines of a program that dies."""

from __future__ import annotations

from tests.support import ServerCase, needs_server


@needs_server
class LastLinesTest(ServerCase):
    def lines(self, source: str, code: int, **env: str) -> list[tuple[str, str]]:
        done = self.script(f"import cairn, sys\n{source}", CAIRN_CAPTURE="console", **env)
        self.assertEqual(done.returncode, code, done.stderr)
        run = self.api.run(self.namespace)
        read = self.api.call("LogService/ReadLog", {"run": {"id": run["id"]}})
        return [(line.get("stream", "stdout"), line["text"]) for line in read.get("lines", [])]

    def check(self, lines: list[tuple[str, str]]) -> None:
        self.assertEqual(lines[0], ("stdout", "before"))
        self.assertEqual(lines[1], ("stderr", "Traceback (most recent call last):"))
        self.assertEqual(lines[-1], ("stderr", "ValueError: no such shard"))
        # Once.
        self.assertEqual([text for _, text in lines].count("ValueError: no such shard"), 1)

    def test_an_exception_without_a_with_block(self) -> None:
        self.check(self.lines("run = cairn.init()\nprint('before')\nraise ValueError('no such shard')\n", 1))

    def test_an_exception_in_a_with_block(self) -> None:
        source = "with cairn.init() as run:\n    print('before')\n    raise ValueError('no such shard')\n"
        self.check(self.lines(source, 1))

    def test_an_exception_that_is_caught_outside_of_the_block(self) -> None:
        block = "with cairn.init() as run:\n        print('before')\n        raise ValueError('no such shard')\n"
        self.check(self.lines(f"try:\n    {block}except ValueError:\n    pass\n", 0))

    def test_secrets_in_it_are_redacted(self) -> None:
        source = "with cairn.init() as run:\n    raise ValueError('password=hunter2x')\n"
        lines = self.lines(source, 1)
        self.assertEqual(lines[-1], ("stderr", "ValueError: password=[redacted]"))
        self.assertFalse(any("hunter2x" in text for _, text in lines))

    def test_an_exit_has_none(self) -> None:
        self.assertEqual(self.lines("with cairn.init() as run:\n    print('before')\n    sys.exit(3)\n", 3)[1:], [])

    def test_nothing_is_kept_where_the_console_is_not_captured(self) -> None:
        source = "with cairn.init(capture=['host']) as run:\n    raise ValueError('no such shard')\n"
        self.assertEqual(self.lines(source, 1), [])
