"""What is captured about how a run is made, as far as it is known.

Little is loaded with this module: a first log() must not wait for the rest, which the thread that collects loads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from cairn.provenance import Code, encode_captured

#: It is captured beside the training and delivered when it is there, so git may take its time.
_GIT_S = 5.0
_TOO_LATE = "left out: the run ended before it was collected"


class Captured:
    """Collected part by part in a thread of its own; what is there can be taken at any time. A part that fails is left out,
    with a note."""

    def __init__(
        self, chosen: frozenset[str], *, argv: list[str], folder: str, env: Mapping[str, str] | None = None
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._argv = argv
        self._folder = folder
        self._missing = [name for name in ("host", "packages", "code") if name in chosen]
        self._environment: dict[str, str] = {}
        self._command: list[str] = []
        self._code: Code | None = None
        self._user = ""
        self.archive = ""
        #: Whether what collects and redacts is loaded. Before, only notes can be taken.
        self.is_loaded = False

    def load(self) -> None:
        import cairn.capture.git
        import cairn.capture.known_secrets
        import cairn.capture.provenance  # noqa: F401

        self.is_loaded = True

    def collect(self) -> None:
        """Takes about five seconds at most. Never raises."""
        parts: dict[str, Callable[[], None]] = {
            "host": self._add_host,
            "packages": self._add_packages,
            "code": self._add_code,
        }
        for name in list(self._missing):
            try:
                parts[name]()
            except Exception as error:
                self.note(name, f"left out: {type(error).__name__}: {error}")
            self._missing.remove(name)

    def note(self, part: str, text: str) -> None:
        key = f"note:{part}"
        self._environment[key] = f"{self._environment[key]}; {text}" if key in self._environment else text

    def _add_host(self) -> None:
        from cairn.capture.provenance import chosen_variables, describe_machine, user_name

        self._user = user_name(self._env)
        self._environment.update(describe_machine())
        self._environment.update(chosen_variables(self._env))

    def _add_packages(self) -> None:
        from cairn.capture.provenance import find_packages

        self._environment.update(find_packages(sys.path))

    def _add_code(self) -> None:
        from cairn.capture.git import find_repository, read_git
        from cairn.capture.provenance import redacted_command

        self._command = redacted_command(self._argv)
        if len(self._command) < len(self._argv):
            self.note("command", f"cut off after {len(self._command)} words")
        code, notes = read_git(self._folder, _GIT_S)
        for text in notes:
            self.note("git", text)
        root = find_repository(self._folder)
        if code is not None and root is not None:
            inside = os.path.relpath(self._folder, root)
            if inside != "." and not inside.startswith(".."):
                self._environment["directory"] = inside.replace(os.sep, "/")
        self._code = code

    def encode(self, without_patch: str = "") -> bytes:
        """cairn.v1.Provenance. What is not there yet is said to be missing. `without_patch` is why the patch must not be
        kept."""
        missing = list(self._missing)
        environment, code, command = dict(self._environment), self._code, self._command
        for name in missing:
            environment[f"note:{name}"] = _TOO_LATE
        if not self.is_loaded:
            return encode_captured(environment=environment)
        from cairn.capture.git import find_repository
        from cairn.capture.known_secrets import known_secret_redactor
        from cairn.capture.provenance import redacted_command

        if "code" in missing:
            command = redacted_command(self._argv)
            if code is None and find_repository(self._folder) is not None:
                code = Code(patch_left_out="the run ended before git answered")
        scrub = known_secret_redactor(self._env)
        if code is not None:
            code = code._replace(
                repository=scrub(code.repository),
                branch=scrub(code.branch),
                dirty_patch=scrub(code.dirty_patch),
                archive=self.archive,
            )
            if without_patch:
                code = code.without_patch(without_patch)
        return encode_captured(
            code=code,
            command=[scrub(word) for word in command],
            environment={name: scrub(value) for name, value in environment.items()},
            user=scrub(self._user),
        )
