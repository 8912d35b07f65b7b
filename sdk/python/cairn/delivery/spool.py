"""The spool of one writer: the data of a run goes to disk first, and to the server from there."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from cairn.delivery.owner import keep_server, write_owner
from cairn.delivery.segment import HEAD_BYTES, HEADER, OPEN, SEGMENT_BYTES_MAX, Frame, encode_frame, read_frame, scan
from cairn.login import Server
from cairn.notices import warn

SPOOL_BYTES_MAX = 1 << 30
HELD_BYTES_MAX = 64 << 20
_DISK_AGAIN_S = 5.0
_sync = getattr(os, "fdatasync", os.fsync)


def spool_folder(env: Mapping[str, str] | None = None) -> Path:
    """`$CAIRN_SPOOL`, else `$XDG_STATE_HOME/cairn/spool`, else `~/.local/state/cairn/spool`."""
    env = os.environ if env is None else env
    if env.get("CAIRN_SPOOL"):
        return Path(env["CAIRN_SPOOL"])
    state = env.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "cairn" / "spool"


def host_name() -> str:
    """Without the socket module, which takes longer to load than a first log() may take."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()


def process_start(pid: int) -> str:
    """Field 22 of /proc/<pid>/stat, where there is one: distinguishes two processes with the same number."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        # The second field is the program's name in parentheses and may hold anything.
        return stat.rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


class Spool:
    """Frames of one writer, in order. Any thread may append; one thread takes them out.

    While the disk refuses, frames are held in memory up to a limit, the oldest being dropped first, and are written once it
    accepts them again. Nothing here raises for a disk.
    """

    def __init__(
        self,
        parent: Path,
        writer: str,
        server: Server,
        open_body: bytes,
        *,
        version: str,
        sync_every: bool = False,
        bytes_max: int = SPOOL_BYTES_MAX,
        segment_bytes_max: int = SEGMENT_BYTES_MAX,
    ) -> None:
        self.folder = parent / writer
        self._owner: dict[str, object] = {
            "version": 1,
            "writer": writer,
            "server": server.url,
            "client": f"python {version}",
            "host": host_name(),
            "pid": os.getpid(),
            "pidStart": process_start(os.getpid()),
            "createdUs": time.time_ns() // 1000,
            # Else another may be chosen when it is delivered.
            "serverSet": server.is_set,
        }
        self._open = encode_frame(OPEN, 0, open_body)
        self.open_body = open_body
        self._sync_every = sync_every
        self._bytes_max = bytes_max
        self._segment_bytes_max = segment_bytes_max
        # Reentrant, because a signal handler may come in while this thread is inside.
        self._lock = threading.RLock()
        self._sizes: dict[int, int] = {}
        self._newest = 0
        self._append_fd = -1
        self._read_segment = 0
        self._read_at = 0
        self._read_fd = -1
        self._held: deque[Frame] = deque()
        self._held_bytes = 0
        self._disk_again = 0.0
        #: Frames that were dropped, because memory or the cap was full, or because they were damaged.
        self.dropped = 0
        self._began = False

    @property
    def is_empty(self) -> bool:
        with self._lock:
            return not self._held and self._unread() is None

    @property
    def holds_in_memory(self) -> bool:
        """Whether something would be lost with this process."""
        return bool(self._held)

    def append(self, kind: int, seq: int, body: bytes) -> None:
        """On return the frame is in the file, or held in memory when the disk does not take it."""
        with self._lock:
            frame = Frame(kind, seq, body)
            if self._held and time.monotonic() < self._disk_again:
                self._hold(frame)
                return
            try:
                self._recover()
                self._write(encode_frame(kind, seq, body))
            except OSError as error:
                self._fail(error)
                self._hold(frame)

    def _recover(self) -> None:
        """Held frames are written first, to keep the order."""
        while self._held:
            head = self._held[0]
            self._write(encode_frame(head.kind, head.seq, head.body))
            self._held.popleft()
            self._held_bytes -= len(head.body)

    def _hold(self, frame: Frame) -> None:
        self._held.append(frame)
        self._held_bytes += len(frame.body)
        while self._held_bytes > HELD_BYTES_MAX and len(self._held) > 1:
            gone = self._held.popleft()
            self._held_bytes -= len(gone.body)
            self.dropped += 1
            warn("held", f"memory for what the disk refuses is full: the oldest of it is lost ({self.folder})")

    def _fail(self, error: OSError) -> None:
        self._disk_again = time.monotonic() + _DISK_AGAIN_S
        warn(
            "spool",
            f'cannot write spool "{self.folder}": {error.strerror or error}; points are kept in memory meanwhile, '
            "and would be lost with this process (choose another place with CAIRN_SPOOL)",
        )
        self._close_append()

    def _write(self, data: bytes) -> None:
        size = self._sizes.get(self._newest, 0)
        if self._append_fd < 0 or (size > len(HEADER) + len(self._open) and size + len(data) > self._segment_bytes_max):
            self._start_segment()
        begun = self._sizes[self._newest]
        try:
            written = os.write(self._append_fd, data)
            while written < len(data):
                written += os.write(self._append_fd, data[written:])
            if self._sync_every:
                _sync(self._append_fd)
        except OSError:
            # Half a frame would hide the next one until a reader finds its way: take it back.
            try:
                os.ftruncate(self._append_fd, begun)
            except OSError:
                self._close_append()
            raise
        self._sizes[self._newest] = begun + len(data)

    def _start_segment(self) -> None:
        if not self._began:
            self._begin()
        self._finish_segment()
        self._make_room()
        segment = self._newest + 1
        path = self._path(segment)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            start = HEADER + self._open
            if os.write(fd, start) != len(start):
                raise OSError(28, "no space left on the disk")
        except OSError:
            os.close(fd)
            os.unlink(path)
            raise
        self._append_fd = fd
        self._newest = segment
        self._sizes[segment] = len(HEADER) + len(self._open)

    def make_folder(self) -> None:
        os.makedirs(self.folder.parent, mode=0o700, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def _begin(self) -> None:
        self.make_folder()
        write_owner(self.folder, self._owner)
        self._began = True

    def keep_server(self) -> None:
        """The server has taken something: the rest goes to it, too, also if it was not set."""
        with self._lock:
            if self._owner["serverSet"] is False:
                self._owner["serverSet"] = True
                if self._began:
                    keep_server(self.folder, str(self._owner["server"]))

    def _finish_segment(self) -> None:
        if self._append_fd >= 0:
            try:
                _sync(self._append_fd)
            finally:
                self._close_append()

    def _close_append(self) -> None:
        if self._append_fd >= 0:
            os.close(self._append_fd)
            self._append_fd = -1

    def _make_room(self) -> None:
        """Over the cap the oldest complete segment that is not being sent is dropped; the gap in the numbers shows it."""
        while sum(self._sizes.values()) > self._bytes_max:
            oldest = min((n for n in self._sizes if n != self._read_segment and n != self._newest), default=None)
            if oldest is None:
                return
            data = self._load(oldest)
            self.dropped += max(0, len(scan(data).frames) - 1)
            warn("cap", f'spool "{self.folder}" is full: its oldest points are dropped and declared lost')
            self._remove(oldest)

    def _path(self, segment: int) -> Path:
        return self.folder / f"{segment:08d}.frames"

    def _load(self, segment: int) -> bytes:
        try:
            return self._path(segment).read_bytes()
        except OSError:
            return b""

    def _remove(self, segment: int) -> None:
        self._sizes.pop(segment, None)
        try:
            os.unlink(self._path(segment))
        except OSError:
            # Remaining frames are delivered again later, which changes nothing.
            pass

    def _unread(self) -> int | None:
        """The segment in which the next frame is."""
        for segment in sorted(self._sizes):
            start = self._read_at if segment == self._read_segment else len(HEADER) + len(self._open)
            if segment >= self._read_segment and start < self._sizes[segment]:
                return segment
        return None

    def peek(self) -> Frame | None:
        """The oldest frame that was not acknowledged; open frames are left out."""
        with self._lock:
            while True:
                segment = self._unread()
                if segment is None:
                    return self._held[0] if self._held else None
                if segment != self._read_segment:
                    self._enter(segment)
                frame = self._read_next()
                if frame is not None:
                    return frame

    def _enter(self, segment: int) -> None:
        for passed in [n for n in self._sizes if n < segment]:
            self._remove(passed)
        if self._read_fd >= 0:
            os.close(self._read_fd)
        self._read_fd = -1
        self._read_segment = segment
        self._read_at = len(HEADER) + len(self._open)

    def _read_next(self) -> Frame | None:
        size = self._sizes[self._read_segment]
        try:
            if self._read_fd < 0:
                self._read_fd = os.open(self._path(self._read_segment), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            head = os.pread(self._read_fd, HEAD_BYTES, self._read_at)
            length = int.from_bytes(head[:4], "little")
            found = read_frame(head + os.pread(self._read_fd, length, self._read_at + HEAD_BYTES), 0)
            if found is not None:
                end = self._read_at + found[1]
                return found[0]._replace(segment=self._read_segment, end=end)
        except OSError:
            pass
        # Damaged or removed: search behind it for what can still be read.
        rest = self._load(self._read_segment)[: self._sizes[self._read_segment]]
        left = [
            frame for frame in scan(rest, self._read_segment).frames if frame.end > self._read_at and frame.kind != OPEN
        ]
        self.dropped += 1
        warn("damage", f'spool "{self.folder}" is damaged: what cannot be read is lost')
        if left:
            return left[0]
        self._read_at = size
        return None

    def done(self, frame: Frame) -> None:
        """The frame was delivered or set aside. One that was moved to the disk meanwhile is delivered again, which is harmless."""
        with self._lock:
            if frame.segment:
                if frame.segment == self._read_segment:
                    self._read_at = frame.end
            elif self._held and self._held[0] is frame:
                self._held.popleft()
                self._held_bytes -= len(frame.body)

    def sync(self) -> None:
        with self._lock:
            try:
                if self._append_fd >= 0:
                    _sync(self._append_fd)
            except OSError as error:
                self._fail(error)

    def close(self) -> bool:
        """No frames follow. True when everything was delivered or set aside: then the folder is removed."""
        with self._lock:
            if self._held:
                try:
                    self._recover()
                except OSError:
                    pass
            empty = self.is_empty
            try:
                self._finish_segment()
            except OSError:
                pass
            if self._read_fd >= 0:
                os.close(self._read_fd)
                self._read_fd = -1
            if empty and self._began:
                self._remove_folder()
            return empty

    def _remove_folder(self) -> None:
        for segment in list(self._sizes):
            self._remove(segment)
        files = self.folder / "files"
        try:
            if files.is_dir():
                for file in files.iterdir():
                    file.unlink()
                files.rmdir()
            # Refused frames are kept there, for inspection.
            if not (self.folder / "refused").exists():
                (self.folder / "owner.json").unlink()
                self.folder.rmdir()
        except OSError:
            pass

    def forget(self) -> None:
        """In a forked child: this spool belongs to the parent, so nothing of it is touched but the descriptors."""
        self._lock = threading.RLock()
        for descriptor in (self._append_fd, self._read_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self._append_fd = self._read_fd = -1
        self._sizes = {}
        self._held = deque()
