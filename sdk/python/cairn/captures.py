"""Which parts `init` captures, and their beginning."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Union

from cairn.capture.captured import Captured

if TYPE_CHECKING:
    from cairn.run import Run

PARTS = frozenset({"archive", "code", "console", "host", "packages", "system"})
#: What is missing in the provenance of a run; of an archive, why it is missing.
_PROVENANCE = frozenset({"archive", "code", "host", "packages"})
Capture = Union[bool, Iterable[str], None]


class Chosen(NamedTuple):
    parts: frozenset[str]
    #: Whether the archive was asked for by name; else it is made only where there is a git repository.
    archives_anywhere: bool = False


def choose_captures(capture: Capture) -> Chosen:
    """Raises ValueError for an unknown part."""
    if capture is None:
        given = os.environ.get("CAIRN_CAPTURE")
        capture = True if given is None else split_parts(given)
    if isinstance(capture, bool):
        return Chosen(PARTS if capture else frozenset())
    chosen = frozenset(capture)
    if not chosen <= PARTS:
        unknown = sorted(chosen - PARTS)[0]
        raise ValueError(f'cannot capture "{unknown}": choose among {", ".join(sorted(PARTS))}')
    return Chosen(chosen, "archive" in chosen)


def split_parts(text: str) -> list[str]:
    """`console,code`, or `none`."""
    return [name for name in re.split(r"[\s,]+", text) if name not in ("", "none")]


def capture_provenance(parts: frozenset[str]) -> Captured | None:
    """To be collected by a thread. None when nothing of it was chosen."""
    if not parts & _PROVENANCE:
        return None
    # As they are now: the program may change both.
    argv = list(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv])
    return Captured(parts & _PROVENANCE, argv=argv, folder=working_directory())


def working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        # It was removed.
        return os.sep


def follow(run: Run, chosen: Chosen, *, forbids_console: bool, whole_machine: bool, archives: bool) -> None:
    """Begins what lasts until the run ends."""
    if "console" in chosen.parts and not forbids_console:
        from cairn.capture.console import capture_console

        run.follow(capture_console(run.printed))
    if "system" in chosen.parts:
        from cairn.capture.system import start_system_metrics

        run.follow(start_system_metrics(run.log_surroundings, whole_machine=whole_machine))
    if "archive" in chosen.parts and archives:
        run.archive(working_directory(), anywhere=chosen.archives_anywhere)
