"""Compiled server and command line of Cairn. The command `cairn` of cairn-tracker runs it with Node."""

from __future__ import annotations

from pathlib import Path

__version__ = "VERSION"


def entry() -> str:
    """The program that Node runs; its arguments are those of the command `cairn`."""
    return str(Path(__file__).parent / "app" / "bin" / "cairn.cjs")
