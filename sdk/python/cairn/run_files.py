"""What a run keeps of files: their content, or where they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cairn.archive.job import ARCHIVE_NAME, ArchiveJob
from cairn.capture.captured import Captured
from cairn.delivery.files import files_folder, is_reference
from cairn.messages import encode_artifact
from cairn.record.collector import Collector
from cairn.record.values import to_json, to_key

#: What may travel in an envelope; larger content is uploaded.
_CONTENT_BYTES_MAX = 256 << 10
#: How long the archive waits for other files that are read before it.
_ARCHIVE_S = 30.0


class Files:
    """A part of `cairn.run.Run`."""

    _collector: Collector
    _is_finished: bool
    _step: int
    _archiving: ArchiveJob | None

    def artifact(
        self,
        name: str,
        path_or_uri: str | os.PathLike[str],
        metadata: Mapping[str, Any] | None = None,
        *,
        step: int | None = None,
        kind: str = "file",
        media_type: str = "",
    ) -> None:
        """A file, which is uploaded in the background, or a location such as `s3://…`, which is only recorded."""
        location = os.fspath(path_or_uri)
        said = {to_key(key): to_json(value)[0] for key, value in (metadata or {}).items()}
        if is_reference(location):
            self._record(
                encode_artifact(name, step=step, kind=kind, uri=location, media_type=media_type, metadata=said)
            )
        else:
            self._collector.files.keep(self._collector.open(), name, location, step, kind, media_type, said)

    def media(
        self,
        name: str,
        content: bytes | str | os.PathLike[str],
        *,
        step: int | None = None,
        kind: str = "image",
        media_type: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """A picture, a sound, a table at a step: its bytes, or the path of a file."""
        at = max(0, self._step - 1) if step is None else step
        if not isinstance(content, (bytes, bytearray, memoryview)):
            self.artifact(name, content, metadata, step=at, kind=kind, media_type=media_type)
            return
        body = bytes(content)
        said = {to_key(key): to_json(value)[0] for key, value in (metadata or {}).items()}
        if len(body) <= _CONTENT_BYTES_MAX:
            self._record(encode_artifact(name, step=at, kind=kind, content=body, media_type=media_type, metadata=said))
        else:
            self._collector.files.keep_bytes(self._collector.open(), name, body, at, kind, media_type, said)

    def _record(self, artifact: bytes) -> None:
        if self._is_finished:
            self._warn_finished("artifact")
            return
        with self._collector.lock:
            self._collector.pending.artifacts.append(artifact)

    def archive(self, folder: str, *, anywhere: bool = False) -> None:
        """Archives a working directory in the background; unless `anywhere` only inside a git repository."""
        self._archiving = ArchiveJob(self, folder, anywhere=anywhere)

    @property
    def is_forbidden(self) -> bool:
        return bool(self._collector.forbidden.code)

    @property
    def is_answered(self) -> bool:
        channel = self._collector.channel
        return self._collector.is_offline or (channel is not None and channel.run_id is not None)

    def archive_folder(self) -> Path:
        return files_folder(self._collector.open().spool)

    def keep_archive(self, path: str) -> None:
        collector = self._collector
        kept = collector.files.keep(collector.open(), ARCHIVE_NAME, path, None, "file", "application/gzip", {})
        # It is named when it is in the spool, and not before: a kill may come at any moment.
        if not kept or not collector.files.wait(_ARCHIVE_S):
            self.note_archive("left out: it cannot be kept")
            return

        def say_where(captured: Captured) -> None:
            captured.archive = ARCHIVE_NAME

        collector.surroundings.add(say_where)

    def note_archive(self, text: str) -> None:
        self._collector.surroundings.add(lambda captured: captured.note("archive", text))

    def _warn_finished(self, what: str) -> None:
        raise NotImplementedError
