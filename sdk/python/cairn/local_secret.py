"""The secret that a server on this machine keeps for programs of the user who started it, where it asks for one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

PREFIX = "cairn_local_"


class LocalSecret(NamedTuple):
    #: The one address that the server has bound.
    address: str
    secret: str


def read_local_secret(path: Path) -> LocalSecret | None:
    """None when there is no file, or one that is still being written. Raises ValueError for one that others may read or
    that belongs to another user."""
    try:
        found = path.stat()
        if os.name != "nt" and found.st_mode & 0o077:
            raise ValueError(f'cannot use "{path}": others may read it; restart the server, which writes a new one')
        if os.name != "nt" and found.st_uid != os.geteuid():
            raise ValueError(f'cannot use "{path}": another user owns it; remove it and restart the server')
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        entry = json.loads(text)
        address, secret = entry["address"], entry["secret"]
        return LocalSecret(address, secret) if isinstance(address, str) and secret.startswith(PREFIX) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def find_local_server(url: str, folder: Path) -> tuple[str, str] | None:
    """The address to use and the secret, for a server at a loopback address that keeps one; `folder` is the one with
    the login file.

    The secret goes to the address that the server has bound, and to no other: another user of the machine may listen on
    the same port of another one. "localhost" may be either, so that it becomes the address itself, unless a
    certificate identifies the server."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host not in ("localhost", "::1") and not host.startswith("127."):
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    entry = read_local_secret(folder / f"local-{port}.json")
    if entry is None or host not in ("localhost", entry.address):
        return None
    if host == entry.address or parts.scheme == "https":
        return url, entry.secret
    literal = f"[{entry.address}]" if ":" in entry.address else entry.address
    return url.replace("//localhost", f"//{literal}", 1), entry.secret
