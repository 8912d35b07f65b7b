"""How runs end when their process does: normally, by an exception, by a signal, or in a forked child."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol

from cairn.critical import after_fork_in_child, after_fork_in_parent, before_fork, critical
from cairn.notices import warn

#: A scheduler that sends SIGTERM kills some seconds later.
_SIGNAL_S = 5.0


class Endable(Protocol):
    """A run, or another object that has data until the end."""

    def finish(self, status: str = "", *, timeout_s: float | None = None) -> object: ...

    def spill(self) -> None:
        """Brings what is in memory to the disk, without waiting for a server."""

    def end_as(self, status: str) -> None:
        """How it ends by default."""

    def after_fork(self) -> None:
        """In the child."""

    def has_forked(self) -> None:
        """In the parent."""


_runs: set[Endable] = set()
_installed = False
_previous_hook: Callable[..., Any] = sys.excepthook
_previous_exit: Callable[..., Any] = sys.exit


def watch_over(run: Endable) -> None:
    """Ends the run with the process."""
    _runs.add(run)
    _install()


def let_go(run: Endable) -> None:
    """It has ended."""
    _runs.discard(run)


def status_of(error: BaseException | None) -> str:
    """How a run ends that an exception ended."""
    if error is None:
        return "finished"
    if isinstance(error, KeyboardInterrupt):
        return "killed"
    if isinstance(error, SystemExit):
        return "finished" if error.code in (None, 0) else "failed"
    return "failed"


def error_lines(error: BaseException) -> list[str]:
    """As Python prints it at the end, without secrets."""
    import traceback

    from cairn.capture.secret_lines import LineRedactor

    redact = LineRedactor(os.environ).redact
    printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return [redact(line) for line in printed.rstrip("\n").split("\n")]


def _install() -> None:
    global _installed, _previous_hook, _previous_exit
    if not _installed:
        _installed = True
        atexit.register(_finish_all)
        _previous_hook, sys.excepthook = sys.excepthook, _on_exception
        # An atexit handler has no other way to know the exit code.
        _previous_exit, sys.exit = sys.exit, _on_exit  # type: ignore[assignment]
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
    if threading.current_thread() is threading.main_thread():
        _install_signal()


def _install_signal() -> None:
    try:
        previous = signal.getsignal(signal.SIGTERM)
        # A program that ignores the signal keeps running; a handler that was not made by Python cannot be called from here.
        if previous in (signal.SIG_IGN, None) or getattr(previous, "__wrapped_by_cairn__", False):
            return

        def on_signal(number: int, frame: FrameType | None) -> None:
            if not critical.defer(lambda: _end_by_signal(number, frame, previous)):
                _end_by_signal(number, frame, previous)

        on_signal.__wrapped_by_cairn__ = True  # type: ignore[attr-defined]
        signal.signal(signal.SIGTERM, on_signal)
    except (ValueError, OSError):
        # Not in the main thread of the main interpreter after all.
        pass


def _end_by_signal(number: int, frame: FrameType | None, previous: Any) -> None:
    if callable(previous):
        # Another handler decides whether the process ends; pending data goes to the disk before.
        for run in list(_runs):
            run.spill()
            run.end_as("killed")
        previous(number, frame)
        for run in list(_runs):
            run.end_as("")
        return
    for run in list(_runs):
        try:
            run.finish("killed", timeout_s=_SIGNAL_S)
        except Exception as error:
            warn("signal", f"cannot end a run: {type(error).__name__}: {error}")
    # The process dies of the signal, as its parent expects it to.
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _on_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    for run in list(_runs):
        run.end_as(status_of(error))
    _previous_hook(kind, error, traceback)


def _on_exit(code: Any = None, /) -> None:
    for run in list(_runs):
        run.end_as(status_of(SystemExit(code)) if threading.current_thread() is threading.main_thread() else "")
    _previous_exit(code)


def _finish_all() -> None:
    for run in list(_runs):
        try:
            run.finish()
        except Exception as error:
            warn("exit", f"cannot end a run: {type(error).__name__}: {error}")


def _after_fork_in_parent() -> None:
    after_fork_in_parent()
    for run in list(_runs):
        run.has_forked()


def _after_fork() -> None:
    after_fork_in_child()
    for run in list(_runs):
        run.after_fork()
