"""One run, as a training script sees it."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from cairn.delivery.channel import Report
from cairn.ending import error_lines, let_go, status_of
from cairn.notices import warn
from cairn.params import Params
from cairn.record.buffer import POINTS_MAX
from cairn.record.collector import Collector, Plan
from cairn.record.flat import flatten
from cairn.record.lines import LINES_MAX
from cairn.record.metric_values import Meaning, Media, expand
from cairn.record.values import STEP_MAX, cut_text, to_json, to_key, whole_step
from cairn.run_files import Files
from cairn.run_statements import Statements

_TAG_BYTES_MAX = 8 << 10
#: How long an end waits for a server that is in trouble already.
_TROUBLED_S = 5.0

_time_ns = clock.time_ns


class Run(Statements, Files):
    """Made by `cairn.init`. All of it may be called from any thread, and nothing raises for a server or a disk.

    After a fork the child continues to write to the same run, with its own numbers; only the process that began the run
    ends it.
    """

    def __init__(
        self,
        plan: Plan,
        writer: str,
        *,
        namespace: str,
        name: str,
        params: Mapping[str, Any],
        tags: Mapping[str, str],
        run_id: str | None,
        first_step: int,
        ends_run: bool,
        exit_s: float,
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.params = Params(self._send_params, params)
        self.tags: dict[str, str] = dict(tags)
        self._id = run_id
        self._step = first_step
        self._ends_run = ends_run
        self._exit_s = exit_s
        self._sync_every = plan.sync_every
        self._url = plan.server.url
        self._label = plan.label
        self._offline = plan.offline
        self._is_finished = False
        self._status = ""
        self._described: set[str] = set()
        self._archiving = None
        self._prints_errors = "console" in plan.captures
        #: What follows the run and ends with it: console, system metrics.
        self._followers: list[Callable[[], object]] = []
        self._collector = Collector(plan, writer)
        if plan.sync_every:
            # Every call is promised to be on the disk when it returns, so there is a file from the first on.
            self._collector.collect(force=True)
        self._collector.start(self.finish)

    @property
    def id(self) -> str | None:
        """The id the server gave; None until it has."""
        channel = self._collector.channel
        return self._id or (channel.run_id if channel is not None else None)

    @property
    def server(self) -> str:
        return self._url

    @property
    def step(self) -> int:
        """The step of the next `log` that gives none."""
        return self._step

    def log(
        self,
        values: Mapping[str, Any],
        step: int | None = None,
        *,
        labels: Mapping[str, Any] | None = None,
        time_us: int | None = None,
    ) -> None:
        """Adds a point to each series. Without a step it is the one after the last."""
        if self._is_finished:
            self._warn_finished("log")
            return
        try:
            pairs = values.items()
        except AttributeError:
            warn("log", f"log() takes a mapping of names to values, not {type(values).__name__}: nothing is logged")
            return
        now = _time_ns() // 1000
        at = now if time_us is None else time_us
        collector = self._collector
        with collector.lock:
            if step is None:
                step = self._step
            elif type(step) is not int or not -STEP_MAX <= step <= STEP_MAX:
                step = whole_step(step)
                if step is None:
                    return
            self._step = step + 1
            buffer = collector.buffer
            fast = buffer.fast if labels is None else {}
            for key, value in pairs:
                if type(value) is float:
                    appenders = fast.get(key)
                    if appenders is not None:
                        appenders[0](step)
                        appenders[1](at)
                        appenders[2](value)
                        buffer.count += 1
                        continue
                try:
                    self._add(key, value, step, at, labels)
                except Exception as error:
                    # Values may be any objects, and a training job must not end because of one.
                    warn(f"value {key!r}", f"{key!r} is left out: {type(error).__name__}: {error}")
        if buffer.count >= POINTS_MAX or now >= collector.due_us or self._sync_every:
            collector.collect()

    def _add(self, key: Any, value: Any, step: int | None, at: int, labels: Mapping[str, Any] | None) -> None:
        """The slow path, for values other than floats of a pending series."""
        collector = self._collector
        if not collector.is_started:
            collector.start(self.finish)
        if collector.buffer.add(key, value, step, at, labels):
            return
        for name, part in expand(to_key(key), value):
            if isinstance(part, Meaning):
                self._describe_metric(name, part)
            elif isinstance(part, Media):
                collector.pending.artifacts.append(part.encode(name, step))
            elif not collector.buffer.add(name, part, step, at, labels):
                warn(f"value {name}", f'"{name}" is left out: a {type(part).__name__} is not a value of a series')

    def log_surroundings(self, values: Mapping[str, float], labels: Mapping[str, str] | None = None) -> None:
        """Points with a time but no step: what was measured around the run."""
        now = _time_ns() // 1000
        with self._collector.lock:
            if not self._is_finished:
                for key, value in values.items():
                    self._collector.buffer.add(key, value, None, now, labels)

    def _send_params(self, params: Mapping[str, Any]) -> None:
        if self._is_finished:
            self._warn_finished("params")
            return
        with self._collector.lock:
            pending = self._collector.pending
            for key, value in params.items():
                name = to_key(key)
                pending.params[name], changed = to_json(value)
                pending.mark_text(name, changed)

    def merge(self, params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Params as JSON text and tags, into a run that may have been there before."""
        with self._collector.lock:
            self._collector.pending.params.update(params)
            self._collector.pending.tags.update(tags)

    def log_params_flat(self, cfg: Any, key: str = "") -> None:
        """Params from a dataclass, mapping or sequence, nested ones as `optim.lr` and `layers._0.size`."""
        self.params.update(flatten(cfg, key))

    def tag(self, tags: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        with self._collector.lock:
            for key, value in {**(tags or {}), **more}.items():
                self.tags[key] = str(value)
                self._collector.pending.tags[to_key(key)] = cut_text(str(value), _TAG_BYTES_MAX)

    def line(self, text: str, stream: str = "stdout") -> None:
        """A line of the run's log."""
        self._add_lines(text, stream, written=True)

    def printed(self, text: str, stream: str) -> None:
        """The same of something that was printed, unless the server forbids recording that."""
        if not self._collector.forbidden.console:
            self._add_lines(text, stream, written=False)

    def _add_lines(self, text: str, stream: str, *, written: bool) -> None:
        if self._is_finished:
            return
        collector = self._collector
        now = _time_ns() // 1000
        with collector.lock:
            for part in str(text).split("\n"):
                collector.lines.add(stream, part, now, written=written)
            if not collector.is_started:
                collector.start(self.finish)
        if len(collector.lines) >= LINES_MAX:
            collector.collect()

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Whether the server has everything that was logged before."""
        return self._collector.flush(timeout_s)

    def finish(self, status: str = "", *, timeout_s: float | None = None) -> Report | None:
        """Ends the run and reports what was delivered. A second call does nothing and returns None.

        Of many ranks the first one ends the run; the others only deliver, unless they failed.
        """
        if self._is_finished:
            return None
        limit_s = self._exit_s if timeout_s is None else timeout_s
        begun = clock.monotonic()
        if self._archiving is not None:
            # Before the console is let go, so that a program that is ending does not lose what it prints meanwhile.
            self._archiving.stop(limit_s / 2)
        self.stop_following()
        self._is_finished = True
        end = status or self._status or "finished"
        said = end if self._ends_run or end not in ("finished", "") else ""
        left_s = max(0.0, begun + limit_s - clock.monotonic())
        report = self._collector.close(said, left_s, _TROUBLED_S)
        let_go(self)
        if report is None:
            return None
        if not report.delivered and not self._offline:
            warn(
                f"left {report.folder}",
                f"run {self._label}: not everything was delivered. The rest is kept in {report.folder}; "
                f"`cairn sync` sends it once {self._url} can be reached",
            )
        if report.dropped:
            warn(f"dropped {report.folder}", f"run {self._label}: {report.dropped} envelopes were lost")
        return report

    def end_as(self, status: str) -> None:
        """How the run ends by default."""
        self._status = status

    def follow(self, stop: Callable[[], object]) -> None:
        """`stop` is called when the run ends, before the last points are collected."""
        self._followers.append(stop)

    def stop_following(self) -> None:
        followers, self._followers = self._followers, []
        for stop in followers:
            stop()

    def spill(self) -> None:
        """Brings what is in memory to the disk, without waiting for a server."""
        self._collector.collect(force=True)

    def after_fork(self) -> None:
        """In the child. What follows the run belongs to the parent."""
        self._id = self.id
        self._ends_run = False
        self._followers = []
        self._archiving = None
        self._status = ""
        self._collector.after_fork()

    def has_forked(self) -> None:
        if self.id is None:
            self._collector.surroundings.has_forked()

    def _warn_finished(self, what: str) -> None:
        warn(f"finished {what}", f"{what} after finish(): it is left out of run {self._label}")

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, SystemExit) and self._prints_errors:
            # It is printed after the run has ended, and another program that catches it does not print it.
            for text in error_lines(error):
                self.printed(text, "stderr")
        self.finish(status_of(error))

    def __repr__(self) -> str:
        return f"<cairn run {self._label} at {self._url}>"
