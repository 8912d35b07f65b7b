"""Brings the frames of a spool to the server, in order, each exactly once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Optional

from cairn.client import Answer, Client, artifact_path
from cairn.delivery.owner import keep_server
from cairn.delivery.refused import Refusal, describe_frame, set_aside
from cairn.delivery.segment import DESCRIBE, ENVELOPE, SOURCE, UPLOAD, Frame
from cairn.failure import Failure
from cairn.forbidden import Forbidden, read_forbidden
from cairn.messages import encode_lost, encode_run_ref, is_automatic
from cairn.notices import warn
from cairn.wire import message, read_message, read_text

_PIECE_BYTES = 64 << 20
_UPLOAD_S_MAX = 60.0

FindRun = Callable[[Client], Optional[str]]
#: With whether the server has left something out that was sent.
OnForbidden = Callable[[Forbidden, bool], None]


class Delivery:
    """Holds its progress: the run, and the number that the server expects. For one thread."""

    def __init__(
        self,
        client: Client,
        folder: Path,
        open_body: bytes,
        *,
        label: str,
        find_run: FindRun | None = None,
        on_forbidden: OnForbidden | None = None,
    ) -> None:
        self._client = client
        self._folder = folder
        self._open_body = open_body
        self._find_run = find_run
        self._on_forbidden = on_forbidden
        #: The name of the run in warnings.
        self._label = label
        self.run_id: str | None = None
        self._expected = 1
        self.refused = 0

    def open(self) -> str:
        """The run, found or created."""
        if self.run_id is None:
            self.run_id = self._open_run()
            keep_server(self._folder, self._client.url)
        return self.run_id

    def _open_run(self) -> str:
        aliases = [alias for alias in read_message(self._open_body).get(3, []) if isinstance(alias, bytes)]
        if len(aliases) == 1 and aliases[0].startswith(b"id:"):
            return aliases[0][3:].decode("ascii")
        found = self._find_run(self._client) if self._find_run is not None else None
        if found is not None:
            return found
        answer = self._client.call_binary("RunService/CreateRun", self._open_body)
        try:
            created = read_message(answer)
            found_run = created[1][-1]
            run_id = read_text(read_message(found_run), 1) if isinstance(found_run, bytes) else ""
            forbidden = read_forbidden(created, 3)
        except (ValueError, KeyError):
            run_id, forbidden = "", Forbidden()
        if len(run_id) != 32:
            raise _not_cairn(self._client.url, "CreateRun")
        self._learn(forbidden, False)
        return run_id

    def deliver(self, frame: Frame) -> None:
        """Returns when the frame was stored, or set aside because it can never be. Else raises Failure."""
        run_id = self.open()
        try:
            if frame.kind == ENVELOPE:
                self._envelope(run_id, frame)
            elif frame.kind == UPLOAD:
                self._upload(run_id, json.loads(frame.body))
            elif frame.kind == SOURCE:
                self._client.call_binary("LineageService/AddSource", encode_run_ref(run_id) + message(2, frame.body))
            elif frame.kind == DESCRIBE:
                self._client.call_binary("MetricService/DescribeKey", frame.body)
        except Failure as failure:
            # Descriptions belong to the namespace, and who may write runs need not be allowed to describe its keys.
            is_denied = frame.kind == DESCRIBE and failure.code in ("permission_denied", "not_found")
            if not failure.is_final and not is_denied:
                raise
            if is_denied and is_automatic(frame.body):
                return
            self._set_aside(frame, failure)

    def _envelope(self, run_id: str, frame: Frame) -> None:
        if frame.seq < self._expected:
            return
        try:
            self._write(run_id, frame)
        except Failure as failure:
            if failure.reason != "SEQ_GAP" or not failure.facts.get("expected", "").isdigit():
                raise
            # Numbers were lost elsewhere, such as with a server that was set back: they are declared.
            expected = int(failure.facts["expected"])
            if expected >= frame.seq or expected == self._expected:
                raise
            self._expected = expected
            self._write(run_id, frame)
        self._expected = frame.seq + 1

    def _write(self, run_id: str, frame: Frame) -> None:
        body = encode_run_ref(run_id) + frame.body
        if frame.seq > self._expected:
            body += encode_lost(self._expected, frame.seq - 1)
        answer = self._client.call_binary("MetricService/WriteEnvelope", body)
        try:
            ack = read_message(answer)
            acknowledged = ack.get(1, [0])[-1]
            withheld = ack.get(4, [b""])[-1]
            forbidden = read_forbidden(read_message(withheld), 3) if isinstance(withheld, bytes) else Forbidden()
        except ValueError:
            acknowledged, forbidden = 0, Forbidden()
        if acknowledged != frame.seq:
            raise _not_cairn(self._client.url, "WriteEnvelope")
        self._learn(forbidden, True)

    def _learn(self, forbidden: Forbidden, was_sent: bool) -> None:
        if self._on_forbidden is not None and any(forbidden):
            self._on_forbidden(forbidden, was_sent)

    def _upload(self, run_id: str, upload: dict[str, Any]) -> None:
        path = self._folder / "files" / upload["sha256"] if upload["spooled"] else Path(upload["path"])
        size = int(upload["sizeBytes"])
        headers = {
            "x-cairn-sha256": upload["sha256"],
            "content-type": upload["mediaType"] or "application/octet-stream",
        }
        if upload["metadata"]:
            said = {name: json.loads(value) for name, value in upload["metadata"].items()}
            headers["x-cairn-metadata"] = json.dumps(said, ensure_ascii=True)
        target = artifact_path(run_id, upload["name"], upload["step"], upload["kind"])
        try:
            file = open(path, "rb")
        except OSError as error:
            raise Failure(
                "invalid_argument", f'cannot upload "{upload["name"]}": {path}: {error.strerror}', reason="FILE_GONE"
            ) from error
        with file:
            answer = self._put(target, file, size, headers)
        if answer.status != 201:
            raise self._client.failure(answer)
        try:
            stored = json.loads(answer.body)["sha256"]
        except (ValueError, KeyError, TypeError):
            stored = ""
        if stored != upload["sha256"]:
            raise _not_cairn(self._client.url, "PUT /artifacts")
        if upload["spooled"]:
            try:
                os.unlink(path)
            except OSError:
                pass

    def _put(self, target: str, file: Any, size: int, headers: dict[str, str]) -> Answer:
        if size <= _PIECE_BYTES:
            return self._client.request("PUT", target, file.read(size), headers, timeout_s=_UPLOAD_S_MAX)
        asked = {**headers, "content-range": f"bytes */{size}", "content-length": "0"}
        answer = self._client.request("PUT", target, b"", asked, timeout_s=_UPLOAD_S_MAX)
        while answer.status in (202, 409):
            offset = answer.headers.get("upload-offset", "")
            if not offset.isdigit() or int(offset) >= size:
                return answer
            file.seek(int(offset))
            piece = file.read(_PIECE_BYTES)
            if not piece:
                raise Failure(
                    "invalid_argument", f"cannot upload {target}: the file has become shorter", reason="FILE_GONE"
                )
            last = int(offset) + len(piece) - 1
            sent = {**headers, "content-range": f"bytes {offset}-{last}/{size}"}
            answer = self._client.request("PUT", target, piece, sent, timeout_s=_UPLOAD_S_MAX)
        return answer

    def _set_aside(self, frame: Frame, failure: Failure) -> None:
        """Keeps what the server will never accept, for inspection. The number of an envelope is declared lost with the next."""
        self.refused += 1
        refusal = Refusal(describe_frame(frame), str(failure), self._client.url, self.run_id or "")
        try:
            kept = f"it is kept as {set_aside(self._folder, frame, refusal)}"
        except OSError:
            kept = "it is lost"
        warn(
            f"refused {failure.reason or failure.code}",
            f"the server refuses {refusal.what} of run {self._label}: {failure}; {kept}",
        )


def _not_cairn(url: str, method: str) -> Failure:
    return Failure(
        "unavailable",
        f"cannot use {url}: its answer to {method} is not from a Cairn server",
        reason="GARBAGE",
        hint="check the address: another program may listen there, or a proxy may be in the way",
    )
