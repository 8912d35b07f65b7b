"""Lines that a program prints, as they are printed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from cairn.capture.secret_lines import LineRedactor

_PARTIAL_CHARACTERS_MAX = 64 << 10

OnLine = Callable[[str, str], None]


class _Tee:
    """Wraps a stream: passes everything on unchanged, and reports each complete line, without secrets."""

    def __init__(self, stream: Any, name: str, on_line: OnLine, env: Mapping[str, str]) -> None:
        self._stream = stream
        self._name = name
        self._on_line: OnLine | None = on_line
        self._redact = LineRedactor(env).redact
        self._partial = ""
        self._busy = threading.local()

    def write(self, text: Any) -> Any:
        written = self._stream.write(text)
        on_line = self._on_line
        # The callback may print something itself, which is not reported again.
        if on_line is not None and isinstance(text, str) and not getattr(self._busy, "is_inside", False):
            self._busy.is_inside = True
            try:
                self._feed(text, on_line)
            except Exception:
                # A program that prints must not fail because of a listener.
                self._on_line = None
            finally:
                self._busy.is_inside = False
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def _feed(self, text: str, on_line: OnLine) -> None:
        *whole, self._partial = (self._partial + text).split("\n")
        for line in whole:
            on_line(self._redact(_last_state(line)), self._name)
        if len(self._partial) > _PARTIAL_CHARACTERS_MAX:
            # A progress bar has only its last state; anything else is cut where it became too long.
            on_line(self._redact(_last_state(self._partial)), self._name)
            self._partial = ""

    def stop(self) -> None:
        on_line, self._on_line = self._on_line, None
        if on_line is not None and self._partial:
            on_line(self._redact(_last_state(self._partial)), self._name)
        self._partial = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)


def _last_state(line: str) -> str:
    """The text that a terminal shows for a line in which a progress bar returned to the beginning, as much as a line may
    have."""
    shown = line if "\r" not in line else line.rstrip("\r").rsplit("\r", 1)[-1]
    return shown[:_PARTIAL_CHARACTERS_MAX]


def capture_console(on_line: OnLine, env: Mapping[str, str] | None = None) -> Callable[[], None]:
    """Reports every line of standard output and error until the returned function is called. Secrets are redacted in
    the lines, including those in `env`, and not in the output."""
    env = os.environ if env is None else env
    tees: list[tuple[str, _Tee]] = []
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            tee = _Tee(stream, name, on_line, env)
            setattr(sys, name, tee)
            tees.append((name, tee))

    def stop() -> None:
        for name, tee in tees:
            tee.stop()
            # Other code may have wrapped the stream meanwhile: then ours stays, and only passes on.
            if getattr(sys, name) is tee:
                setattr(sys, name, tee._stream)

    return stop
