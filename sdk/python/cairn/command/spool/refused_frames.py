"""What servers refused for good: kept in the folder of its writer, each frame with the reason beside it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.delivery.delivery import Delivery
from cairn.delivery.refused import describe_frame
from cairn.delivery.segment import DESCRIBE, ENVELOPE, SOURCE, UPLOAD, Frame, read_frame
from cairn.failure import Failure
from cairn.messages import encode_run_ref
from cairn.wire import message, number, read_fields, text

#: Of cairn.v1.Envelope: the writer and its number, the status, what is lost, and the promise of a heartbeat.
_WRITER, _SEQ, _STATUS, _LOST, _HEARTBEAT = 2, 3, 7, 8, 9
_RUNNING = 2


class RefusedFrame(NamedTuple):
    path: Path
    #: Such as `artifact "model.pt"`.
    what: str
    #: These are "" where they were not recorded.
    why: str
    server: str
    run: str

    def json(self) -> dict[str, Any]:
        return {**self._asdict(), "path": str(self.path)}


def list_refused(folder: Path) -> list[RefusedFrame]:
    """Envelopes in their order, then the others."""
    try:
        paths = [path for path in (folder / "refused").iterdir() if path.suffix == ".frame"]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_read(path) for path in sorted(paths, key=_order)]


def _order(path: Path) -> tuple[bool, int, str]:
    is_number = re.fullmatch(r"\d{1,15}", path.stem) is not None
    return not is_number, int(path.stem) if is_number else 0, path.name


def _read(path: Path) -> RefusedFrame:
    frame = _frame(path)
    what = describe_frame(frame) if frame is not None else "a frame"
    try:
        said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return RefusedFrame(path, *(str(said[name]) for name in ("what", "why", "server", "run")))
    except (OSError, ValueError, KeyError, TypeError):
        return RefusedFrame(path, what, "", "", "")


def _frame(path: Path) -> Frame | None:
    try:
        found = read_frame(path.read_bytes(), 0)
    except OSError:
        return None
    return found[0] if found is not None else None


def remove_refused(refused: RefusedFrame) -> None:
    for path in (refused.path, refused.path.with_suffix(".json")):
        try:
            path.unlink()
        except FileNotFoundError:
            pass


class _Again(Delivery):
    """Sends frames of a run that is known."""

    def __init__(self, client: Client, refused: RefusedFrame) -> None:
        # The folder of the writer is two levels above the file.
        super().__init__(client, refused.path.parent.parent, b"", label=refused.run)
        self.run_id = refused.run

    def send(self, frame: Frame) -> None:
        run_id = self.open()
        if frame.kind == ENVELOPE:
            self._client.call_binary("MetricService/WriteEnvelope", encode_run_ref(run_id) + _alone(frame.body))
        elif frame.kind == UPLOAD:
            self._upload(run_id, json.loads(frame.body))
        elif frame.kind == SOURCE:
            self._client.call_binary("LineageService/AddSource", encode_run_ref(run_id) + message(2, frame.body))
        elif frame.kind == DESCRIBE:
            self._client.call_binary("MetricService/DescribeKey", frame.body)
        else:
            raise ValueError("this version does not know what it is; a later one may send it")


def retry_refused(client: Client, refused: RefusedFrame) -> None:
    """Sends it once more. Raises with the reason when it is refused again, or cannot be sent."""
    frame = _frame(refused.path)
    if frame is None:
        raise ValueError("the file is damaged")
    if not refused.run and frame.kind != DESCRIBE:
        raise ValueError("its run was not written down")
    _Again(client, refused).send(frame)


def _alone(body: bytes) -> bytes:
    """The number of the envelope was declared lost, so that it cannot be used again. Its content gets a writer of its
    own, of which it is the only envelope: sent twice, it is still stored once."""
    parts = [text(_WRITER, hashlib.sha256(body).hexdigest()[:32]), number(_SEQ, 1)]
    for field, value in read_fields(body):
        # What it says about the moment is over: a run that has ended does not run again.
        if field in (_WRITER, _SEQ, _LOST, _HEARTBEAT) or (field == _STATUS and value == _RUNNING):
            continue
        parts.append(message(field, value) if isinstance(value, bytes) else number(field, value))
    return b"".join(parts)


def reason_of(thrown: Exception) -> str:
    return str(thrown.args[0]) if isinstance(thrown, Failure) else str(thrown)
