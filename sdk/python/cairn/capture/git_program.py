"""Runs git in a repository that may be untrusted.

Its configuration can name programs: hooks, filters, external diffs, file system monitors. None of them is run: each is
switched off by name for every call.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from typing import NamedTuple

ANSWER_BYTES_MAX = 1 << 20
_FILTERS_MAX = 100
_COMPLAINT_BYTES_MAX = 4 << 10
_CHUNK = 64 << 10

_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "diff.submodule=short",
    "submodule.recurse=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "color.ui=false",
)
#: Git's own variables could point it elsewhere or name programs.
_DROPPED = re.compile(r"GIT_.*|SSH_ASKPASS|LC_.*|LANGUAGE|PAGER")


class Outcome(NamedTuple):
    output: bytes = b""
    #: Of the whole output, also where that is larger than what was kept; 0 where it is unknown.
    size: int = 0
    #: Why there is no output; empty after success.
    cause: str = ""
    is_large: bool = False

    @property
    def line(self) -> str:
        """Without the line feed that ends it: a path may have others. Empty after a failure."""
        return "" if self.cause else self.output.decode("utf-8", "replace").rstrip("\n")


MISSING = Outcome(cause="git is not installed")


class Git:
    """All calls together have one deadline."""

    def __init__(self, folder: str, timeout_s: float) -> None:
        self._folder = folder
        self._until = time.monotonic() + timeout_s
        self.late = Outcome(cause=f"git took longer than {_duration(timeout_s)}")
        self._options = [part for setting in _SAFE for part in ("-c", setting)]
        self._env = {name: value for name, value in os.environ.items() if not _DROPPED.fullmatch(name)}
        self._env.update(
            LC_ALL="C",
            GIT_OPTIONAL_LOCKS="0",
            GIT_TERMINAL_PROMPT="0",
            GIT_NO_LAZY_FETCH="1",
            GIT_ALLOW_PROTOCOL="",
            GIT_ATTR_NOSYSTEM="1",
            GIT_PAGER="cat",
        )

    def below(self, folder: str) -> Git:
        """For another folder, such as a submodule, which has filters of its own. The deadline is the same."""
        other = Git(folder, 0)
        other._until, other.late = self._until, self.late
        return other

    def switch_filters_off(self, config: bytes) -> bool:
        """`config` is the answer of `git config --list --null`. False when that is impossible."""
        names = sorted(set(re.findall(rb"(?:^|\0)filter\.([^\n\0]+)\.[a-z]+(?=[\n\0])", config, re.IGNORECASE)))
        if len(names) > _FILTERS_MAX or any(b"=" in name for name in names):
            return False
        for name in names:
            for setting in ("clean=", "smudge=", "process=", "required=false"):
                self._options += ["-c", f"filter.{os.fsdecode(name)}.{setting}"]
        return True

    def ask(self, *arguments: str, bytes_max: int = ANSWER_BYTES_MAX) -> Outcome:
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            return self.late
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", *self._options, *arguments],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Its own children end with it.
                start_new_session=True,
            )
        except FileNotFoundError:
            return MISSING
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return Outcome(cause=f"git cannot be started: {error}")
        try:
            return self._read(process, bytes_max)
        finally:
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def _read(self, process: subprocess.Popen[bytes], bytes_max: int) -> Outcome:
        if not hasattr(os, "killpg"):
            return self._read_all(process, bytes_max)
        import selectors

        assert process.stdout is not None and process.stderr is not None
        kept: list[bytes] = []
        complaint = b""
        size = 0
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map():
                left_s = self._until - time.monotonic()
                if left_s <= 0:
                    _kill(process)
                    return self.late._replace(is_large=size > bytes_max)
                for key, _ in selector.select(left_s):
                    piece = os.read(key.fd, _CHUNK)
                    if not piece:
                        selector.unregister(key.fileobj)
                    elif key.fd == process.stderr.fileno():
                        complaint = (complaint + piece)[:_COMPLAINT_BYTES_MAX]
                    else:
                        # What is too large is read on, and only counted.
                        size += len(piece)
                        if size <= bytes_max:
                            kept.append(piece)
        try:
            process.wait(max(0.01, self._until - time.monotonic()))
        except subprocess.TimeoutExpired:
            _kill(process)
            return self.late
        return _outcome(process.returncode, b"".join(kept), size, complaint, bytes_max)

    def _read_all(self, process: subprocess.Popen[bytes], bytes_max: int) -> Outcome:
        try:
            output, complaint = process.communicate(timeout=max(0.01, self._until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return self.late
        return _outcome(process.returncode, output[:bytes_max], len(output), complaint, bytes_max)


def _outcome(code: int, output: bytes, size: int, complaint: bytes, bytes_max: int) -> Outcome:
    if code != 0:
        said = complaint.decode("utf-8", "replace").strip().split("\n")[0][:200]
        return Outcome(cause=f"git failed: {said or f'it ended with {code}'}")
    if size > bytes_max:
        return Outcome(size=size, cause=f"it is larger than {bytes_max >> 20} MiB", is_large=True)
    return Outcome(output, size)


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.wait()


def _duration(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"
