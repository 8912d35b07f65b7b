"""Which run of this process captures for a TorchX job: that of `cairn.init`, else that of the tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.run import Run

#: By the alias of the job.
_of_tracker: dict[str, Run] = {}
_of_init: set[str] = set()


def init_captures(alias: str) -> None:
    """From now on; nothing is recorded twice."""
    _of_init.add(alias)
    run = _of_tracker.pop(alias, None)
    if run is not None:
        run.stop_following()


def is_captured(alias: str) -> bool:
    return alias in _of_init or alias in _of_tracker


def tracker_captures(alias: str, run: Run) -> None:
    _of_tracker[alias] = run


def tracker_ends(alias: str) -> None:
    _of_tracker.pop(alias, None)
