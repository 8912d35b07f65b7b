"""`cairn verify`: whether everything that a run wrote has arrived, as the server reads it back."""

from __future__ import annotations

from typing import Any

from cairn.client import Client
from cairn.command.errors import FAILED, USAGE, CommandError
from cairn.command.options import Parser
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import Column, paint, printable, table
from cairn.command.output.words import count_of, format_ago, iso_time
from cairn.command.runs.find_run import choose_runs, name_of

#: For calls that read everything.
_LONG_CALL_S = 295.0
_RANGES_SHOWN = 5


def run(terminal: Terminal, words: list[str]) -> None:
    parser = Parser(
        "verify",
        "prove that everything a run wrote has arrived",
        more="Exits with 1 when something is missing or damaged.",
        examples="""
        cairn verify first-try
        cairn verify --query 'started > now-1d' --json
        cairn verify --all""",
    )
    parser.add_argument("runs", nargs="*", help="name, id or its beginning, path or alias")
    parser.text("--namespace", "look only there and below", "PATH", short="-n")
    parser.text("--query", "all runs that match, see docs/query.md", "QUERY")
    parser.switch("--all", "read everything the server holds and check every checksum; for administrators")
    options = parser.read(words)
    if options.all and (options.runs or options.query is not None):
        raise CommandError("cannot use --all together with runs or --query", exit_code=USAGE)
    client = terminal.connect()
    if options.all:
        _verify_all(terminal, client)
        return
    runs = choose_runs(client, options.runs, options.namespace or "", options.query)
    progress = terminal.progress("checking", len(runs))
    results: list[dict[str, Any]] = []
    bad = 0
    for one in runs:
        found = client.call("SystemService/VerifyRun", {"run": {"id": one["id"]}}, timeout_s=_LONG_CALL_S)
        ok = _is_whole(found)
        bad += not ok
        if terminal.options.json:
            results.append(_json_verdict(one, found, ok))
        else:
            progress.end()
            _print_verdict(terminal, one, found, ok)
        progress.add(1)
    progress.end()
    if bad:
        terminal.exit_code = FAILED
    if terminal.options.json:
        terminal.print_json({"ok": bad == 0, "runs": results})
    elif len(runs) != 1:
        verdict = f"{bad} incomplete or damaged" if bad else "all complete"
        terminal.print(f"{count_of(len(runs), 'run')} checked, {verdict}")


def _is_whole(found: dict[str, Any]) -> bool:
    """Envelopes that a writer declared lost are missing, too."""
    writers = found.get("writers", [])
    return not found.get("problems") and not any(writer.get("gaps") or writer.get("lost") for writer in writers)


def _print_verdict(terminal: Terminal, one: dict[str, Any], found: dict[str, Any], ok: bool) -> None:
    mark = paint(terminal.colour, "green", "✓") if ok else paint(terminal.colour, "red", "✗")
    points = count_of(int(found.get("points", 0)), "point")
    terminal.print(f"{mark} {name_of(one)}: {printable(found.get('verdict', ''))}, {points} read back")
    unnumbered = int(found.get("unnumberedEnvelopes", 0))
    if unnumbered:
        terminal.print(f"  and {count_of(unnumbered, 'envelope')} without a number")
    rows = [
        (
            printable(writer.get("writer", "")),
            f"{int(writer.get('envelopes', 0)):,} of {int(writer.get('lastSeq', 0)):,}",
            _range_words(writer.get("gaps", [])),
            _range_words(writer.get("lost", [])),
            format_ago(writer.get("lastReceivedUs")),
        )
        for writer in found.get("writers", [])
    ]
    if rows:
        columns = (
            Column("writer", shrink=True),
            Column("envelopes", right=True),
            Column("gaps"),
            Column("declared lost"),
            Column("last"),
        )
        drawn = table(columns, rows, colour=terminal.colour, width=terminal.table_width - 2)
        terminal.print("\n".join(f"  {line}" for line in drawn.split("\n")))
    for problem in found.get("problems", []):
        terminal.print(f"  {printable(problem)}")


def _range_words(ranges: list[dict[str, Any]]) -> str:
    if not ranges:
        return "0"
    words = [
        str(one["first"]) if one["first"] == one["last"] else f"{one['first']}–{one['last']}"
        for one in ranges[:_RANGES_SHOWN]
    ]
    return ", ".join(words) + (", …" if len(ranges) > _RANGES_SHOWN else "")


def _json_verdict(one: dict[str, Any], found: dict[str, Any], ok: bool) -> dict[str, Any]:
    return {
        "run": one["id"],
        "name": one.get("name", ""),
        "ok": ok,
        "verdict": found.get("verdict", ""),
        "points": int(found.get("points", 0)),
        "unnumberedEnvelopes": int(found.get("unnumberedEnvelopes", 0)),
        "problems": found.get("problems", []),
        "writers": [
            {
                "writer": writer.get("writer", ""),
                "envelopes": int(writer.get("envelopes", 0)),
                "lastSeq": int(writer.get("lastSeq", 0)),
                "gaps": _plain(writer.get("gaps", [])),
                "lost": _plain(writer.get("lost", [])),
                "firstReceived": iso_time(writer.get("firstReceivedUs")),
                "lastReceived": iso_time(writer.get("lastReceivedUs")),
            }
            for writer in found.get("writers", [])
        ],
    }


def _plain(ranges: list[dict[str, Any]]) -> list[dict[str, int]]:
    return [{"first": int(one["first"]), "last": int(one["last"])} for one in ranges]


def _verify_all(terminal: Terminal, client: Client) -> None:
    terminal.note("Reading everything. This may take long; the server stays usable.")
    found = client.call("SystemService/CheckIntegrity", {}, timeout_s=_LONG_CALL_S)
    ok = bool(found.get("ok"))
    runs, points = int(found.get("checkedRuns", 0)), int(found.get("checkedPoints", 0))
    problems = found.get("problems", [])
    if not ok:
        terminal.exit_code = FAILED
    if terminal.options.json:
        terminal.print_json({"ok": ok, "checkedRuns": runs, "checkedPoints": points, "problems": problems})
        return
    read = f"{count_of(runs, 'run')} and {count_of(points, 'point')} read"
    if ok:
        terminal.print(f"{paint(terminal.colour, 'green', '✓')} {read}, nothing is damaged")
        return
    terminal.print(f"{paint(terminal.colour, 'red', '✗')} {read}, {count_of(len(problems), 'problem')}")
    for problem in problems:
        terminal.print(f"  {printable(problem)}")
