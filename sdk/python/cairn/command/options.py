"""Arguments and options of a command."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, NoReturn

from cairn.command.errors import USAGE, CommandError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_HINT = "`--help` after the command lists its arguments and options"


class Parser(argparse.ArgumentParser):
    """Its errors are those of a command, and its help ends with examples."""

    def __init__(self, name: str, summary: str, *, more: str = "", examples: str = "") -> None:
        lines = [line.strip() for line in examples.strip().splitlines()]
        shown = "Examples:\n" + "\n".join(f"  {line}" for line in lines)
        super().__init__(
            prog=f"cairn {name}",
            description=summary,
            epilog=f"{more.strip()}\n\n{shown}" if more else shown,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        found = re.match(r"unrecognized arguments: (\S+)", message)
        if found is not None:
            what = "option" if found[1].startswith("-") else "argument"
            raise CommandError(f'unknown {what} "{found[1]}"', exit_code=USAGE, hint=_HINT)
        found = re.match(r"the following arguments are required: (.+)", message)
        if found is not None:
            raise CommandError(f'missing required argument "{found[1]}"', exit_code=USAGE, hint=_HINT)
        raise CommandError(message.replace("argument ", "option ", 1), exit_code=USAGE, hint=_HINT)

    def text(self, flag: str, help: str, metavar: str = "TEXT", *, short: str = "") -> None:
        self.add_argument(*([short] if short else []), flag, metavar=metavar, help=help)

    def switch(self, flag: str, help: str, *, short: str = "") -> None:
        self.add_argument(*([short] if short else []), flag, action="store_true", help=help)

    def count(self, flag: str, help: str, least: int, most: int | None = None) -> None:
        self.add_argument(flag, metavar="N", type=_count(least, most), help=help)

    def read(self, words: list[str]) -> argparse.Namespace:
        return self.parse_intermixed_args(words)


def _count(least: int, most: int | None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and int(text) >= least and (most is None or int(text) <= most):
            return int(text)
        said = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"expected a whole number {said}")

    return parse


def parse_time(text: str, now_s: float | None = None) -> int:
    """A time as users type it, in microseconds: "10m" or "now-10m" before now, a date (midnight UTC), a date-time (UTC
    without an offset), as in the query language."""
    now = time.time() if now_s is None else now_s
    words = text.strip()
    if words == "now":
        return round(now * 1e6)
    ago = re.fullmatch(r"(?:now-)?(\d+(?:\.\d+)?)([smhdw])", words)
    if ago is not None:
        return round((now - float(ago[1]) * _UNITS[ago[2]]) * 1e6)
    moment = _date(words)
    if moment is None:
        raise argparse.ArgumentTypeError('must be a time such as 10m, 2h, 3d, "2026-01-31" or "2026-01-31T10:00:00Z".')
    return round(float(moment.timestamp()) * 1e6)


def _date(words: str) -> Any:
    pattern = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?"
    if re.fullmatch(pattern, words) is None:
        return None
    iso = re.sub(r"Z$", "+00:00", words.replace(" ", "T"))
    # Before 3.11 Python reads fractions of three or six digits only.
    iso = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6].ljust(6, '0')}", iso)
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
