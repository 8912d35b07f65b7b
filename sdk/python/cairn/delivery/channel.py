"""One writer of one run: numbers envelopes, keeps them in the spool, and sends them in the background."""

from __future__ import annotations

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cairn import critical as guard
from cairn.critical import critical
from cairn.delivery.segment import DESCRIBE, ENVELOPE, SOURCE, UPLOAD
from cairn.delivery.spool import Spool
from cairn.failure import Failure
from cairn.login import Server
from cairn.messages import encode_envelope, encode_source
from cairn.notices import forget_warning, warn
from cairn.version import __version__

if TYPE_CHECKING:
    from cairn.delivery.delivery import FindRun, OnForbidden

_BACKOFF_S_MAX = 5.0
_REFUSED_S = 15.0
_LOOK_AGAIN_S = 0.25


def new_writer() -> str:
    """32 hex digits, new for every process that opens a run."""
    return os.urandom(16).hex()


class Report(NamedTuple):
    """The delivery of a writer's envelopes."""

    #: Whether the server has everything.
    delivered: bool
    #: Where the rest is, if it is not delivered.
    folder: Path
    #: Envelopes and files the server refused for good, and what the disk or the cap lost.
    refused: int
    dropped: int


class Waiter:
    """A thread that waits until everything was delivered. SimpleQueue may be used in a signal handler,
    threading.Event may not."""

    def __init__(self, patient: bool) -> None:
        self.patient = patient
        self._answer: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def notify(self, delivered: bool) -> None:
        self._answer.put(delivered)

    def wait(self, timeout_s: float) -> bool:
        try:
            return self._answer.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return False


class Channel:
    """Nothing here raises for a server or a disk, and nothing but `wait` and `close` waits for one."""

    def __init__(
        self,
        server: Server,
        parent: Path,
        writer: str,
        open_body: bytes,
        *,
        label: str,
        offline: bool = False,
        sync_every: bool = False,
        call_s_max: float = 30.0,
        find_run: FindRun | None = None,
        on_forbidden: OnForbidden | None = None,
        spool_bytes_max: int | None = None,
    ) -> None:
        self.writer = writer
        self.server = server
        self.label = label
        options = {} if spool_bytes_max is None else {"bytes_max": spool_bytes_max}
        self.spool = Spool(parent, writer, server, open_body, version=__version__, sync_every=sync_every, **options)
        self._offline = offline
        self._call_s_max = call_s_max
        self._find_run = find_run
        self._on_forbidden = on_forbidden
        self._seq = 0
        # Reentrant, because a signal handler may come in while this thread is inside.
        self._lock = threading.RLock()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._waiters: list[Waiter] = []
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._refused = 0
        self.run_id: str | None = None
        #: The failure of the last attempt; None after a success.
        self.trouble: Failure | None = None

    @property
    def seq(self) -> int:
        return self._seq

    def write(
        self,
        parts: bytes = b"",
        *,
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
        status: str = "",
        heartbeat_seconds: int = 0,
        ended_us: int = 0,
    ) -> None:
        """One envelope. On return it is in the spool."""
        with critical, self._lock:
            self._seq += 1
            seq = self._seq
            body = encode_envelope(
                self.writer,
                seq,
                parts,
                params=params,
                tags=tags,
                status=status,
                heartbeat_seconds=heartbeat_seconds,
                ended_us=ended_us,
            )
            self.spool.append(ENVELOPE, seq, body)
        self._nudge()

    def add_source(self, source_id: str, artifact: str = "") -> None:
        with critical:
            self.spool.append(SOURCE, 0, encode_source(source_id, artifact))
        self._nudge()

    def describe(self, request: bytes) -> None:
        """A metric key: cairn.v1.DescribeKeyRequest."""
        with critical:
            self.spool.append(DESCRIBE, 0, request)
        self._nudge()

    def upload(self, description: bytes) -> None:
        with critical:
            self.spool.append(UPLOAD, 0, description)
        self._nudge()

    def start(self) -> None:
        """Opens the run at the server also when there is nothing to send yet."""
        self._nudge()

    def _nudge(self) -> None:
        if self._offline or self._stopping:
            return
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    thread = threading.Thread(target=self._transmit, name="cairn-transmit", daemon=True)
                    try:
                        thread.start()
                        self._thread = thread
                    except RuntimeError:
                        # The interpreter is ending, or has no thread left: the spool has it.
                        return
        if self._wake.empty():
            self._wake.put(None)

    def wait(self, timeout_s: float, *, patient: bool = True) -> bool:
        """Whether everything was delivered in time. Unless `patient`, False at the first failure."""
        if self._thread is None or not self._thread.is_alive():
            return self.spool.is_empty
        waiter = Waiter(patient)
        self._waiters.append(waiter)
        self._nudge()
        delivered = waiter.wait(timeout_s)
        self._answer([waiter], delivered)
        return delivered

    def close(self, timeout_s: float, troubled_s: float | None = None) -> Report:
        """Delivers what it can within the time, and says what is left. A server that fails gets less time."""
        begun = time.monotonic()

        def left_s() -> float:
            limit_s = timeout_s if self.trouble is None or troubled_s is None else min(timeout_s, troubled_s)
            return max(0.0, begun + limit_s - time.monotonic())

        if self._offline:
            pass
        elif self._thread is None or not self._thread.is_alive():
            # The interpreter is ending, and cannot start threads any more.
            self._transmit(left_s)
        else:
            while not self.wait(min(_LOOK_AGAIN_S, left_s())) and left_s() > 0:
                pass
        self._stopping = True
        self._wake.put(None)
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            # It ends at once unless a call is in flight, whose result is ignored.
            thread.join(0.5 if self.trouble is None else 0.05)
        delivered = self.spool.close()
        return Report(delivered, self.spool.folder, self._refused, self.spool.dropped)

    def _transmit(self, left_s: Callable[[], float] | None = None) -> None:
        """Forever in its own thread; with `left_s` until everything was delivered or no time is left."""
        # Here, because it costs more than a first log() may take. A fork meanwhile would leave half-loaded modules to the
        # child, for good: so it waits.
        with guard.loading:
            from cairn.client import Client
            from cairn.delivery.delivery import Delivery

        client = Client(self.server, timeout_s=self._call_s_max)
        spool = self.spool
        delivery = Delivery(
            client,
            spool.folder,
            spool.open_body,
            label=self.label,
            find_run=self._find_run,
            on_forbidden=self._on_forbidden,
        )
        failures = 0
        while not self._stopping and (left_s is None or left_s() > 0):
            waiting = list(self._waiters)
            try:
                self.run_id = delivery.open()
                spool.keep_server()
                frame = spool.peek()
                if frame is not None:
                    delivery.deliver(frame)
                    spool.done(frame)
            except Failure as failure:
                failures += 1
                self._trouble(failure)
                self._pause(failure, failures, left_s)
                continue
            except Exception as error:
                # A bug must not end delivery: it is reported, and delivery is retried slowly.
                failures += 1
                self._trouble(Failure("internal", f"cannot send: {type(error).__name__}: {error}"))
                self._pause(Failure("unauthenticated", ""), failures, left_s)
                continue
            failures = 0
            self._refused = delivery.refused
            if self.trouble is not None:
                self.trouble = None
                forget_warning(f"away {self.server.url}")
            if frame is None:
                self._answer(waiting, True)
                if left_s is not None:
                    break
                self._sleep(None)
        client.close()

    def _trouble(self, failure: Failure) -> None:
        self.trouble = failure
        about = f"away {self.server.url}" if not failure.is_refusal else f"refusal {self.server.url}"
        warn(
            about,
            f"{failure}; run {self.label} continues, its points are kept in {self.spool.folder} until they can be sent",
        )
        self._answer([waiter for waiter in list(self._waiters) if not waiter.patient], False)

    def _answer(self, waiting: list[Waiter], delivered: bool) -> None:
        for waiter in waiting:
            try:
                self._waiters.remove(waiter)
            except ValueError:
                continue
            waiter.notify(delivered)

    def _pause(self, failure: Failure, failures: int, left_s: Callable[[], float] | None) -> None:
        if failure.is_refusal:
            pause_s = _REFUSED_S
        elif failure.retry_after_s is not None:
            pause_s = failure.retry_after_s
        else:
            pause_s = min(_BACKOFF_S_MAX, 0.1 * 2 ** min(failures, 10))
        if left_s is not None:
            pause_s = min(pause_s, left_s())
        until = time.monotonic() + pause_s * random.uniform(0.5, 1.0)
        # New frames wake the thread, but do not make it hammer on a server that is away.
        while not self._stopping:
            left = until - time.monotonic()
            if left <= 0:
                return
            self._sleep(left)
            self._answer([waiter for waiter in list(self._waiters) if not waiter.patient], False)

    def _sleep(self, timeout_s: float | None) -> None:
        try:
            self._wake.get(timeout=timeout_s)
        except queue.Empty:
            pass

    def forget(self) -> None:
        """In a forked child: all of this belongs to the parent."""
        self.spool.forget()
        self._lock = threading.RLock()
        self._wake = queue.SimpleQueue()
        self._waiters = []
        self._thread = None
        self._stopping = True
