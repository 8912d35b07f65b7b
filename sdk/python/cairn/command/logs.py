"""`cairn logs`: lines of a run, selected by the server; with --follow as they arrive."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.errors import USAGE, CommandError
from cairn.command.options import Parser, parse_time
from cairn.command.output.line_text import LineText
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import printable
from cairn.command.output.words import enum_word, iso_time
from cairn.command.runs.find_run import find_run, short_id
from cairn.failure import Failure

_PAGE = 10_000
#: How many lines are searched for the last ones at first.
_WINDOW = 2_000
#: 32 bits with a sign, as in the API.
_RANK_MAX = 2**31 - 1


class Selection(NamedTuple):
    """Which lines of one run; everything that is absent selects all."""

    run_id: str
    filter: dict[str, Any]
    #: At most one of the two.
    text: str
    regex: str
    ignore_case: bool
    note: Callable[[str], None]


def run(terminal: Terminal, words: list[str]) -> None:
    options = _parser().read(words)
    if options.grep is not None and options.regex is not None:
        raise CommandError("cannot combine --grep and --regex", exit_code=USAGE, hint="use one of them")
    client = terminal.connect()
    found = find_run(client, options.run, options.namespace or "")
    selection = _selection(terminal, found["id"], options)
    writer = _Writer(terminal, options)
    following = _history(client, selection, options.tail, writer)
    if not writer.has_written and options.tail != 0:
        terminal.note(_empty_words(found, selection))
    if options.follow:
        from cairn.command.follow import follow_lines

        matches = _matcher(selection)
        arriving = follow_lines(terminal.server(), selection.run_id, selection.filter, following, terminal.note)
        for lines in arriving:
            writer.lines([line for line in lines if matches(line.get("text", ""))])
    writer.end()


def _empty_words(run: dict[str, Any], selection: Selection) -> str:
    """Silence could also mean that something went wrong."""
    name = printable(run.get("name") or short_id(run["id"]))
    if selection.filter or selection.text or selection.regex:
        return f"no line of {name} matches"
    if run.get("status") == "RUN_STATUS_RUNNING":
        return f"{name} has no log lines yet"
    return f"{name} has no log lines: its job sent no console output, and `cairn log --line` was not used"


def _parser() -> Parser:
    parser = Parser(
        "logs",
        "log lines of a run",
        more="With several ranks, each line begins with its rank. With --json a document that has all lines; with\n"
        "--json -f one document per line.",
        examples="""
        cairn logs first-try --tail 50
        cairn logs first-try -f --rank 0
        cairn logs first-try --grep "out of memory" -i --timestamps""",
    )
    parser.add_argument("run", help="id, name, alias or path of a run")
    parser.switch("--follow", "print lines as they arrive, until the run ends", short="-f")
    parser.count("--tail", "only the last N lines", 0)
    parser.text("--grep", "only lines that contain this text")
    parser.text("--regex", "only lines that match (RE2)", "PATTERN")
    parser.switch("--ignore-case", "--grep and --regex ignore case", short="-i")
    parser.text("--stream", "only of this stream, such as stderr", "NAME")
    parser.count("--rank", "only of this rank", 0, _RANK_MAX)
    parser.add_argument("--origin", choices=("process", "scheduler"), help="only of the process or of the scheduler")
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=parse_time,
        help="only newer lines: 10m, 2h, 2026-01-31, 2026-01-31T10:00:00Z",
    )
    parser.switch("--timestamps", "begin each line with its time")
    parser.switch("--raw", "lines as they were logged, with colours and control characters")
    parser.text("--namespace", "where to look for the run", "PATH", short="-n")
    return parser


def _selection(terminal: Terminal, run_id: str, options: argparse.Namespace) -> Selection:
    chosen: dict[str, Any] = {}
    if options.stream is not None:
        chosen["stream"] = options.stream
    if options.rank is not None:
        chosen["rank"] = options.rank
    if options.origin is not None:
        chosen["origin"] = f"LOG_ORIGIN_{options.origin.upper()}"
    if options.since is not None:
        chosen["fromUs"] = str(options.since)
    return Selection(run_id, chosen, options.grep or "", options.regex or "", bool(options.ignore_case), terminal.note)


def _history(client: Client, selection: Selection, tail: int | None, writer: _Writer) -> int:
    """Prints the lines so far; returns the number to continue from."""
    if tail is not None:
        lines, following = read_last_lines(client, selection, tail)
        writer.lines(lines)
        return following
    following = 0
    for page, after in read_lines(client, selection, 0):
        writer.lines(page)
        following = after
    return following


def read_lines(client: Client, selection: Selection, start: int) -> Iterator[tuple[list[Any], int]]:
    """Lines from a number to the last one, page by page, each with where to continue."""
    at = start
    while True:
        request: dict[str, Any] = {
            "run": {"id": selection.run_id},
            "filter": selection.filter,
            "from": str(at),
            "limit": _PAGE,
        }
        method = "ReadLog"
        if selection.text or selection.regex:
            method = "SearchLog"
            request["text" if selection.text else "regex"] = selection.text or selection.regex
            request["ignoreCase"] = selection.ignore_case
        try:
            page = client.call(f"LogService/{method}", request)
        except Failure as failure:
            page = {"next": after_damage(failure, at, selection.note), "more": True}
        at = int(page.get("next", 0))
        yield page.get("lines", []), at
        if not page.get("more"):
            return


def after_damage(failure: Failure, at: int, note: Callable[[str], None]) -> int:
    """Where to continue after damaged lines, which are reported once. Raises all other failures."""
    following = failure.facts.get("next", "")
    if failure.reason != "LINES_DAMAGED" or not re.fullmatch(r"\d{1,15}", following) or int(following) <= at:
        raise failure
    note(f"cairn: {printable(str(failure.args[0]))}")
    return int(following)


def read_last_lines(client: Client, selection: Selection, count: int) -> tuple[list[Any], int]:
    """The last lines of the selection, and the number after the last that was looked at."""
    # A search has no end, so it runs once, over everything.
    if selection.text or selection.regex:
        return _collect(client, selection, 0, count)
    asked = {"run": {"id": selection.run_id}, "from": "-1", "limit": 1}
    total = int(client.call("LogService/ReadLog", asked).get("total", 0))
    window = max(count, _WINDOW)
    while True:
        start = max(0, total - window)
        lines, following = _collect(client, selection, start, count)
        if len(lines) >= count or start == 0:
            return lines, following
        window *= 8


def _collect(client: Client, selection: Selection, start: int, count: int) -> tuple[list[Any], int]:
    lines: list[Any] = []
    following = start
    for page, after in read_lines(client, selection, start):
        lines = (lines + page)[-count:] if count else []
        following = after
    return lines, following


def _matcher(selection: Selection) -> Callable[[str], bool]:
    """What the server's search would select, for lines that come through a stream."""
    if selection.text and not selection.ignore_case:
        return lambda line: selection.text in line
    if not selection.text and not selection.regex:
        return lambda line: True
    source = re.escape(selection.text) if selection.text else selection.regex
    try:
        pattern = re.compile(source, re.IGNORECASE if selection.ignore_case else 0)
    except re.error as error:
        raise CommandError(f'cannot use pattern "{source}": {error}', exit_code=USAGE) from error
    return lambda line: pattern.search(line) is not None


class _Writer:
    """Lines as text, or as one JSON document that is written as it comes: a log may be larger than the memory."""

    def __init__(self, terminal: Terminal, options: argparse.Namespace) -> None:
        self._terminal = terminal
        self._follows = bool(options.follow)
        self._text = LineText(colour=terminal.colour, timestamps=options.timestamps, raw=options.raw)
        self.has_written = False

    def lines(self, lines: Sequence[Any]) -> None:
        if not lines:
            return
        if not self._terminal.options.json:
            self._text.see(lines)
            self._terminal.write("".join(f"{self._text.of(line)}\n" for line in lines))
        elif self._follows:
            self._terminal.write("".join(f"{_json_line(line)}\n" for line in lines))
        else:
            items = ",\n".join(f"  {_json_line(line)}" for line in lines)
            self._terminal.write(f"{',' if self.has_written else '['}\n{items}")
        self.has_written = True
        self._terminal.flush()

    def end(self) -> None:
        if self._terminal.options.json and not self._follows:
            self._terminal.write("\n]\n" if self.has_written else "[]\n")


def _json_line(line: dict[str, Any]) -> str:
    said = {
        "number": int(line.get("number", 0)),
        "time": iso_time(line.get("timeUs")),
        "origin": enum_word(line.get("origin"), "LOG_ORIGIN_"),
        "stream": line.get("stream", ""),
        "rank": line.get("rank"),
        "text": line.get("text", ""),
    }
    present = {name: value for name, value in said.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":"))
