"""Which server to talk to, and with which token. The login file is the one that `cairn login` writes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cairn.local_secret import PREFIX, find_local_server

DEFAULT_SERVER = "http://127.0.0.1:4700"
_DEFAULT_PORT = 4700


class Server(NamedTuple):
    url: str
    token: str | None = None
    #: False when no server is set: it is this machine then.
    is_set: bool = True


def login_path(env: Mapping[str, str]) -> Path:
    """`$XDG_CONFIG_HOME/cairn/login.json`, by default in `~/.config`."""
    home = env.get("HOME") or os.path.expanduser("~")
    return Path(env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")) / "cairn" / "login.json"


def read_logins(path: Path) -> dict[str, Any] | None:
    """None when there is no file. Raises for one that others may read, and for an invalid one."""
    try:
        mode = path.stat().st_mode
        if os.name != "nt" and mode & 0o077:
            raise ValueError(f'cannot use "{path}": others may read it; fix it with `chmod 600 {path}`')
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        logins = json.loads(text)
        servers = logins["servers"]
        if not all(isinstance(entry["token"], str) for entry in servers.values()):
            raise TypeError("a token is not a text")
        if not isinstance(logins.get("default", ""), str):
            raise TypeError("the default is not a text")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f'cannot read "{path}": it is not a login file; `cairn login` writes a new one') from error
    return dict(logins)


def find_server(server: str | None = None, token: str | None = None, env: Mapping[str, str] | None = None) -> Server:
    """What is given, else CAIRN_SERVER and CAIRN_TOKEN (or the file CAIRN_TOKEN_FILE names), else the login file,
    else this machine. Where no token is found, a server on this machine may keep a secret for its own user. Raises
    ValueError for an invalid address and for a file with credentials that others may read."""
    env = os.environ if env is None else env
    logins = read_logins(login_path(env))
    default = logins.get("default") if logins else None
    chosen = server or env.get("CAIRN_SERVER") or default
    url = normalize_server(chosen or DEFAULT_SERVER)
    found = token or _environment_token(env)
    if found is None and logins is not None:
        entry = logins["servers"].get(url)
        found = entry["token"] if entry else None
    if found is None:
        local = find_local_server(url, login_path(env).parent)
        if local is not None:
            return Server(*local, is_set=bool(chosen))
    return Server(url, found, bool(chosen))


def renew_local_secret(server: Server) -> Server | None:
    """After a refusal: the server may have been started again, with another secret or with none. None when there is
    nothing else to show than before, or when the token is one that was given out."""
    if server.token is not None and not server.token.startswith(PREFIX):
        return None
    try:
        local = find_local_server(server.url, login_path(os.environ).parent)
    except ValueError:
        return None
    renewed = server._replace(token=local[1] if local is not None and local[0] == server.url else None)
    return None if renewed == server else renewed


def _environment_token(env: Mapping[str, str]) -> str | None:
    if env.get("CAIRN_TOKEN"):
        return env["CAIRN_TOKEN"]
    file = env.get("CAIRN_TOKEN_FILE")
    if not file:
        return None
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f'cannot read token file "{file}": {error}') from error


def normalize_server(address: str) -> str:
    """`host`, `host:port` and URLs, as the URL under which logins are kept. Raises ValueError for an invalid address."""
    text = address.strip()
    has_scheme = re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE) is not None
    try:
        parts = urlsplit(text if has_scheme else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise ValueError(_no_address(address)) from error
    host = (parts.hostname or "").lower()
    if parts.scheme not in ("http", "https"):
        raise ValueError(f'cannot use server "{address}": it begins with neither http:// nor https://')
    if parts.username is not None or parts.password is not None:
        raise ValueError("cannot use a server address with a password in it: use CAIRN_TOKEN or `cairn login`")
    if not host or re.search(r"[\s<>\"\\^`{|}%]", host):
        raise ValueError(_no_address(address))
    if not has_scheme and port is None:
        port = _DEFAULT_PORT
    if port == (80 if parts.scheme == "http" else 443):
        port = None
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def _no_address(address: str) -> str:
    return f'cannot use server "{address}": it is not an address such as {DEFAULT_SERVER}'
