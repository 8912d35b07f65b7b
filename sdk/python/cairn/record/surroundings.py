"""What is captured about how a run is made, on its way into the spool.

It goes with the frame that opens the run if it is there in time, else into an envelope, which fills in what the run does not
have yet. So neither an early artifact nor a slow git can lose it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cairn import critical
from cairn.capture.captured import Captured
from cairn.notices import warn
from cairn.wire import message

_CAPTURED_FIELD = 14
#: How long the first frame waits for it.
_OPEN_S = 0.8
#: How long the end of a run waits for it, and on a very busy machine until at least the command can be taken.
_END_S = 1.0
_LOAD_S = 4.0
#: The program has priority: collecting keeps the interpreter busy for a while.
_HEAD_START_S = 0.03


class Surroundings:
    """Used by the thread that collects, and by the one that ends the run."""

    def __init__(self, captured: Captured | None, *, needs_envelope: bool) -> None:
        self._captured = captured
        self._begun = time.monotonic()
        #: Whether the run may be there already: then what opens it changes nothing.
        self.needs_envelope = needs_envelope
        self._is_complete = False
        #: Whether there is something that no frame has.
        self._has_news = False
        self._thread: threading.Thread | None = None
        if captured is not None:
            self._thread = threading.Thread(target=self._collect, name="cairn-provenance", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None

    def _collect(self) -> None:
        assert self._captured is not None
        try:
            time.sleep(_HEAD_START_S)
            with critical.loading:
                self._captured.load()
            self._captured.collect()
        except Exception as error:
            warn("provenance", f"cannot record the surroundings of the run: {type(error).__name__}: {error}")
        self._is_complete = self._has_news = True

    @property
    def is_ready(self) -> bool:
        """Whether it is complete, or takes too long for the first frame to wait for it."""
        return self._thread is None or self._is_complete or time.monotonic() >= self._begun + _OPEN_S

    def wait(self, *, at_end: bool = False) -> None:
        thread, captured = self._thread, self._captured
        if thread is None or captured is None:
            return
        limit_s = _END_S if at_end else _OPEN_S
        thread.join(max(0.0, self._begun + limit_s - time.monotonic()))
        while at_end and not captured.is_loaded and thread.is_alive() and time.monotonic() < self._begun + _LOAD_S:
            thread.join(0.02)

    def for_open(self, without_patch: str = "") -> bytes:
        """cairn.v1.Provenance for the first frame; empty when it is not there yet."""
        if self._captured is None or not self._is_complete:
            return b""
        self._has_news = self.needs_envelope
        return self._captured.encode(without_patch)

    def for_envelope(self, without_patch: str = "", *, at_end: bool = False) -> bytes:
        """The field of an envelope; empty when there is nothing new. At the end what is missing is said to be missing."""
        if self._captured is None or not (self._has_news if self._is_complete else at_end):
            return b""
        self._has_news = False
        return message(_CAPTURED_FIELD, self._captured.encode(without_patch))

    def has_forked(self) -> None:
        """A child may open the run before its parent does."""
        if not self.needs_envelope:
            self.needs_envelope = True
            self._has_news = self._is_complete

    def add(self, change: Callable[[Captured], None]) -> None:
        """Something that was captured later, such as an archive."""
        if self._captured is not None:
            change(self._captured)
            self._has_news = self._is_complete
