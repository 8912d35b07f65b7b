"""Delivers the folder of a process that has ended. Its frames may have been delivered before, so that a number counts
as lost only when the server says that it is missing."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cairn.client import Client
from cairn.command.spool.leftovers import list_segments, read_segment, remove_folder, run_name
from cairn.delivery.delivery import Delivery
from cairn.delivery.segment import ENVELOPE, OPEN, SOURCE, UPLOAD, Frame, encode_frame
from cairn.failure import Failure

#: The description of a metric key.
DESCRIBE = 5
#: How long to retry a server that accepts nothing.
_PATIENCE_S = 3.0
_PAUSE_S_MAX = 1.0


class Refusal(NamedTuple):
    #: Such as "envelope 7".
    what: str
    why: str
    #: None where there was no disk to keep it on.
    kept: Path | None


class Counts(NamedTuple):
    envelopes: int = 0
    #: Numbers that were declared lost.
    lost: int = 0
    refused: int = 0
    uploads: int = 0
    sources: int = 0
    descriptions: int = 0
    #: Of kinds that this client does not know.
    skipped: int = 0


_COUNTED = {ENVELOPE: "envelopes", UPLOAD: "uploads", SOURCE: "sources", DESCRIBE: "descriptions"}


class LeftoverDelivery(Delivery):
    def __init__(self, client: Client, folder: Path, open_body: bytes, on_refused: Callable[[Refusal], None]) -> None:
        super().__init__(client, folder, open_body, label=run_name(open_body) or folder.name)
        self._on_refused_frame = on_refused
        self.counts = Counts()

    def deliver(self, frame: Frame) -> None:
        counted = _COUNTED.get(frame.kind)
        if counted is None:
            self._add("skipped")
            return
        before = self.refused
        if frame.kind == DESCRIBE:
            self._describe(frame)
        else:
            super().deliver(frame)
        if self.refused == before:
            self._add(counted)

    def _describe(self, frame: Frame) -> None:
        try:
            self._client.call_binary("MetricService/DescribeKey", frame.body)
        except Failure as failure:
            if not failure.is_final:
                raise
            self._set_aside(frame, failure)

    def _envelope(self, run_id: str, frame: Frame) -> None:
        # Missing numbers before it were probably delivered by the process itself.
        self._expected = frame.seq
        try:
            super()._envelope(run_id, frame)
        except Failure as failure:
            first = self._declared_before(run_id, frame.seq) if failure.reason == "SEQ_REUSED" else None
            if first is None:
                raise
            self._expected = first
            super()._write(run_id, frame)

    def _write(self, run_id: str, frame: Frame) -> None:
        lost = max(0, frame.seq - self._expected)
        super()._write(run_id, frame)
        if lost:
            self._add("lost", lost)

    def _declared_before(self, run_id: str, seq: int) -> int | None:
        """A process that died after it had declared numbers lost left the envelope in the spool without that; the
        server treats the two as different content. The first of the numbers that were declared lost
        right before this one."""
        found = self._client.call("SystemService/VerifyRun", {"run": {"id": run_id}})
        for writer in found.get("writers", []):
            for lost in writer.get("lost", []):
                if writer.get("writer") == self._folder.name and int(lost["last"]) == seq - 1:
                    return int(lost["first"])
        return None

    def _set_aside(self, frame: Frame, failure: Failure) -> None:
        self.refused += 1
        self._add("refused")
        folder = self._folder / "refused"
        digest = hashlib.sha256(frame.body).hexdigest()[:16]
        kept: Path | None = folder / (f"{frame.seq}.frame" if frame.seq else f"{digest}.frame")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / kept.name).write_bytes(encode_frame(frame.kind, frame.seq, frame.body)) if kept else None
        except OSError:
            kept = None
        self._on_refused_frame(Refusal(describe_frame(frame), str(failure.args[0]), kept))

    def _add(self, name: str, count: int = 1) -> None:
        self.counts = self.counts._replace(**{name: getattr(self.counts, name) + count})


def describe_frame(frame: Frame) -> str:
    if frame.kind == ENVELOPE:
        return f"envelope {frame.seq}"
    if frame.kind == UPLOAD:
        try:
            return f'artifact "{json.loads(frame.body)["name"]}"'
        except (ValueError, KeyError, TypeError):
            return "an upload"
    return {SOURCE: "a source", DESCRIBE: "a description of a metric"}.get(frame.kind, "a frame")


class Progress(NamedTuple):
    """What the caller learns meanwhile."""

    on_frame: Callable[[], None]
    on_refused: Callable[[Refusal], None]


def deliver_folder(client: Client, folder: Path, progress: Progress) -> LeftoverDelivery:
    """Sends all that can be read, in order, and removes what was delivered. Raises Failed when it cannot go on."""
    delivery: LeftoverDelivery | None = None
    for path in list_segments(folder):
        for frame in read_segment(path).frames:
            if frame.kind == OPEN:
                delivery = delivery or LeftoverDelivery(client, folder, frame.body, progress.on_refused)
                _patiently(delivery, None)
            elif delivery is None:
                raise Failed(None, Failure("data_loss", "cannot deliver: the run of these frames is unknown"))
            else:
                _patiently(delivery, frame)
                progress.on_frame()
        try:
            path.unlink()
        except FileNotFoundError:
            pass
    if delivery is None:
        raise Failed(None, Failure("data_loss", "cannot deliver: the run of these frames is unknown"))
    remove_folder(folder)
    return delivery


class Failed(Exception):
    def __init__(self, delivery: LeftoverDelivery | None, failure: Failure) -> None:
        super().__init__(str(failure))
        self.delivery = delivery
        self.failure = failure


def _patiently(delivery: LeftoverDelivery, frame: Frame | None) -> None:
    """Repeats what may pass, for a moment."""
    until = time.monotonic() + _PATIENCE_S
    pause_s = 0.1
    while True:
        try:
            if frame is None:
                delivery.open()
            else:
                delivery.deliver(frame)
            return
        except Failure as failure:
            left_s = until - time.monotonic()
            wait_s = failure.retry_after_s or pause_s * random.uniform(0.5, 1.0)
            if failure.is_refusal or failure.is_final or wait_s > left_s:
                raise Failed(delivery, failure) from failure
            time.sleep(wait_s)
            pause_s = min(_PAUSE_S_MAX, pause_s * 2)
