"""What a command uses to talk to the server and the user."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.output.text import WITHOUT_LIMIT, cut, printable
from cairn.login import Server, find_server

#: Of output that is not a terminal.
_COLUMNS_DEFAULT = 80
#: Shorter tasks show no progress.
_QUIET_S = 0.5
_REDRAW_S = 0.1
_BAR_WIDTH = 24


class GlobalOptions(NamedTuple):
    server: str | None = None
    json: bool = False


class Terminal:
    """Results go to standard output, notices to standard error."""

    def __init__(self, options: GlobalOptions) -> None:
        self.options = options
        #: The server that an error is about; "" before there is one.
        self.connected_to = ""
        #: What the process ends with, unless the command raises.
        self.exit_code = 0
        self.is_terminal = _is_terminal(sys.stdout)
        self.colour = not options.json and _wants_colour(self.is_terminal)
        for stream in (sys.stdout, sys.stderr):
            # Names and log lines have characters that the encoding of a locale such as C does not.
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
                reconfigure(errors="backslashreplace" if not utf8 else "replace")

    @property
    def columns(self) -> int:
        """Columns of the terminal, or COLUMNS, or 80."""
        return shutil.get_terminal_size((_COLUMNS_DEFAULT, 24)).columns

    @property
    def table_width(self) -> int:
        """How wide a table may be. For a pipe nothing is cut."""
        return self.columns if self.is_terminal or os.environ.get("COLUMNS") else WITHOUT_LIMIT

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked."""
        return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)

    def server(self) -> Server:
        """The server of --server, CAIRN_SERVER or the login file."""
        found = find_server(self.options.server)
        self.connected_to = found.url
        return found

    def connect(self) -> Client:
        """Nothing is sent before the first call."""
        return Client(self.server())

    def print(self, text: str) -> None:
        sys.stdout.write(f"{text}\n")

    def write(self, text: str) -> None:
        sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()

    def print_json(self, value: Any) -> None:
        """One document: numbers that JSON does not have are texts, absent values are left out."""
        sys.stdout.write(json.dumps(without_absent(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def note(self, text: str) -> None:
        sys.stdout.flush()
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def progress(self, title: str, total: int) -> Progress:
        return Progress(title, total, _is_terminal(sys.stderr) and not self.options.json)


#: Larger integers are texts, because programs that read JSON may hold them as doubles.
_SAFE_MAX = 2**53 - 1
#: None means that a value is absent.
NULL = object()


def without_absent(value: Any) -> Any:
    if value is NULL:
        return None
    if isinstance(value, dict):
        return {key: without_absent(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [without_absent(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_MAX:
        return str(value)
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value


class Progress:
    """A progress line on a terminal, and nothing elsewhere."""

    def __init__(self, title: str, total: int, shown: bool) -> None:
        self._title = title
        self._total = total
        self._shown = shown
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._is_drawn = False
        self._done = 0

    def add(self, count: int, note: str = "") -> None:
        self._done += count
        now = time.monotonic()
        if not self._shown or now - self._begun < _QUIET_S or now - self._drawn < _REDRAW_S:
            return
        self._drawn = now
        self._is_drawn = True
        share = min(1.0, self._done / self._total) if self._total > 0 else 1.0
        filled = round(share * _BAR_WIDTH)
        left = f" {round((now - self._begun) * (1 / share - 1))} s left" if share > 0.02 else ""
        bar = "█" * filled + "░" * (_BAR_WIDTH - filled)
        line = f"{self._title} {bar} {int(share * 100)} %{left} {note}"
        width = shutil.get_terminal_size((_COLUMNS_DEFAULT, 24)).columns
        sys.stderr.write(f"\r\x1b[K{cut(printable(line), width - 1)}")
        sys.stderr.flush()

    def end(self) -> None:
        """Takes the line away."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def _wants_colour(is_terminal: bool) -> bool:
    """https://no-color.org, and FORCE_COLOR for pipes into a pager."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return is_terminal and os.environ.get("TERM") != "dumb"
