"""What the tracker records of the TorchX job it runs in, as `cairn.init` does: code, command, host, packages, console, load."""

from __future__ import annotations

from cairn.begin import Decided, begin_run
from cairn.delivery.channel import new_writer
from cairn.job_runs import is_captured, tracker_captures
from cairn.notices import warn
from cairn.opening import new_opening
from cairn.ranks import read_rank
from cairn.run import Run
from cairn.tracker.config import TrackerConfig
from cairn.tracker.names import to_alias

_EXIT_S = 10.0


def begin_job(config: TrackerConfig) -> Run | None:
    """None outside of a job, where nothing is to be captured, and where `cairn.init` does it already. Never raises."""
    try:
        return _begin(config)
    except Exception as error:
        warn("job", f"cannot record the surroundings of the job: {type(error).__name__}: {error}")
        return None


def _begin(config: TrackerConfig) -> Run | None:
    alias = to_alias(config.job_id)
    if not config.job_id or not config.chosen.parts or is_captured(alias):
        return None
    place = read_rank()
    opening = new_opening(None, config.job_namespace, "", alias, {}, {}, "", b"")
    decided = Decided(
        server=config.server,
        spool=config.spool,
        writer=new_writer(),
        chosen=config.chosen,
        rank=place.rank,
        local_rank=place.local_rank,
        ends_run=config.ends_run,
        may_exist=True,
        # A job that is started again is running again.
        revives=config.ends_run,
        exit_s=_EXIT_S,
    )
    run = begin_run(opening.of_job(config), decided, {})
    tracker_captures(alias, run)
    return run
