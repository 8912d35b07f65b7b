"""A command line: which command it names, and how its failure is reported."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

from cairn.command.errors import INTERRUPTED, USAGE, CommandError, error_text, explain
from cairn.command.output.nearest import nearest
from cairn.command.output.terminal import GlobalOptions, Terminal
from cairn.command.whole import INSTALL, NODE_MIN, find_entry


class Row(NamedTuple):
    name: str
    #: One line, for `cairn --help`.
    summary: str


#: The commands of this package, each in a module of its name.
ROWS = (
    Row("ls", "runs that match a query, as a table"),
    Row("show", "one run: status, params, metrics, artifacts, where it came from"),
    Row("logs", "log lines of a run; -f follows them"),
    Row("sync", "deliver what training jobs left in the spool"),
    Row("verify", "prove that everything a run wrote has arrived"),
    Row("login", "remember a server and a token"),
    Row("doctor", "find problems of this installation, and how to fix them"),
    Row("version", "versions of this program and of the server"),
)
#: Commands that only the whole command line has.
MORE = tuple(
    """
    serve plot top ns log artifacts import demo diff explore lineage tracker rm mv restore backup restore-backup whoami
    password token access completion
    """.split()
)
_HELP = ("-h", "--help")


class Line(NamedTuple):
    options: GlobalOptions
    name: str | None
    words: list[str]


def run(argv: Sequence[str]) -> int:
    line = read_line(argv)
    terminal = Terminal(line.options)
    try:
        _run(terminal, line)
        terminal.flush()
        return terminal.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit as ended:
        return int(ended.code or 0) if not isinstance(ended.code, str) else USAGE
    except Exception as error:
        terminal.flush()
        failure = explain(error, terminal.connected_to)
        sys.stderr.write(error_text(failure, line.options.json))
        if os.environ.get("CAIRN_DEBUG"):
            import traceback

            traceback.print_exc()
        return failure.exit_code


def read_line(argv: Sequence[str]) -> Line:
    """Extracts the options that every command has, so that an error in the rest is printed in the right format."""
    words: list[str] = []
    server: str | None = None
    as_json = False
    name: str | None = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words.extend([word, *rest])
            break
        if word == "--json":
            as_json = True
        elif word == "--server" and rest:
            server = rest.pop(0)
        elif word.startswith("--server="):
            server = word[len("--server=") :]
        elif name is None and not word.startswith("-"):
            name = word
        else:
            words.append(word)
    if name is None and words and words[0] in ("--version", "-V"):
        name, words = "version", words[1:]
    if name == "help":
        name, words = (words[0] if words else None), ["--help"]
    return Line(GlobalOptions(server, as_json), name, words)


def _run(terminal: Terminal, line: Line) -> None:
    if line.name is None:
        stray = [word for word in line.words if word not in _HELP]
        if stray:
            raise CommandError(
                f'unknown option "{stray[0]}"', exit_code=USAGE, hint="`cairn --help` lists all commands"
            )
        terminal.print(_overview())
        return
    if line.name in MORE:
        raise CommandError(f"`cairn {line.name}` needs {_missing()}", hint="")
    if all(row.name != line.name for row in ROWS):
        raise _unknown(line.name)
    importlib.import_module(f"cairn.command.{line.name}").run(terminal, line.words)


def _missing() -> str:
    if find_entry() is None:
        return INSTALL
    # The package is there, but neither its Node nor another one that is new enough.
    found = shutil.which("node")
    what = "there is none" if found is None else f"{found} is older"
    return f"Node {'.'.join(map(str, NODE_MIN))} or newer, and {what}: {INSTALL} brings one"


def _unknown(name: str) -> CommandError:
    close = nearest(name, [row.name for row in ROWS] + list(MORE))
    hint = f"did you mean `cairn {close}`?" if close is not None else "`cairn --help` lists all commands"
    return CommandError(f'unknown command "{name}"', exit_code=USAGE, hint=hint)


def _overview() -> str:
    width = max(len(row.name) for row in ROWS)
    commands = "\n".join(f"  {row.name.ljust(width)}  {row.summary}" for row in ROWS)
    return f"""Usage: cairn [--server URL] [--json] COMMAND

{commands}

Options of every command:
  --server URL  the server; else CAIRN_SERVER, else the last login, else this machine
  --json        one JSON document on standard output
  -h, --help    its arguments and options, with examples
  --version     like `cairn version`

`cairn serve` and the other commands need {INSTALL}"""
