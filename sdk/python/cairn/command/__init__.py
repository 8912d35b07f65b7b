"""The command `cairn` of the Python package: a few commands in pure Python for machines that have nothing else, and the
whole command line where the package `cairn-tracker-server` is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line, by default that of this process, and returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    from cairn.command.whole import find_whole, replace_process

    whole = find_whole()
    if whole is not None:
        return replace_process(whole, words)
    from cairn.command.line import run

    try:
        return run(words)
    except BrokenPipeError:
        # `cairn ls | head` is not a failure. Python would report it again when it flushes at its end.
        _discard_output()
        return 0


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError, AttributeError):
            pass
