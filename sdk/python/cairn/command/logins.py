"""The saved logins, in the file that all Cairn programs of a user share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cairn.command.errors import NOT_FOUND, CommandError
from cairn.command.output.terminal import Terminal
from cairn.login import login_path, read_logins

#: What the server calls a token that it gave for a password.
PASSWORD_TOKEN = "log-in"


def logins_to_change(terminal: Terminal) -> dict[str, Any]:
    """Empty if the file is missing or invalid; one that others may read is refused."""
    try:
        return read_logins(login_path(os.environ)) or {"servers": {}}
    except ValueError as error:
        if "not a login file" not in str(error):
            raise
        terminal.note(f"cairn: {error}")
        return {"servers": {}}


def keep_login(terminal: Terminal, url: str, token: str | None) -> None:
    """Saves a server as the default one; without a token where it needs none."""
    servers = dict(logins_to_change(terminal)["servers"])
    servers.pop(url, None)
    if token is not None:
        servers[url] = {"token": token}
    _write({"default": url, "servers": servers})


def forget_login(terminal: Terminal, url: str) -> str | None:
    """Returns the token that was kept, if one was."""
    logins = logins_to_change(terminal)
    servers = dict(logins["servers"])
    gone = servers.pop(url, None)
    default = logins.get("default")
    if gone is None and default != url:
        raise CommandError(
            f'cannot remove server "{url}": it is not saved',
            exit_code=NOT_FOUND,
            hint="`cairn login --list` lists the saved servers",
        )
    _write({**({"default": default} if default and default != url else {}), "servers": servers})
    return None if gone is None else str(gone["token"])


def _write(logins: dict[str, Any]) -> None:
    """Replaces the file as a whole; it is for this user alone."""
    path = login_path(os.environ)
    beside = Path(f"{path}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.unlink() if beside.exists() else None
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(logins, file, indent=2, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise CommandError(
            f'cannot write "{path}": {error.strerror or error}',
            hint="set CAIRN_SERVER and CAIRN_TOKEN instead, or XDG_CONFIG_HOME to a folder that can be written",
        ) from error
