"""Writes a working directory as a .tar.gz, or says why not.

Owners and times are not kept, so that the same files make the same bytes: the server keeps content once, however many runs of
a sweep send it.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from cairn.archive.tar import END, file_head, link_head, padding
from cairn.archive.walk import Found, OnLeft, Walk
from cairn.capture.known_secrets import known_secret_redactor
from cairn.capture.patch import redact_file
from cairn.capture.secret_rules import RULES

ARCHIVE_BYTES_MAX = 64 << 20
FILES_MAX = 10_000
TIMEOUT_S = 10.0
_LEFT_MAX = 100
_LARGEST_SHOWN = 5
_READ_BYTES = 256 << 10
#: A log file may grow a little between two reads; more could exceed the limit on all files.
_GROWTH_BYTES_MAX = 256 << 10
_GZIP_LEVEL = 1
#: Without a time or a name, on no system in particular.
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\x03"
_TEXT_BYTES_MAX: int = RULES["files"]["textBytesMax"]


class Archive(NamedTuple):
    #: Whether there is one; else `note` says why not.
    is_made: bool
    #: How many files and links are in it.
    files: int
    #: The first of the files that are left out although nothing ignores them, each with the reason.
    left: list[tuple[str, str]]
    left_count: int
    note: str = ""


class NoArchive(Exception):
    """Ends the archive with a note."""


def archive_folder(
    folder: str,
    target: str,
    *,
    env: Mapping[str, str],
    bytes_max: int = ARCHIVE_BYTES_MAX,
    files_max: int = FILES_MAX,
    timeout_s: float = TIMEOUT_S,
) -> Archive:
    """Never raises. `target` is there when the archive is complete, and not before."""
    left: list[tuple[str, str]] = []
    left_count = 0

    def on_left(path: str, why: str) -> None:
        nonlocal left_count
        left_count += 1
        if len(left) < _LEFT_MAX:
            left.append((path, why))

    until = time.monotonic() + timeout_s

    def check_time() -> None:
        if time.monotonic() > until:
            raise NoArchive(f"the archive took longer than {timeout_s:g} s")

    temporary = f"{target}.{os.getpid()}.part"
    try:
        place = os.path.realpath(os.path.dirname(target))
        own = frozenset(os.path.join(place, os.path.basename(path)) for path in (target, temporary))
        found = _survey(folder, own, bytes_max, files_max, on_left, check_time)
        files = _write(folder, found, temporary, known_secret_redactor(env), on_left, check_time)
        os.replace(temporary, target)
        return Archive(True, files, left, left_count)
    except NoArchive as error:
        note = str(error)
    except Exception as error:
        note = f'cannot archive "{folder}": {error}'
    try:
        os.unlink(temporary)
    except OSError:
        pass
    return Archive(False, 0, left, left_count, note)


def _survey(
    folder: str,
    own: frozenset[str],
    bytes_max: int,
    files_max: int,
    on_left: OnLeft,
    check_time: Callable[[], None],
) -> list[Found]:
    """Lists everything before a byte is read, so that a directory that is too large costs little."""
    found: list[Found] = []

    def on_found(one: Found) -> None:
        found.append(one)
        if len(found) > files_max:
            raise NoArchive(
                f'"{folder}" has more than {files_max} files, most of those seen in {_crowded(found)}; '
                "list what is not code in .cairnignore"
            )

    Walk(folder, own, on_found, on_left).run(check_time)
    size = sum(one.size for one in found)
    if size > bytes_max:
        raise NoArchive(
            f'"{folder}" has {format_bytes(size)} in {len(found)} files, more than {format_bytes(bytes_max)}; '
            f"the largest are {_largest(found)}; list what is not code in .cairnignore"
        )
    return found


def _write(
    folder: str,
    found: list[Found],
    path: str,
    redact_known: Callable[[str], str],
    on_left: OnLeft,
    check_time: Callable[[], None],
) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    files = 0
    with open(descriptor, "wb") as file:
        gzip = _Gzip(file)
        for one in found:
            check_time()
            if one.target:
                gzip.write(link_head(one.path, one.target))
            elif not _add_file(gzip, folder, one, redact_known, on_left, check_time):
                continue
            files += 1
        gzip.write(END)
        gzip.finish()
    return files


class _Gzip:
    """Python's own module writes the level and the system into the head, and they differ between its versions."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._deflate = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._checksum = self._size = 0
        file.write(_GZIP_HEAD)

    def write(self, data: bytes) -> None:
        self._checksum = zlib.crc32(data, self._checksum)
        self._size += len(data)
        self._file.write(self._deflate.compress(data))

    def finish(self) -> None:
        self._file.write(self._deflate.flush())
        self._file.write(self._checksum.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little"))


def _add_file(
    gzip: _Gzip,
    folder: str,
    one: Found,
    redact_known: Callable[[str], str],
    on_left: OnLeft,
    check_time: Callable[[], None],
) -> bool:
    """A file may change while it is read: it is cut or padded to the size in the head."""
    # It was a file when it was listed, and may be a link or a pipe by now.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(os.path.join(folder, one.path), flags)
    except OSError:
        on_left(one.path, "it cannot be read")
        return False
    with open(descriptor, "rb", buffering=0) as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > one.size + _GROWTH_BYTES_MAX:
            on_left(one.path, "it changed while it was read")
            return False

        def pieces() -> Iterator[bytes]:
            at = 0
            is_short = False
            while at < facts.st_size:
                check_time()
                size = min(_READ_BYTES, facts.st_size - at)
                piece = bytes(size) if is_short else file.read(size) or b""
                if not piece:
                    is_short = True
                    on_left(one.path, "it shrank while it was read; zeros follow")
                at += len(piece)
                yield piece

        if facts.st_size > _TEXT_BYTES_MAX:
            gzip.write(file_head(one.path, facts.st_size, one.is_executable))
            for piece in pieces():
                gzip.write(piece)
            gzip.write(padding(facts.st_size))
            return True
        whole = b"".join(pieces())
        # A file with a zero byte is not text.
        content = whole if b"\0" in whole else redact_file(whole, one.path, redact_known)
        if content is not whole:
            on_left(one.path, "credentials in it are redacted")
        gzip.write(file_head(one.path, len(content), one.is_executable) + content + padding(len(content)))
        return True


def _largest(found: list[Found]) -> str:
    by_size = sorted((one for one in found if not one.target), key=lambda one: -one.size)
    return ", ".join(f'"{one.path}" ({format_bytes(one.size)})' for one in by_size[:_LARGEST_SHOWN])


def _crowded(found: list[Found]) -> str:
    """The folders at the top with the most files."""
    counts: dict[str, int] = {}
    for one in found:
        first, slash, _ = one.path.partition("/")
        folder = f"{first}/" if slash else "."
        counts[folder] = counts.get(folder, 0) + 1
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f'"{folder}" ({count})' for folder, count in ordered[:_LARGEST_SHOWN])


def format_bytes(size: float) -> str:
    """As the TypeScript client writes it."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    unit = 0
    while size >= 1023.5 and unit < len(units) - 1:
        size /= 1024
        unit += 1
    return f"{size:.{0 if unit == 0 or size >= 99.95 else 1}f} {units[unit]}"
