"""What jobs have left in the spool: the folders of writers, whose process may still be alive, and their frames."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from cairn.command.spool.refused_frames import list_refused
from cairn.delivery.segment import HEAD_BYTES, HEADER, OPEN, Frame, scan
from cairn.delivery.spool import host_name
from cairn.wire import read_message

_WRITER = re.compile(r"[0-9a-f]{32}")
_SEGMENT = re.compile(r"(\d{8,})\.frames")
#: How long a folder of another machine must be unchanged before its owner counts as gone.
_FOREIGN_SILENCE_S = 3_600.0


class Owner(NamedTuple):
    server: str
    #: False when no server was set: `server` is then the default one.
    server_set: bool
    host: str
    pid: int
    pid_start: str


class Segment(NamedTuple):
    frames: list[Frame]
    #: Places with data that cannot be read; a torn tail is one.
    damages: int


def list_folders(spool: Path) -> list[Path]:
    """The folders of writers that a path means: a spool, or one writer in it."""
    if _WRITER.fullmatch(spool.name):
        return [spool]
    try:
        return sorted(path for path in spool.iterdir() if _WRITER.fullmatch(path.name))
    except FileNotFoundError:
        return []


def list_segments(folder: Path) -> list[Path]:
    """From the oldest on."""
    found = [(_SEGMENT.fullmatch(path.name), path) for path in folder.iterdir()]
    return [path for _, path in sorted((int(match[1]), path) for match, path in found if match is not None)]


def read_segment(path: Path) -> Segment:
    """Raises NewerSpool. Another process may be delivering the same folder: then the segment is empty."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Segment([], 0)
    frames = scan(data).frames
    damages = 0 if data.startswith(HEADER) or not data else 1
    at = min(len(HEADER), len(data))
    for frame in frames:
        damages += frame.end - HEAD_BYTES - len(frame.body) > at
        at = frame.end
    return Segment(frames, damages + (at < len(data)))


def read_owner(folder: Path) -> Owner | None:
    """None when there is none, or it cannot be understood."""
    try:
        said: dict[str, Any] = json.loads((folder / "owner.json").read_text(encoding="utf-8"))
        return Owner(
            str(said["server"]),
            said.get("serverSet") is not False,
            str(said["host"]),
            int(said["pid"]),
            str(said["pidStart"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def is_owner_alive(folder: Path, owner: Owner | None) -> bool:
    """Whether the process that writes to the folder may still be there."""
    if owner is None or owner.host != host_name():
        return time.time() - _last_change_s(folder) < _FOREIGN_SILENCE_S
    if os.path.isdir("/proc/self"):
        start = _process_start(owner.pid)
        return start is not None and owner.pid_start in ("", start)
    try:
        # Where no start can be read, the number is all there is to go by.
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _last_change_s(folder: Path) -> float:
    last = 0.0
    for path in folder.iterdir():
        try:
            last = max(last, path.stat().st_mtime)
        except OSError:
            # Another process has delivered and removed it.
            pass
    return last


def _process_start(pid: int) -> str | None:
    """Field 22 of /proc/PID/stat; None when there is no such process."""
    try:
        # The name of the program may hold spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    # A zombie process no longer writes.
    return None if fields[0] in "ZX" else fields[19]


def run_name(open_body: bytes) -> str:
    """How the frame that opens a run calls it: its name, else its alias; "" where it has none."""
    try:
        fields = read_message(open_body)
        named = [*fields.get(2, [])[-1:], *fields.get(3, [])]
        return next((value.decode("utf-8") for value in named if isinstance(value, bytes) and value), "")
    except ValueError:
        return ""


class Left(NamedTuple):
    """What a folder holds, as far as it can be read."""

    frames: int
    damages: int
    name: str


def look_into(folder: Path) -> Left:
    """Raises NewerSpool, before anything was touched."""
    frames, damages, name = 0, 0, ""
    for path in list_segments(folder):
        segment = read_segment(path)
        damages += segment.damages
        for frame in segment.frames:
            if frame.kind != OPEN:
                frames += 1
            elif not name:
                name = run_name(frame.body)
    return Left(frames, damages, name)


def remove_folder(folder: Path) -> None:
    """Everything of it was delivered; frames that were refused keep it."""
    if list_refused(folder):
        return
    try:
        files = folder / "files"
        if files.is_dir():
            for file in files.iterdir():
                file.unlink()
            files.rmdir()
        for path in (folder / "refused", folder / "owner.json"):
            if path.is_dir():
                path.rmdir()
            elif path.exists():
                path.unlink()
        folder.rmdir()
    except OSError:
        # Something else is in it.
        pass
