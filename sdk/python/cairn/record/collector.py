"""Between a run and its channel: gathers what is logged, and brings it into the spool at least once a second."""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cairn.capture.captured import Captured
from cairn.critical import critical
from cairn.delivery.channel import Channel, Report, new_writer
from cairn.delivery.files import FileKeeper
from cairn.forbidden import Forbidden
from cairn.login import Server
from cairn.messages import encode_create_run
from cairn.notices import warn
from cairn.record.buffer import Buffer
from cairn.record.lines import LINES_MAX, Lines
from cairn.record.pending import Part, Pending, envelopes, series_parts
from cairn.record.surroundings import Surroundings
from cairn.wire import message

COLLECT_S = 1.0
_STATED_FIELD = 15
#: How long lines wait in memory for a server that may forbid them.
_ANSWER_S = 2.0


class Plan(NamedTuple):
    """What a collector needs to know about its run."""

    server: Server
    spool: Path
    label: str
    #: Everything of the first frame except what is collected in the background.
    encode_open: Callable[[bytes], bytes]
    #: That; None for nothing.
    captured: Captured | None
    #: Whether the run may be there already.
    may_exist: bool
    labels: dict[str, str]
    rank: int | None
    #: A run that was ended before is set back to running.
    revives: bool
    offline: bool
    sync_every: bool
    heartbeat_s: int
    ends_run: bool = True
    #: What is captured, as `init` names it.
    captures: frozenset[str] = frozenset()
    #: What is known before the run is opened.
    forbidden: Forbidden = Forbidden()


class Collector:
    """`lock` guards buffer, lines and pending. Nothing here raises for a server or a disk."""

    def __init__(self, plan: Plan, writer: str) -> None:
        self._plan = plan
        self._writer = writer
        self._open_body: bytes | None = None
        self._keeps_alive = plan.heartbeat_s > 0
        #: What must not be captured, as far as the server has said so. It is never taken back.
        self.forbidden = Forbidden()
        self._answer_until = clock.monotonic() + (0.0 if plan.offline or plan.sync_every else _ANSWER_S)
        self._forbid(plan.forbidden, False)
        self._begin_process()
        # Of many ranks only the first sends it also where another process has opened the run.
        is_first = plan.ends_run or plan.rank in (None, 0)
        self.surroundings = Surroundings(plan.captured, needs_envelope=plan.may_exist and is_first)

    def _begin_process(self) -> None:
        """All that belongs to one process: a fork creates it again."""
        self._pid = os.getpid()
        # Reentrant: a signal handler may come in while its own thread is inside.
        self.lock = threading.RLock()
        self._collect_lock = threading.RLock()
        self.buffer = Buffer(self._plan.labels)
        self.lines = Lines(self._plan.rank)
        self.pending = Pending()
        self.channel: Channel | None = None
        self.files = FileKeeper()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.due_us = clock.time_ns() // 1000 + int(COLLECT_S * 1e6)
        self._wrote_at = clock.monotonic()

    def start(self, at_exit: Callable[[], object]) -> None:
        """Collects from now on. `at_exit` is called when a child of multiprocessing leaves: it does so without atexit."""
        if self._thread is not None or self._stop.is_set():
            return
        thread = threading.Thread(target=self._collect_often, name="cairn-collect", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is ending, and the end collects.
            return
        self._thread = thread
        if "multiprocessing.util" in sys.modules:
            from multiprocessing import parent_process
            from multiprocessing.util import Finalize

            if parent_process() is not None:
                Finalize(None, at_exit, exitpriority=100)

    @property
    def is_offline(self) -> bool:
        return self._plan.offline

    @property
    def is_started(self) -> bool:
        return self._thread is not None

    def open(self) -> Channel:
        """The channel to the server, created on first use."""
        channel = self.channel
        if channel is not None:
            return channel
        with self._collect_lock:
            if self.channel is None:
                if self._open_body is None:
                    self._open_body = self._plan.encode_open(self.surroundings.for_open(self._without_patch))
                self.channel = Channel(
                    self._plan.server,
                    self._plan.spool,
                    self._writer,
                    self._open_body,
                    label=self._plan.label,
                    offline=self._plan.offline,
                    sync_every=self._plan.sync_every,
                    on_forbidden=self._forbid,
                )
            return self.channel

    @property
    def _without_patch(self) -> str:
        namespace = self.forbidden.code
        return f'namespace "{namespace}" forbids code capture' if namespace else ""

    def collect(self, force: bool = False, *, at_end: bool = False) -> bool:
        """Brings what waits into the spool. False when it had to be left for a later time."""
        if self._pid != os.getpid() or not (force or self._is_ready()):
            return False
        with critical:
            if not self._acquire_both(2.0 if force else 0.2):
                return False
            try:
                try:
                    columns = self.buffer.take()
                    lines = iter(()) if self._holds_lines(force) else self._take_lines()
                    pending, self.pending = self.pending, Pending()
                    self.due_us = clock.time_ns() // 1000 + int(COLLECT_S * 1e6)
                finally:
                    self.lock.release()
                channel = self.open()
                # Alone in an envelope, so that the server can refuse nothing else with it.
                captured = self.surroundings.for_envelope(self._without_patch, at_end=at_end)
                if captured:
                    self._write(channel, captured)
                if pending.stated:
                    self._write(channel, message(_STATED_FIELD, b"".join(pending.stated)))
                for source_id, artifact in pending.sources:
                    channel.add_source(source_id, artifact)
                for description in pending.descriptions:
                    channel.describe(description)
                for parts in envelopes(chain(pending.parts(), lines, series_parts(columns))):
                    self._write(channel, parts)
                if channel.seq == 0:
                    # Reports that the run exists and is alive.
                    self._write(channel)
            finally:
                self._collect_lock.release()
            return True

    def _holds_lines(self, force: bool) -> bool:
        """Whether lines wait for the first answer of the server, so that what it forbids is not sent."""
        if force or len(self.lines) >= LINES_MAX or clock.monotonic() >= self._answer_until:
            return False
        return self.channel is None or self.channel.run_id is None

    def _take_lines(self) -> Iterator[Part]:
        return self.lines.take(captured=not self.forbidden.console)

    def _forbid(self, found: Forbidden, was_sent: bool) -> None:
        """Called when the server forbids capture, or has left it out. Takes no lock: others may wait for this thread."""
        known = self.forbidden
        self.forbidden = Forbidden(known.console or found.console, known.code or found.code)
        captures = self._plan.captures
        Forbidden(
            found.console if was_sent or "console" in captures else "",
            found.code if was_sent or "code" in captures else "",
        ).warn()

    def _write(self, channel: Channel, parts: bytes = b"") -> None:
        status = "running" if channel.seq == 0 and self._plan.revives else ""
        channel.write(parts, status=status, heartbeat_seconds=self._plan.heartbeat_s if self._keeps_alive else 0)
        self._wrote_at = clock.monotonic()

    def _acquire_both(self, timeout_s: float) -> bool:
        """A signal handler may run on a thread that holds the inner lock and cannot continue: so the outer one is released
        while the inner one is not available."""
        until = clock.monotonic() + timeout_s
        while True:
            left_s = until - clock.monotonic()
            if left_s <= 0 or not self._collect_lock.acquire(timeout=left_s):
                return False
            if self.lock.acquire(timeout=0.05):
                return True
            self._collect_lock.release()

    def _collect_often(self) -> None:
        while not self._stop.wait(COLLECT_S if self._is_ready() else 0.05):
            try:
                self.collect()
                if self._keeps_alive and clock.monotonic() - self._wrote_at >= self._plan.heartbeat_s:
                    self._write(self.open())
            except Exception as error:
                warn("collect", f"cannot collect points: {type(error).__name__}: {error}")

    def _is_ready(self) -> bool:
        return self._open_body is not None or self.surroundings.is_ready

    def flush(self, timeout_s: float) -> bool:
        """Whether the server has everything that was given before."""
        until = clock.monotonic() + timeout_s
        self.surroundings.wait()
        if not self.collect(force=True) or self.channel is None:
            return False
        self.files.wait(until - clock.monotonic())
        return self.channel.wait(until - clock.monotonic())

    def stop(self) -> None:
        self._keeps_alive = False
        self._stop.set()

    def close(self, status: str, timeout_s: float, troubled_s: float) -> Report | None:
        """The final envelope. A server that already fails is not waited for as long as a healthy one."""
        until = clock.monotonic() + timeout_s
        self.stop()
        self.surroundings.wait(at_end=True)
        if not self.collect(force=True, at_end=True) or self.channel is None:
            return None
        self.files.wait(until - clock.monotonic())
        if status:
            # Alone in its envelope, so that nothing else can make the server refuse it.
            self.channel.write(status=status, ended_us=clock.time_ns() // 1000)
        left_s = max(0.0, until - clock.monotonic())
        return self.channel.close(left_s, troubled_s)

    def after_fork(self) -> None:
        """In the child: its own writer, and none of the pending data of the parent."""
        run_id = None
        if self.channel is not None:
            run_id = self.channel.run_id
            self.channel.forget()
        if run_id is not None:
            self._open_body = encode_create_run(aliases=(f"id:{run_id}",))
        elif self._open_body is None:
            self._open_body = self._plan.encode_open(self.surroundings.for_open(self._without_patch))
        self.surroundings = Surroundings(None, needs_envelope=False)
        # A new writer that logs a lower step would count as a restart and hide points of others: so it has its own series.
        labels = {**self._plan.labels, "process": _process_name()}
        self._plan = self._plan._replace(revives=False, labels=labels)
        self._writer = new_writer()
        self._keeps_alive = False
        self._begin_process()


def _process_name() -> str:
    """Of a forked child: as multiprocessing calls it, or by its number."""
    if "multiprocessing.process" in sys.modules:
        from multiprocessing.process import current_process, parent_process

        if parent_process() is not None:
            return current_process().name
    return f"fork-{os.getpid()}"
