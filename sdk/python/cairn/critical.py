"""Stretches of the main thread in which a signal handler must not cut in: half of something is in memory, and half on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable

_main = threading.main_thread().ident


class Critical:
    """Used as `with critical:`. Python runs signal handlers on the main thread alone, between any two of its instructions; one
    that runs inside such a stretch defers its work to the end of it."""

    def __init__(self) -> None:
        self._depth = 0
        self._deferred: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        if threading.get_ident() == _main:
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        if threading.get_ident() != _main:
            return
        self._depth -= 1
        while self._depth == 0 and self._deferred:
            self._deferred.pop(0)()

    def defer(self, action: Callable[[], None]) -> bool:
        """False when there is no such stretch: then the caller can act now."""
        if self._depth == 0 or threading.get_ident() != _main:
            return False
        self._deferred.append(action)
        return True

    def after_fork(self) -> None:
        """The thread that forked is the main one now."""
        global _main
        _main = threading.get_ident()
        self._depth = 0
        self._deferred = []


critical = Critical()

#: Held while a thread of ours loads modules.
loading = threading.Lock()
_LOADING_S_MAX = 5.0
_is_held = False


def before_fork() -> None:
    global _is_held
    _is_held = loading.acquire(timeout=_LOADING_S_MAX)


def after_fork_in_parent() -> None:
    global _is_held
    if _is_held:
        _is_held = False
        loading.release()


def after_fork_in_child() -> None:
    global loading
    loading = threading.Lock()
    critical.after_fork()
