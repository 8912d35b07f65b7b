"""The runs a tracker writes to, each through its own channel, and the one client it reads with."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from cairn.client import Client
from cairn.delivery.channel import Channel, new_writer
from cairn.ending import let_go, watch_over
from cairn.failure import Failure
from cairn.job_runs import tracker_ends
from cairn.messages import encode_create_run
from cairn.notices import warn
from cairn.provenance import encode_stated
from cairn.record.buffer import Buffer
from cairn.record.metric_values import Meaning, Media, expand, is_metric
from cairn.record.pending import Pending, envelopes, series_parts
from cairn.record.values import cut_text, to_json, to_key
from cairn.run_statements import role_field
from cairn.tracker.config import TrackerConfig, name_of
from cairn.tracker.job import begin_job
from cairn.tracker.names import RUN_ID_TAG, to_alias
from cairn.wire import message

_OPEN_MAX = 16
_CALL_S = 10.0
_EXIT_S = 10.0
_TROUBLED_S = 2.0
_TAG_BYTES_MAX = 8 << 10
_STATED_FIELD = 15


class TrackedRuns:
    """Safe for threads, and after a fork the child begins with its own channels."""

    def __init__(self, config: TrackerConfig) -> None:
        self._config = config
        self.namespace = config.namespace
        self._begin_process()
        self._status = ""
        self._is_watched = False
        #: Of the job that this process is part of: what is captured, and its end.
        self._job_run = begin_job(config)
        if self._job_run is not None:
            self._watch()

    def _watch(self) -> None:
        if not self._is_watched:
            self._is_watched = True
            watch_over(self)

    def _begin_process(self) -> None:
        self._lock = threading.RLock()
        self._channels: dict[str, Channel] = {}
        self._client = Client(self._config.server, timeout_s=_CALL_S)
        #: Runs for which the server was away when it was last waited for.
        self._away: set[str] = set()
        self._steps: dict[str, int] = {}
        self._wrote_job = False
        #: Requests that describe keys, each sent once.
        self._described: set[bytes] = set()

    def write(self, run_id: str, parts: bytes) -> None:
        """One envelope."""
        channel = self._channel(run_id)
        channel.write(parts)
        self._settle(run_id, channel)

    def add_source(self, run_id: str, source: str, artifact: str) -> None:
        """An artifact with the name of a role, such as "training_data", states that it was used as that, too."""
        channel = self._channel(run_id)
        channel.add_source(source, artifact)
        field = role_field(artifact)
        if field is not None:
            channel.write(message(_STATED_FIELD, encode_stated(**{field: source})))
        self._settle(run_id, channel)

    def add_values(self, run_id: str, values: Mapping[str, object]) -> None:
        """Params; a value that is a metric becomes a point of a series, one step further each time."""
        pending, buffer = Pending(), Buffer({})
        with self._lock:
            step = self._steps.get(run_id, 0)
        has_metrics = False
        described: list[bytes] = []
        for key, value in values.items():
            name = to_key(key)
            if not is_metric(value):
                pending.params[name], changed = to_json(value)
                pending.mark_text(name, changed)
                continue
            has_metrics = True
            for series, part in expand(name, value):
                if isinstance(part, Meaning):
                    described.append(part.encode(self._namespace_of(run_id), series))
                elif isinstance(part, Media):
                    pending.artifacts.append(part.encode(series, step))
                elif not buffer.add(series, part, step, time.time_ns() // 1000, None):
                    warn(f"value {series}", f'"{series}" is left out: a {type(part).__name__} is not a value of a series')
        if has_metrics:
            with self._lock:
                self._steps[run_id] = step + 1
        channel = self._channel(run_id)
        for body in envelopes((*pending.parts(), *series_parts(buffer.take()))):
            channel.write(body)
        for request in described:
            if request not in self._described:
                self._described.add(request)
                channel.describe(request)
        self._settle(run_id, channel)

    def _namespace_of(self, run_id: str) -> str:
        """Where a run is created."""
        return self._config.job_namespace if run_id == self._config.job_id else self._config.namespace

    def _channel(self, run_id: str) -> Channel:
        with self._lock:
            channel = self._channels.pop(run_id, None)
            if channel is None:
                channel = self._open(run_id)
            # The one used last comes last.
            self._channels[run_id] = channel
            while len(self._channels) > _OPEN_MAX:
                oldest = next(iter(self._channels))
                self._channels.pop(oldest).close(self._config.wait_s)
            return channel

    def _open(self, run_id: str) -> Channel:
        config = self._config
        is_job = run_id == config.job_id
        alias = to_alias(run_id)
        body = encode_create_run(
            namespace=self._namespace_of(run_id),
            name=cut_text((config.job_name if is_job else "") or name_of(run_id), 512),
            aliases=(alias,),
            tags={RUN_ID_TAG: cut_text(run_id, _TAG_BYTES_MAX)},
            # No process is running for it that could say when it ends.
            status="" if is_job else "finished",
            started_us=time.time_ns() // 1000,
        )
        self._wrote_job = self._wrote_job or is_job
        self._watch()

        def find_run(client: Client) -> str | None:
            """A run of the subtree that has the id already: the job made it in the namespace of its experiment."""
            try:
                return str(
                    client.call("RunService/GetRun", {"run": {"alias": alias, "namespace": config.namespace}})["id"]
                )
            except Failure as failure:
                if failure.code in ("not_found", "permission_denied"):
                    return None
                raise

        channel = Channel(
            config.server,
            config.spool,
            new_writer(),
            body,
            label=name_of(run_id),
            call_s_max=_CALL_S,
            # The job creates its run there, so no rank has to look for it first.
            find_run=None if is_job else find_run,
        )
        if is_job and config.ends_run and self._job_run is None:
            # The run may be there, and may have ended.
            channel.write(status="running")
        return channel

    def _settle(self, run_id: str, channel: Channel) -> None:
        """Waits until the server has it, so that the next read sees it; not again for one that did not answer in time."""
        if run_id in self._away and not channel.spool.is_empty:
            return
        if channel.wait(self._config.wait_s, patient=False):
            self._away.discard(run_id)
        else:
            self._away.add(run_id)
            if channel.trouble is None:
                warn(
                    f"slow {channel.server.url}",
                    f"{channel.server.url} is slow: run {channel.label} continues, and is sent in the background",
                )

    def settle_all(self) -> None:
        with self._lock:
            channels = list(self._channels.items())
        for run_id, channel in channels:
            self._settle(run_id, channel)

    def find(self, run_id: str) -> dict[str, Any]:
        """The run with that id in the subtree of the namespace. Raises Failure when there is none."""
        with self._lock:
            channel = self._channels.get(run_id)
        if channel is not None:
            self._settle(run_id, channel)
            if channel.run_id is not None:
                return self.read("RunService/GetRun", {"run": {"id": channel.run_id}})
        ref = {"alias": to_alias(run_id), "namespace": self.namespace}
        try:
            return self.read("RunService/GetRun", {"run": ref})
        except Failure as failure:
            # A run that TorchX has not made is listed under its id.
            if failure.code != "not_found" or len(run_id) != 32 or not run_id.isalnum():
                raise
            return self.read("RunService/GetRun", {"run": {"id": run_id.lower()}})

    def read(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            return self._client.call(method, request)

    def pages(self, method: str, request: Mapping[str, Any], field: str) -> Iterator[Any]:
        with self._lock:
            yield from self._client.pages(method, request, field)

    def flush(self, timeout_s: float) -> bool:
        with self._lock:
            channels = list(self._channels.values())
        return all([channel.wait(timeout_s) for channel in channels])

    def finish(self, status: str = "", *, timeout_s: float | None = None) -> None:
        """Delivers what is left and says how the run of this job has ended."""
        with self._lock:
            channels, self._channels = self._channels, {}
        job = channels.get(self._config.job_id)
        if self._config.ends_run and self._wrote_job and self._job_run is None:
            job = job or self._open(self._config.job_id)
            channels[self._config.job_id] = job
            job.write(status=status or self._status or "finished", ended_us=time.time_ns() // 1000)
            self._wrote_job = False
        until = time.monotonic() + (_EXIT_S if timeout_s is None else timeout_s)
        for channel in channels.values():
            left_s = max(0.0, until - time.monotonic())
            report = channel.close(left_s, _TROUBLED_S)
            if not report.delivered:
                warn(
                    f"left {report.folder}",
                    f"run {channel.label}: not everything was delivered. The rest is kept in {report.folder}; "
                    f"`cairn sync` sends it once {channel.server.url} can be reached",
                )
        run, self._job_run = self._job_run, None
        if run is not None:
            tracker_ends(to_alias(self._config.job_id))
            run.finish(status, timeout_s=max(0.0, until - time.monotonic()))
        self._client.close()
        let_go(self)
        self._is_watched = False

    def spill(self) -> None:
        """Everything is on the disk already."""

    def end_as(self, status: str) -> None:
        self._status = status

    def has_forked(self) -> None:
        """A child writes with numbers of its own."""

    def after_fork(self) -> None:
        for channel in self._channels.values():
            channel.forget()
        self._job_run = None
        self._config = self._config._replace(ends_run=False)
        self._begin_process()
