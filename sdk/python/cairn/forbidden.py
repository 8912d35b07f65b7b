"""What a namespace forbids capturing, as the server reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cairn.notices import warn
from cairn.wire import Field, read_message, read_text


class Forbidden(NamedTuple):
    """The namespace that forbids it, for each; empty where it is allowed."""

    console: str = ""
    code: str = ""

    def warn(self) -> None:
        """Each once."""
        for what, namespace, lost in (
            ("console", self.console, "what is printed is not recorded"),
            ("code", self.code, "no patch is kept"),
        ):
            if namespace:
                message = f'{what} capture is off in namespace "{namespace}": an administrator forbade it; {lost}'
                warn(f"forbidden {what} {namespace}", message)


def read_forbidden(fields: Mapping[int, list[Field]], field: int) -> Forbidden:
    """cairn.v1.ForbiddenCapture. Raises ValueError for garbage."""
    body = fields.get(field, [b""])[-1]
    if not isinstance(body, bytes):
        raise ValueError(f"field {field} is a number")
    found = read_message(body)
    return Forbidden(read_text(found, 1), read_text(found, 2))


def parse_forbidden(namespace: Mapping[str, Any]) -> Forbidden:
    """The same of a namespace that came as JSON."""
    said = namespace.get("forbiddenCapture")
    if not isinstance(said, dict):
        return Forbidden()
    return Forbidden(str(said.get("console", "")), str(said.get("code", "")))
