"""`cairn login`: remembers a server and a token, once the server has accepted it."""

from __future__ import annotations

import argparse
import os
from typing import Any
from urllib.parse import urlsplit

from cairn.client import Client
from cairn.command.errors import REFUSED, USAGE, CommandError, reason
from cairn.command.logins import PASSWORD_TOKEN, forget_login, keep_login, logins_to_change
from cairn.command.options import Parser
from cairn.command.output.prompt import ask, ask_secret, read_secret
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import Column, printable, table
from cairn.command.output.words import enum_word, format_ago, iso_time
from cairn.local_secret import find_local_server
from cairn.login import DEFAULT_SERVER, Server, login_path, normalize_server

_LOG_OUT_S = 3.0


def run(terminal: Terminal, words: list[str]) -> None:
    options = _parser().read(words)
    if options.token is not None:
        raise CommandError(
            "cannot take a token as an argument: "
            "it would stay in the shell's history and show in the list of processes",
            exit_code=USAGE,
            hint="let `cairn login` ask for it, or pipe it: `cairn login --token-stdin < FILE`. "
            "If it was a real one, revoke it",
        )
    logins = logins_to_change(terminal)
    if options.list:
        _list(terminal, logins)
        return
    named = (
        options.url
        or terminal.options.server
        or os.environ.get("CAIRN_SERVER")
        or logins.get("default")
        or DEFAULT_SERVER
    )
    url = normalize_server(named)
    terminal.connected_to = url
    if options.forget:
        _forget(terminal, url)
    else:
        _log_in(terminal, url, options)


def _parser() -> Parser:
    parser = Parser(
        "login",
        "remember a server and a token",
        more=f"The token is checked and then saved in {login_path(os.environ)}, readable only by you. The last server\n"
        "you logged in to is the one that other commands talk to.",
        examples="""
        cairn login https://cairn.example.org              asks for a token, without showing it
        cairn login https://cairn.example.org --user ada   asks for a password
        cairn login --token-stdin < token.txt
        cairn login --list
        cairn login --forget https://cairn.example.org""",
    )
    parser.add_argument(
        "url", nargs="?", help="the server; without it --server, CAIRN_SERVER, the last one, or this machine"
    )
    parser.switch("--token-stdin", "read the token from standard input")
    parser.text("--user", "log in with a password; the server gives a token for 12 hours", "NAME")
    parser.switch("--password-stdin", "with --user: read the password from standard input")
    parser.switch("--list", "list saved servers")
    parser.switch("--forget", "remove the saved server, and end its token if it was made with a password")
    parser.add_argument("--token", nargs="?", const="", help=argparse.SUPPRESS)
    return parser


def _log_in(terminal: Terminal, url: str, options: argparse.Namespace) -> None:
    if url.startswith("http:") and not is_here(url):
        terminal.note(f"cairn: {url} is not encrypted: anyone on the network path can read the token")
    token = _obtain_token(terminal, url, options)
    who = _client(url, token).call("AccessService/WhoAmI", {})
    if token is not None and "token" not in who:
        raise CommandError(f"cannot use the token: {url} rejects it as unknown", exit_code=REFUSED)
    keep_login(terminal, url, token)
    name = who.get("principal", {}).get("name", "")
    kind = enum_word(who.get("principal", {}).get("kind"), "PRINCIPAL_KIND_")
    said = who.get("token")
    if terminal.options.json:
        found: dict[str, Any] = {"server": url, "name": name, "kind": kind}
        if said is not None:
            found["token"] = {
                "id": said["id"],
                "name": said.get("name", ""),
                "expires": iso_time(said.get("expiresUs")),
            }
        terminal.print_json(found)
        return
    terminal.print(f"Logged in to {url} as {printable(name)} ({kind}).")
    if said is None:
        terminal.print("It needs no token from this machine.")
    elif int(said.get("expiresUs", 0)):
        terminal.print(f'The token "{printable(said.get("name", ""))}" expires {format_ago(said["expiresUs"])}.')


def _client(url: str, token: str | None) -> Client:
    """A credential that other commands find without the login file is used, but not saved."""
    if token is None:
        local = find_local_server(url, login_path(os.environ).parent)
        if local is not None:
            return Client(Server(*local))
    return Client(Server(url, token))


def _obtain_token(terminal: Terminal, url: str, options: argparse.Namespace) -> str | None:
    """None where the server requires none."""
    if options.user is not None:
        return _password_token(terminal, url, options)
    if options.token_stdin:
        return _present(read_secret(), "token")
    who = _client(url, None).call("AccessService/WhoAmI", {})
    if who.get("principal", {}).get("kind") == "PRINCIPAL_KIND_OWNER":
        return None
    if not terminal.interactive:
        raise CommandError(
            "cannot ask for a token: there is no terminal",
            exit_code=USAGE,
            hint="pipe it in with --token-stdin, or set CAIRN_SERVER and CAIRN_TOKEN instead",
        )
    return _present(ask_secret(f"Token for {url} (not shown): "), "token")


def _password_token(terminal: Terminal, url: str, options: argparse.Namespace) -> str:
    if not options.password_stdin and not terminal.interactive:
        raise CommandError(
            "cannot ask for a password: there is no terminal",
            exit_code=USAGE,
            hint="pipe it in with --password-stdin",
        )
    name = options.user or _present(ask("User: "), "user name")
    question = f"Password of {printable(name)} on {url} (not shown): "
    typed = read_secret() if options.password_stdin else ask_secret(question)
    answer = Client(Server(url)).call("AccessService/LogIn", {"name": name, "password": _present(typed, "password")})
    return str(answer["secret"])


def _present(text: str, what: str) -> str:
    if not text:
        raise CommandError(f"cannot log in: no {what} was given", exit_code=USAGE)
    return text


def is_here(url: str) -> bool:
    """Whether an address is a loopback address: traffic to it stays on this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _list(terminal: Terminal, logins: dict[str, Any]) -> None:
    default = logins.get("default")
    urls = sorted({*logins["servers"], *([default] if default else [])})
    rows = [{"server": url, "token": url in logins["servers"], "default": url == default} for url in urls]
    if terminal.options.json:
        terminal.print_json(rows)
    elif not rows:
        terminal.note("No server is saved. `cairn login URL` saves one.")
    else:
        cells = [
            (row["server"], "kept" if row["token"] else "none", "default" if row["default"] else "") for row in rows
        ]
        columns = (Column("server", shrink=True), Column("token"), Column(""))
        terminal.print(table(columns, cells, colour=terminal.colour, width=terminal.columns))


def _forget(terminal: Terminal, url: str) -> None:
    token = forget_login(terminal, url)
    ended = token is not None and _end_password_token(terminal, url, token)
    if terminal.options.json:
        terminal.print_json({"server": url, "forgotten": True, "tokenEnded": ended})
    else:
        terminal.print(f"Removed {url}.{' Its token was revoked.' if ended else ''}")


def _end_password_token(terminal: Terminal, url: str, token: str) -> bool:
    """A token that has a name may be in use elsewhere; one made with a password belongs to this login only."""
    client = Client(Server(url, token), timeout_s=_LOG_OUT_S)
    try:
        if client.call("AccessService/WhoAmI", {}).get("token", {}).get("name") != PASSWORD_TOKEN:
            return False
        client.call("AccessService/LogOut", {})
        return True
    except Exception as error:
        terminal.note(f"cairn: the token could not be revoked: {reason(error)}")
        return False
