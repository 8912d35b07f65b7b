"""How a command fails, and what the process ends with."""

from __future__ import annotations

import json
from typing import Any

from cairn.command.output.text import printable
from cairn.failure import Failure

#: Documented in docs/guides/cli.md.
FAILED = 1
#: The command line itself is invalid.
USAGE = 2
#: No such run, namespace or file.
NOT_FOUND = 3
#: The server refuses: no credential, or not enough rights.
REFUSED = 4
#: No server answers.
UNREACHABLE = 5
INTERRUPTED = 130

_EXITS = {
    "not_found": NOT_FOUND,
    "unauthenticated": REFUSED,
    "permission_denied": REFUSED,
    "unavailable": UNREACHABLE,
    "deadline_exceeded": UNREACHABLE,
}


class CommandError(Exception):
    """The message goes to standard error as `cairn: …`, and the hint on a line of its own."""

    def __init__(self, message: str, *, exit_code: int = FAILED, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.hint = hint


def explain(thrown: BaseException, url: str) -> CommandError:
    """Whatever a command raised, in words and with the exit code."""
    if isinstance(thrown, CommandError):
        return thrown
    if isinstance(thrown, Failure):
        return _from_server(thrown, url)
    if isinstance(thrown, FileNotFoundError):
        return CommandError(str(thrown), exit_code=NOT_FOUND)
    return CommandError(str(thrown) or type(thrown).__name__)


def _from_server(failure: Failure, url: str) -> CommandError:
    message = str(failure.args[0])
    hint = failure.hint
    if failure.code == "unauthenticated":
        hint = f"log in with `cairn login {url}`, or set CAIRN_TOKEN" if url else "log in with `cairn login URL`"
    # The server puts the hint into its message as well.
    if hint and message.endswith(f" ({hint})"):
        message = message[: -len(hint) - 3]
    return CommandError(message, exit_code=_EXITS.get(failure.code, FAILED), hint=hint)


def error_text(failure: CommandError, as_json: bool) -> str:
    """Two lines for a person, one JSON document for a program."""
    if as_json:
        said: dict[str, Any] = {"message": failure.message}
        if failure.hint:
            said["hint"] = failure.hint
        said["exitCode"] = failure.exit_code
        return json.dumps({"error": said}, ensure_ascii=False, separators=(",", ":")) + "\n"
    lines = [f"cairn: {_each_line(failure.message)}"]
    if failure.hint:
        lines.append(f"  {_each_line(failure.hint)}")
    return "\n".join(lines) + "\n"


def _each_line(text: str) -> str:
    # A server's message may quote input of other users.
    return "\n".join(printable(line) for line in text.split("\n"))


def reason(thrown: BaseException | None) -> str:
    """The message of a failure, for a line of a report."""
    return printable(explain(thrown, "").message) if thrown is not None else ""
