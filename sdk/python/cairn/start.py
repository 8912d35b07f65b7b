"""`cairn.init`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cairn.begin import Decided, begin_run
from cairn.captures import Capture, choose_captures
from cairn.delivery.channel import new_writer
from cairn.delivery.spool import spool_folder
from cairn.job_runs import init_captures
from cairn.login import find_server
from cairn.namespaces import check_namespace
from cairn.opening import Resumed, find_resumed, new_opening, torchx_job
from cairn.provenance import References, encode_stated
from cairn.ranks import read_rank
from cairn.run import Run

def init(
    *,
    namespace: str | None = None,
    name: str = "",
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    notes: str = "",
    alias: str | None = None,
    rank: int | None = None,
    primary: bool | None = None,
    resume: str | None = None,
    server: str | None = None,
    token: str | None = None,
    spool: str | os.PathLike[str] | None = None,
    offline: bool | None = None,
    fsync: str = "segment",
    heartbeat_s: int = 30,
    capture: Capture = None,
    initial_state: str | None = None,
    training_data: References = None,
    test_data: References = None,
    feature_pipeline: str | None = None,
    study: str | None = None,
    logs_location: str | None = None,
    exit_s: float = 30.0,
) -> Run:
    """Begins a run, or continues one, and returns at once: an unreachable server is retried in the background.

    `alias` finds the run that has it in the namespace, or creates one: so the ranks of a job share theirs, whose alias
    comes from TorchX, torchrun, Slurm or MPI. `rank` labels the series of this process, and `primary` sets whether it
    ends the run, where the launcher does not say: by default rank 0 or the only process does. `resume` continues a run
    by its id or alias, after its last step. `fsync="every"` brings each call to the disk before it returns.
    `capture` chooses among archive, code, console, host, packages and system, or says True or False to all.
    `initial_state`, `training_data`, `test_data` and `feature_pipeline` are references such as "s3://data/c4@v3" or
    "git@host:team/features.git@4f2a91c"; data may be several. `study` is what the run is for.

    Raises ValueError for invalid arguments, and for nothing else.
    """
    job = torchx_job() if namespace is None and server is None else None
    where = job.job_namespace if job else check_namespace(namespace or os.environ.get("CAIRN_NAMESPACE") or "default")
    address = find_server(job.server.url if job else server, token)
    _check(alias, resume, fsync)
    is_offline = os.environ.get("CAIRN_OFFLINE", "") not in ("", "0") if offline is None else offline
    place = read_rank()
    own_rank = place.rank if rank is None else rank
    writer = new_writer()
    found = find_resumed(address, where, resume, is_offline) if resume else Resumed()
    shared = alias or (resume if found.run_id is None else None) or place.job_alias
    stated = encode_stated(
        initial_state=initial_state,
        training_data=training_data,
        test_data=test_data,
        feature_pipeline=feature_pipeline,
        study=study,
        logs_location=logs_location,
    )
    aliased = shared or f"cairn:{writer}"
    opening = new_opening(found.run_id, where, name, aliased, params or {}, tags or {}, notes, stated)
    if job is not None and not alias and not resume:
        opening = opening.of_job(job)
        init_captures(opening.alias)
    decided = Decided(
        server=address,
        spool=Path(spool) if spool is not None else spool_folder(),
        writer=writer,
        chosen=choose_captures(capture),
        rank=own_rank,
        local_rank=place.local_rank,
        ends_run=own_rank in (None, 0) if primary is None else primary,
        may_exist=bool(shared or found.run_id),
        revives=bool(resume),
        archives=not resume,
        first_step=found.first_step,
        forbidden=found.forbidden,
        offline=is_offline,
        sync_every=fsync == "every",
        heartbeat_s=heartbeat_s,
        exit_s=exit_s,
    )
    return begin_run(opening, decided, params or {})


def _check(alias: str | None, resume: str | None, fsync: str) -> None:
    if alias is not None and resume is not None:
        raise ValueError("cannot begin a run: give alias or resume, not both")
    if fsync not in ("segment", "every"):
        raise ValueError(f'cannot use fsync "{fsync}": it is "every" or "segment"')
