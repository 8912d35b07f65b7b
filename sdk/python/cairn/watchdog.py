"""Closes connections whose answer takes too long in all, also when bytes keep arriving."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from typing import Optional

_Job = Optional[tuple[http.client.HTTPConnection, float]]


class Watchdog:
    """One thread for all calls of a client: an interpreter that is ending cannot start another."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._is_started = False

    def watch(self, connection: http.client.HTTPConnection, limit_s: float) -> None:
        if not self._is_started:
            try:
                threading.Thread(target=_guard, args=(self._jobs,), name="cairn-watchdog", daemon=True).start()
            except RuntimeError:
                # Each read still has its own limit.
                return
            self._is_started = True
        self._jobs.put((connection, time.monotonic() + limit_s))

    def rest(self) -> None:
        if self._is_started:
            self._jobs.put(None)


def _guard(jobs: queue.SimpleQueue[_Job]) -> None:
    job = jobs.get()
    while True:
        if job is None:
            job = jobs.get()
            continue
        connection, until = job
        try:
            job = jobs.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            _cut(connection)
            job = None


def _cut(connection: http.client.HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
