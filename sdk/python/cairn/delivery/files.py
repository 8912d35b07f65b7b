"""Files of a run: kept aside as they are at this moment, measured in the background, and then uploaded."""

from __future__ import annotations

import json
import os
import queue
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.delivery.channel import Channel
from cairn.delivery.spool import Spool
from cairn.delivery.media_types import media_type_of
from cairn.notices import warn

#: Larger ones are not copied: they are uploaded from where they are, if they are still the same then.
_COPY_BYTES_MAX = 1 << 30
#: A size that is copied quickly.
_QUICK_BYTES_MAX = 16 << 20
_WAITING_MAX = 1000
_CHUNK = 1 << 20


def is_reference(location: str) -> bool:
    """`s3://bucket/key` and the like. A drive letter is not a scheme, and `file:` is this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", location) is not None and not location.startswith("file://")


class _File(NamedTuple):
    channel: Channel
    name: str
    #: Where it was when it was given.
    path: str
    #: The link or copy of it; None when it is taken from its own place.
    kept: Path | None
    step: int | None
    kind: str
    media_type: str
    metadata: Mapping[str, str]


class FileKeeper:
    """Nothing here raises: a file that cannot be kept is reported."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[_File] = queue.Queue(_WAITING_MAX)
        self._thread: threading.Thread | None = None
        self._open = 0
        self._changed = threading.Condition()

    def keep(
        self,
        channel: Channel,
        name: str,
        location: str,
        step: int | None,
        kind: str,
        media_type: str,
        metadata: Mapping[str, str],
    ) -> bool:
        """Takes a moment for a file of any size, unless the spool is on another disk: then it is copied."""
        import hashlib  # noqa: F401  Loaded here and not by the thread that uses it, where a fork might interrupt it.

        path = location[7:] if location.startswith("file://") else location
        try:
            if not os.path.isfile(path):
                raise FileNotFoundError(2, "there is no such file")
            kept = _keep(path, channel.spool)
        except OSError as error:
            warn(f"file {name}", f'cannot keep file "{path}" as "{name}": {error.strerror or error}')
            return False
        return self._add(_File(channel, name, os.path.abspath(path), kept, step, kind, media_type, metadata))

    def keep_bytes(
        self,
        channel: Channel,
        name: str,
        content: bytes,
        step: int | None,
        kind: str,
        media_type: str,
        metadata: Mapping[str, str],
    ) -> None:
        try:
            kept = _place(channel.spool)
            kept.write_bytes(content)
        except OSError as error:
            warn(f"file {name}", f'cannot keep "{name}": {error.strerror or error}')
            return
        self._add(_File(channel, name, "", kept, step, kind, media_type, metadata))

    def _add(self, file: _File) -> bool:
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._measure, name="cairn-files", daemon=True)
                try:
                    thread.start()
                    self._thread = thread
                except RuntimeError:
                    # The interpreter is ending, and cannot start threads any more.
                    self._spool(file)
                    return True
            self._open += 1
        try:
            self._waiting.put_nowait(file)
        except queue.Full:
            warn("files", f'more than {_WAITING_MAX} files are waiting: "{file.name}" is left out')
            self._done()
            return False
        return True

    def _done(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Until every file is in the spool."""
        if self._thread is None:
            return True
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, max(0.0, timeout_s))

    def _measure(self) -> None:
        while True:
            file = self._waiting.get()
            try:
                self._spool(file)
            except OSError as error:
                warn(f"file {file.name}", f'cannot read file "{file.path}": {error.strerror or error}')
            finally:
                self._done()

    def _spool(self, file: _File) -> None:
        source = file.kept or Path(file.path)
        size, digest = _digest(source)
        if file.kept is not None:
            os.replace(file.kept, file.kept.with_name(digest))
        upload = {
            "name": file.name,
            "path": file.path,
            "spooled": file.kept is not None,
            "sizeBytes": size,
            "sha256": digest,
            "mediaType": file.media_type or media_type_of(file.path, file.name),
            "kind": file.kind,
            "step": file.step,
            "metadata": dict(file.metadata),
        }
        file.channel.upload(json.dumps(upload).encode("utf-8"))


def files_folder(spool: Spool) -> Path:
    """Where files wait to be delivered."""
    spool.make_folder()
    files = spool.folder / "files"
    files.mkdir(mode=0o700, exist_ok=True)
    return files


def _place(spool: Spool) -> Path:
    return files_folder(spool) / f"new-{os.urandom(8).hex()}"


def _keep(path: str, spool: Spool) -> Path | None:
    """A small file is copied. Of a large one a link is enough against being replaced; but writing into the file changes it."""
    kept = _place(spool)
    size = os.path.getsize(path)
    if size > _QUICK_BYTES_MAX:
        try:
            os.link(path, kept)
            return kept
        except OSError:
            if size > _COPY_BYTES_MAX:
                return None
    import shutil

    shutil.copyfile(path, kept)
    return kept


def _digest(path: Path) -> tuple[int, str]:
    import hashlib

    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while True:
            piece = file.read(_CHUNK)
            if not piece:
                return size, digest.hexdigest()
            size += len(piece)
            digest.update(piece)
