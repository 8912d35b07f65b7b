"""Begins a run once everything about it is decided: for `cairn.init`, and for the tracker of TorchX inside a job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cairn.captures import Chosen, capture_provenance, follow
from cairn.ending import watch_over
from cairn.forbidden import Forbidden
from cairn.login import Server
from cairn.opening import Opening
from cairn.record.collector import Plan
from cairn.run import Run


class Decided(NamedTuple):
    server: Server
    spool: Path
    writer: str
    chosen: Chosen
    #: Among all processes of a job, and among those of this machine.
    rank: int | None = None
    local_rank: int | None = None
    ends_run: bool = True
    #: Whether the run may be there already.
    may_exist: bool = False
    #: The run is continued: it counts as running again.
    revives: bool = False
    #: Of a continued run the archive is that of its first code.
    archives: bool = True
    first_step: int = 0
    forbidden: Forbidden = Forbidden()
    offline: bool = False
    sync_every: bool = False
    heartbeat_s: int = 30
    exit_s: float = 30.0


def begin_run(opening: Opening, decided: Decided, params: Mapping[str, Any]) -> Run:
    chosen = decided.chosen
    plan = Plan(
        server=decided.server,
        spool=decided.spool,
        label=opening.name or opening.run_id or opening.alias,
        encode_open=opening.encode,
        captured=capture_provenance(chosen.parts),
        may_exist=decided.may_exist,
        labels={} if decided.rank is None else {"rank": str(decided.rank)},
        rank=decided.rank,
        revives=decided.revives,
        offline=decided.offline,
        sync_every=decided.sync_every,
        heartbeat_s=max(0, int(decided.heartbeat_s)) if decided.ends_run else 0,
        ends_run=decided.ends_run,
        captures=chosen.parts,
        forbidden=decided.forbidden,
    )
    run = Run(
        plan,
        decided.writer,
        namespace=opening.namespace,
        name=opening.name,
        params=params,
        tags=opening.tags,
        run_id=opening.run_id,
        first_step=decided.first_step,
        ends_run=decided.ends_run,
        exit_s=decided.exit_s,
    )
    if decided.may_exist:
        # Then what opens the run changes nothing: what is given is merged into it.
        if decided.ends_run and (opening.first.params or opening.tags):
            run.merge(opening.first.params, opening.all_tags())
        run.state(opening.stated)
    follow(
        run,
        chosen,
        forbids_console=bool(decided.forbidden.console),
        whole_machine=decided.local_rank in (None, 0),
        archives=decided.archives and decided.ends_run and not decided.forbidden.code,
    )
    watch_over(run)
    return run
