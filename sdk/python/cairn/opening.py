"""How a server is asked for a run: a new one, that of an alias, or that of the TorchX job this process is part of."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn.failure import Failure
from cairn.forbidden import Forbidden, parse_forbidden
from cairn.login import Server
from cairn.messages import encode_create_run
from cairn.notices import warn
from cairn.record.pending import Pending, marked
from cairn.record.values import cut_text, to_json, to_key
from cairn.tracker.config import TrackerConfig, name_of, parse_config

if TYPE_CHECKING:
    from cairn.client import Client

NAME_BYTES_MAX = 512
TAG_BYTES_MAX = 8 << 10
_ALIAS_BYTES_MAX = 1024
_NOTES_BYTES_MAX = 1 << 20
_RESUME_S = 2.0


class Opening(NamedTuple):
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
    #: What is stated about the provenance: cairn.v1.Provenance.
    stated: bytes
    #: By the clock of the points and of the end; a spool may be delivered days later.
    started_us: int

    def of_job(self, job: TrackerConfig) -> Opening:
        from cairn.tracker.names import RUN_ID_TAG, to_alias

        return self._replace(
            name=self.name or cut_text(job.job_name or name_of(job.job_id), NAME_BYTES_MAX),
            alias=to_alias(job.job_id),
            tags={RUN_ID_TAG: cut_text(job.job_id, TAG_BYTES_MAX), **self.tags},
        )

    def all_tags(self) -> dict[str, str]:
        return {**self.tags, **self.first.tags}

    def encode(self, captured: bytes) -> bytes:
        if self.run_id is not None:
            return encode_create_run(aliases=(f"id:{self.run_id}",))
        return encode_create_run(
            namespace=self.namespace,
            name=self.name,
            aliases=(self.alias,),
            params=self.first.params,
            tags=self.all_tags(),
            # One message after another is both of them, merged.
            provenance=captured + self.stated,
            notes=self.notes,
            started_us=self.started_us,
        )


def new_opening(
    run_id: str | None,
    namespace: str,
    name: str,
    alias: str,
    params: Mapping[str, Any],
    tags: Mapping[str, Any],
    notes: str,
    stated: bytes,
) -> Opening:
    """With everything as a server takes it; begun now."""
    return Opening(
        run_id=run_id,
        namespace=namespace,
        name=cut_text(name, NAME_BYTES_MAX),
        alias=cut_text(alias, _ALIAS_BYTES_MAX),
        first=marked({to_key(key): to_json(value) for key, value in params.items()}),
        tags={to_key(key): cut_text(str(value), TAG_BYTES_MAX) for key, value in tags.items()},
        notes=cut_text(notes, _NOTES_BYTES_MAX),
        stated=stated,
        started_us=time.time_ns() // 1000,
    )


def torchx_job() -> TrackerConfig | None:
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


class Resumed(NamedTuple):
    run_id: str | None = None
    #: The one after its last.
    first_step: int = 0
    forbidden: Forbidden = Forbidden()


def find_resumed(server: Server, namespace: str, resume: str, offline: bool) -> Resumed:
    """Without a server only an id can be used."""
    known = resume if re.fullmatch(r"[0-9a-f]{32}", resume) else None
    if offline:
        return Resumed(known)
    from cairn.client import Client

    client = Client(server, timeout_s=_RESUME_S)
    ref = {"id": known} if known else {"alias": resume, "namespace": namespace}
    try:
        run = client.call("RunService/GetRun", {"run": ref})
        run_id = str(run["id"])
        last = -1
        for series in client.pages("MetricService/ListSeries", {"run": {"id": run_id}, "pageSize": 1000}, "series"):
            last = max(last, int(series.get("summary", {}).get("last", {}).get("step", -1)))
        return Resumed(run_id, last + 1, _forbidden_in(client, str(run["namespace"])))
    except Failure as failure:
        if failure.code != "not_found":
            warn("resume", f'cannot look up run "{resume}": {failure}; steps are counted from 0')
        elif known:
            raise ValueError(f'cannot resume run "{resume}": it does not exist at {server.url}') from failure
        return Resumed(known)
    finally:
        client.close()


def _forbidden_in(client: Client, namespace: str) -> Forbidden:
    try:
        return parse_forbidden(client.call("NamespaceService/GetNamespace", {"path": namespace}))
    except Failure:
        # The server leaves it out, and reports that then.
        return Forbidden()
