"""`cairn.init`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from cairn import critical
from cairn.delivery.channel import new_writer
from cairn.delivery.spool import spool_folder
from cairn.ending import watch_over
from cairn.failure import Failure
from cairn.forbidden import Forbidden, parse_forbidden
from cairn.login import Server, find_server
from cairn.messages import encode_create_run
from cairn.namespaces import check_namespace
from cairn.notices import warn
from cairn.ranks import read_rank
from cairn.record.collector import Plan
from cairn.record.pending import Pending, marked
from cairn.record.values import cut_text, to_json, to_key
from cairn.run import Run
from cairn.tracker.config import TrackerConfig, name_of, parse_config

if TYPE_CHECKING:
    from cairn.client import Client

_RESUME_S = 2.0
_HEAD_START_S = 0.03
_ALIAS_BYTES_MAX = 1024
_NAME_BYTES_MAX = 512
_TAG_BYTES_MAX = 8 << 10
_NOTES_BYTES_MAX = 1 << 20

CAPTURES = frozenset({"console", "code", "packages", "host", "system"})
Capture = Union[bool, Iterable[str], None]


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
    exit_s: float = 30.0,
) -> Run:
    """Begins a run, or continues one, and returns at once: an unreachable server is retried in the background.

    `alias` finds the run that has it in the namespace, or creates one: so the ranks of a job share theirs, whose alias
    comes from TorchX, torchrun, Slurm or MPI. `rank` labels the series of this process, and `primary` sets whether it
    ends the run, where the launcher does not say: by default rank 0 or the only process does. `resume` continues a run
    by its id or alias, after its last step. `fsync="every"` brings each call to the disk before it returns.
    `capture` chooses among console, code, packages, host and system, or says True or False to all.

    Raises ValueError for invalid arguments, and for nothing else.
    """
    job = _torchx_job() if namespace is None and server is None else None
    where = job.job_namespace if job else check_namespace(namespace or os.environ.get("CAIRN_NAMESPACE") or "default")
    address = find_server(job.server.url if job else server, token)
    if alias is not None and resume is not None:
        raise ValueError("cannot begin a run: give alias or resume, not both")
    if fsync not in ("segment", "every"):
        raise ValueError(f'cannot use fsync "{fsync}": it is "every" or "segment"')
    is_offline = os.environ.get("CAIRN_OFFLINE", "") not in ("", "0") if offline is None else offline
    chosen = _captures(capture)
    place = read_rank()
    own_rank = place.rank if rank is None else rank
    writer = new_writer()
    started_us = time.time_ns() // 1000
    found = _resume(address, where, resume, is_offline) if resume else _Resumed()
    run_id = found.run_id
    shared = alias or (resume if run_id is None else None) or place.job_alias
    opening = _Opening(
        run_id=run_id,
        namespace=where,
        name=cut_text(name, _NAME_BYTES_MAX),
        alias=cut_text(shared, _ALIAS_BYTES_MAX) if shared else f"cairn:{writer}",
        first=marked({to_key(key): to_json(value) for key, value in (params or {}).items()}),
        tags={to_key(key): cut_text(str(value), _TAG_BYTES_MAX) for key, value in (tags or {}).items()},
        notes=cut_text(notes, _NOTES_BYTES_MAX),
        started_us=started_us,
    )
    if job is not None and not alias and not resume:
        opening = opening.of_job(job)
    ends_run = own_rank in (None, 0) if primary is None else primary
    plan = Plan(
        server=address,
        spool=Path(spool) if spool is not None else spool_folder(),
        label=opening.name or run_id or opening.alias,
        encode_open=opening.encode,
        provenance=_provenance(chosen) if run_id is None else None,
        labels={} if own_rank is None else {"rank": str(own_rank)},
        rank=own_rank,
        revives=bool(resume),
        offline=is_offline,
        sync_every=fsync == "every",
        heartbeat_s=max(0, int(heartbeat_s)) if ends_run else 0,
        captures=chosen,
        forbidden=found.forbidden,
    )
    run = Run(
        plan,
        writer,
        namespace=where,
        name=opening.name,
        params=params or {},
        tags=opening.tags,
        run_id=run_id,
        first_step=found.first_step,
        ends_run=ends_run,
        exit_s=exit_s,
    )
    if (shared or run_id) and ends_run and (opening.first.params or opening.tags):
        # The run may have been there before, and then creating it changes nothing: what is given is merged into it.
        run.merge(opening.first.params, opening.all_tags())
    _follow(run, chosen, found.forbidden, place.local_rank)
    watch_over(run)
    return run


class _Opening(NamedTuple):
    """How the server is asked for the run."""

    run_id: str | None
    namespace: str
    name: str
    alias: str
    #: Params, and the tags that say what their values were.
    first: Pending
    #: As they were given.
    tags: dict[str, str]
    notes: str
    #: By the clock of the points and of the end; a spool may be delivered days later.
    started_us: int

    def of_job(self, job: TrackerConfig) -> _Opening:
        from cairn.tracker.names import RUN_ID_TAG, to_alias

        return self._replace(
            name=self.name or cut_text(job.job_name or name_of(job.job_id), _NAME_BYTES_MAX),
            alias=to_alias(job.job_id),
            tags={RUN_ID_TAG: cut_text(job.job_id, _TAG_BYTES_MAX), **self.tags},
        )

    def all_tags(self) -> dict[str, str]:
        return {**self.tags, **self.first.tags}

    def encode(self, provenance: bytes) -> bytes:
        if self.run_id is not None:
            return encode_create_run(aliases=(f"id:{self.run_id}",))
        return encode_create_run(
            namespace=self.namespace,
            name=self.name,
            aliases=(self.alias,),
            params=self.first.params,
            tags=self.all_tags(),
            provenance=provenance,
            notes=self.notes,
            started_us=self.started_us,
        )


def _torchx_job() -> TrackerConfig | None:
    """Inside a job that TorchX tracks with Cairn a run without any address is the run of that job."""
    config = os.environ.get("TORCHX_TRACKER_CAIRN_CONFIG")
    trackers = os.environ.get("TORCHX_TRACKERS", "").split(",")
    if not os.environ.get("TORCHX_JOB_ID") or (config is None and "cairn" not in trackers):
        return None
    try:
        return parse_config(config)
    except ValueError as error:
        warn("config", f"{error}: the configuration of the TorchX tracker is not used")
        return None


def _captures(capture: Capture) -> frozenset[str]:
    if capture is None:
        given = os.environ.get("CAIRN_CAPTURE")
        capture = True if given is None else [name for name in re.split(r"[\s,]+", given) if name not in ("", "none")]
    if isinstance(capture, bool):
        return CAPTURES if capture else frozenset()
    chosen = frozenset(capture)
    if not chosen <= CAPTURES:
        unknown = sorted(chosen - CAPTURES)[0]
        raise ValueError(f'cannot capture "{unknown}": choose among {", ".join(sorted(CAPTURES))}')
    return chosen


class _Resumed(NamedTuple):
    run_id: str | None = None
    #: The one after its last.
    first_step: int = 0
    forbidden: Forbidden = Forbidden()


def _resume(server: Server, namespace: str, resume: str, offline: bool) -> _Resumed:
    """Without a server only an id can be used."""
    known = resume if re.fullmatch(r"[0-9a-f]{32}", resume) else None
    if offline:
        return _Resumed(known)
    from cairn.client import Client

    client = Client(server, timeout_s=_RESUME_S)
    ref = {"id": known} if known else {"alias": resume, "namespace": namespace}
    try:
        run = client.call("RunService/GetRun", {"run": ref})
        run_id = str(run["id"])
        last = -1
        for series in client.pages("MetricService/ListSeries", {"run": {"id": run_id}, "pageSize": 1000}, "series"):
            last = max(last, int(series.get("summary", {}).get("last", {}).get("step", -1)))
        return _Resumed(run_id, last + 1, _forbidden_in(client, str(run["namespace"])))
    except Failure as failure:
        if failure.code != "not_found":
            warn("resume", f'cannot look up run "{resume}": {failure}; steps are counted from 0')
        elif known:
            raise ValueError(f'cannot resume run "{resume}": it does not exist at {server.url}') from failure
        return _Resumed(known)
    finally:
        client.close()


def _forbidden_in(client: Client, namespace: str) -> Forbidden:
    try:
        return parse_forbidden(client.call("NamespaceService/GetNamespace", {"path": namespace}))
    except Failure:
        # The server leaves it out, and reports that then.
        return Forbidden()


def _provenance(chosen: frozenset[str]) -> Callable[[], bytes] | None:
    if not chosen & {"code", "packages", "host"}:
        return None

    def find() -> bytes:
        # The program has priority: collecting keeps the interpreter busy for a while.
        time.sleep(_HEAD_START_S)
        with critical.loading:
            from cairn.capture.provenance import collect_provenance
        return collect_provenance(chosen)

    return find


def _follow(run: Run, chosen: frozenset[str], forbidden: Forbidden, local_rank: int | None) -> None:
    if "console" in chosen and not forbidden.console:
        from cairn.capture.console import capture_console

        run.follow(capture_console(run.printed))
    if "system" in chosen:
        from cairn.capture.system import start_system_metrics

        run.follow(start_system_metrics(run.log_surroundings, whole_machine=local_rank in (None, 0)))
