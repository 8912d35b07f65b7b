"""Finds what belongs into an archive, before a byte of it is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from cairn.archive.ignore_rules import IgnoreFile
from cairn.capture.git import find_repository
from cairn.capture.secret_files import is_secret_file, is_secret_folder

_IGNORE_BYTES_MAX = 1 << 20
_DEPTH_MAX = 100
#: Neither code nor data of the user.
_NEVER = frozenset({".git", ".hg", ".svn", ".jj", ".cairn", "node_modules", ".venv", "__pycache__"})


class Found(NamedTuple):
    #: Relative, with "/".
    path: str
    size: int = 0
    is_executable: bool = False
    #: Of a link; empty for a file.
    target: str = ""


class _Rules(NamedTuple):
    """An ignore file above the top sees longer paths than the walk, one below it shorter ones."""

    file: IgnoreFile
    #: Before the path of an entry for this file.
    prefix: str
    #: How many of its first characters this file does not see.
    skipped: int


class _Folder(NamedTuple):
    #: Relative to the top, empty for the top itself.
    path: str
    depth: int
    #: From the outermost to the nearest.
    rules: tuple[_Rules, ...]


OnFound = Callable[[Found], None]
#: With a path, and why it is left out although nothing ignores it.
OnLeft = Callable[[str, str], None]


class Walk:
    """Every file and link below a folder, in an order that depends on the names alone.

    The folder's own `.cairnignore` decides, and those in folders below; without one, the `.gitignore` files do, together with
    those of the repository around it.
    """

    def __init__(self, top: str, without: frozenset[str], on_found: OnFound, on_left: OnLeft) -> None:
        self._top = os.path.realpath(top)
        self._without = without
        self._on_found = on_found
        self._on_left = on_left

    def run(self, check_time: Callable[[], None]) -> None:
        device = os.stat(self._top).st_dev
        own = _read_ignore_file(os.path.join(self._top, ".cairnignore"))
        ignore_name = ".gitignore" if own is None else ".cairnignore"
        waiting = [_Folder("", 0, _outer_rules(self._top) if own is None else ())]
        while waiting:
            check_time()
            inner = self._visit(waiting.pop(), device, ignore_name)
            waiting.extend(reversed(inner))

    def _visit(self, folder: _Folder, device: int, ignore_name: str) -> list[_Folder]:
        """Reports the entries of a folder, and returns its subfolders."""
        try:
            names = os.listdir(os.path.join(self._top, folder.path))
        except OSError:
            # Without the top itself there is nothing to archive.
            if not folder.path:
                raise
            self._on_left(folder.path, "it cannot be read")
            return []
        rules = folder.rules
        if ignore_name in names:
            file = _read_ignore_file(os.path.join(self._top, folder.path, ignore_name))
            if file is not None:
                rules = (*rules, _Rules(file, "", len(folder.path) + 1 if folder.path else 0))
        inner: list[_Folder] = []
        # As JavaScript sorts: by the 16-bit units of the names.
        for name in sorted(names, key=lambda one: one.encode("utf-16-be", "surrogatepass")):
            path = f"{folder.path}/{name}" if folder.path else name
            full = os.path.join(self._top, path)
            if name in _NEVER or full in self._without:
                continue
            below = self._judge(path, full, rules, device, folder.depth + 1)
            if below is not None:
                inner.append(below)
        return inner

    def _judge(self, path: str, full: str, rules: tuple[_Rules, ...], device: int, depth: int) -> _Folder | None:
        """Reports a file or link, and returns a folder to visit."""
        try:
            path.encode("utf-8")
            facts = os.lstat(full)
        except (OSError, UnicodeEncodeError):
            self._on_left(path, "it no longer exists, or its name is not UTF-8")
            return None
        is_folder = stat.S_ISDIR(facts.st_mode)
        if _is_ignored(path, is_folder, rules):
            return None
        if is_secret_folder(path) if is_folder else is_secret_file(path.rpartition("/")[2]):
            self._on_left(path, "it may hold secrets")
        elif stat.S_ISLNK(facts.st_mode):
            target = _inner_target(self._top, path)
            if target is None:
                self._on_left(path, "it is a link to a target outside")
            else:
                self._on_found(Found(path, target=target))
        elif is_folder:
            if facts.st_dev != device:
                self._on_left(path, "it is another file system")
            elif depth > _DEPTH_MAX:
                self._on_left(path, "it is too deep")
            else:
                return _Folder(path, depth, rules)
        elif stat.S_ISREG(facts.st_mode):
            self._on_found(Found(path, facts.st_size, bool(facts.st_mode & 0o100)))
        else:
            self._on_left(path, "it is neither a file nor a folder")
        return None


def _is_ignored(path: str, is_folder: bool, rules: tuple[_Rules, ...]) -> bool:
    for file, prefix, skipped in reversed(rules):
        verdict = file.judge((prefix + path[skipped:]).encode("utf-8", "surrogateescape"), is_folder)
        if verdict is not None:
            return verdict
    return False


def _inner_target(top: str, path: str) -> str | None:
    """The target of a link, if that is inside, now and when the archive is unpacked elsewhere: so it is relative, and
    neither its text nor its resolved path leaves the top."""
    full = os.path.join(top, path)
    try:
        target = os.readlink(full)
        target.encode("utf-8")
    except (OSError, UnicodeEncodeError):
        return None
    if not target or target.startswith("/") or "\\" in target:
        return None
    if _is_outside(os.path.normpath(os.path.join(os.path.dirname(path), target))):
        return None
    if not os.path.lexists(full) or not os.path.exists(full):
        # Its target does not exist yet, and would be inside; or it leads around in a circle.
        return target if not _is_circle(full) else None
    return None if _is_outside(os.path.relpath(os.path.realpath(full), top)) else target


def _is_circle(full: str) -> bool:
    try:
        os.stat(full)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _is_outside(way: str) -> bool:
    return way == ".." or way.startswith(("../", "/"))


def _outer_rules(top: str) -> tuple[_Rules, ...]:
    """The rules of the repository that a folder is in: its own exclude file, then those of the folders down to it."""
    repository = find_repository(top)
    if repository is None:
        return ()
    sources = [(repository, ".git/info/exclude")]
    folders: list[str] = []
    at = top
    while at != repository:
        at = os.path.dirname(at)
        folders.insert(0, at)
    sources += [(folder, ".gitignore") for folder in folders]
    rules: list[_Rules] = []
    for folder, name in sources:
        file = _read_ignore_file(os.path.join(folder, name))
        if file is not None:
            way = os.path.relpath(top, folder).replace(os.sep, "/")
            rules.append(_Rules(file, "" if way == "." else f"{way}/", 0))
    return tuple(rules)


def _read_ignore_file(path: str) -> IgnoreFile | None:
    try:
        facts = os.lstat(path)
        # Git follows no links here either.
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _IGNORE_BYTES_MAX:
            return None
        with open(path, "rb") as file:
            return IgnoreFile(file.read(_IGNORE_BYTES_MAX))
    except OSError:
        return None
