"""Archives the working directory of a run in the background, and keeps the archive with the other files of the run."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cairn import critical
from cairn.archive.program import START
from cairn.notices import warn

if TYPE_CHECKING:
    import subprocess

#: The artifact that is the working directory; the server knows it by this name.
ARCHIVE_NAME = "code/workdir.tar.gz"
_PROGRAM_S_MAX = 40.0
#: The program begins with the training, and the archive is made beside it.
_HEAD_START_S = 0.1
#: How long it waits for the server, which may forbid it.
_ANSWER_S = 2.0
#: How long the end of the run waits for it.
_END_S = 5.0


class Keeper(Protocol):
    """What an archive needs of its run."""

    @property
    def is_forbidden(self) -> bool: ...
    @property
    def is_answered(self) -> bool:
        """Whether the server has said what it forbids; also when no server is asked."""

    def archive_folder(self) -> Path:
        """Where files of the run wait to be delivered."""

    def keep_archive(self, path: str) -> None:
        """Takes the file over."""

    def note_archive(self, text: str) -> None:
        """Why there is none."""


class ArchiveJob:
    """Nothing here raises, and only `stop` waits."""

    def __init__(self, keeper: Keeper, folder: str, *, anywhere: bool) -> None:
        self._keeper = keeper
        self._folder = folder
        self._anywhere = anywhere
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ending = threading.Event()
        self._is_stopped = threading.Event()
        self._is_done = False
        self._thread = threading.Thread(target=self._run, name="cairn-archive", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._is_done = True

    def stop(self, timeout_s: float = _END_S) -> None:
        """Waits for the archive, and gives up after a moment."""
        self._is_ending.set()
        if not self._is_done:
            self._thread.join(max(0.0, min(_END_S, timeout_s)))
        if not self._is_done:
            self._is_stopped.set()
            process = self._process
            if process is not None:
                process.kill()
            self._keeper.note_archive("the run ended before the archive was made")

    def _run(self) -> None:
        try:
            if self._is_worth_it():
                self._archive()
        except Exception as error:
            if not self._is_stopped.is_set():
                self._keeper.note_archive(f"left out: {type(error).__name__}: {error}")
                warn("archive", f"cannot archive the working directory: {type(error).__name__}: {error}")
        self._is_done = True

    def _is_worth_it(self) -> bool:
        """By default only inside a repository, because anything else may be any folder at all."""
        if not self._anywhere:
            from cairn.capture.git import find_repository

            whole = os.path.abspath(self._folder)
            if whole in (os.path.abspath(os.path.expanduser("~")), os.sep) or find_repository(whole) is None:
                return False
        self._is_ending.wait(_HEAD_START_S)
        until = time.monotonic() + _ANSWER_S
        while not self._keeper.is_answered and time.monotonic() < until and not self._is_ending.wait(0.05):
            pass
        return not self._keeper.is_forbidden

    def _archive(self) -> None:
        # Here, because it costs more than a first log() may take; not during a fork, which would keep it half loaded.
        with critical.loading:
            import subprocess

        package = str(Path(__file__).resolve().parents[2])
        target = self._keeper.archive_folder() / f"workdir-{os.urandom(8).hex()}.tar.gz"
        if not sys.executable:
            raise RuntimeError("this interpreter has no program that could be started")
        words = [sys.executable, "-I", "-c", START, package, self._folder, str(target)]
        devnull = subprocess.DEVNULL
        self._process = subprocess.Popen(words, stdin=devnull, stdout=subprocess.PIPE, stderr=devnull, cwd=os.sep)
        try:
            said, _ = self._process.communicate(timeout=_PROGRAM_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            said = b""
        try:
            if self._is_stopped.is_set():
                return
            answer = json.loads(said) if said else {"note": "left out: the program that makes it has failed"}
            if not answer.get("isMade"):
                self._keeper.note_archive(answer["note"])
            # The server may have answered meanwhile.
            elif not self._keeper.is_forbidden:
                self._keeper.keep_archive(str(target))
        finally:
            target.unlink(missing_ok=True)
