"""Checks of the server that commands would talk to."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

from cairn.client import Client
from cairn.command.checks.finding import Finding, bad, ok, warn
from cairn.command.errors import reason
from cairn.command.login import is_here
from cairn.command.logins import PASSWORD_TOKEN
from cairn.command.output.text import printable
from cairn.command.output.words import format_ago, format_duration
from cairn.command.version import is_compatible
from cairn.failure import Failure
from cairn.login import Server
from cairn.version import __version__

_CALL_S = 5.0
#: A Date header has whole seconds, and the answer is under way for a while.
_CLOCK_WARN_S = 5
_CLOCK_BAD_S = 60
_EXPIRES_WARN_S = 3 * 86_400
#: A token given for a password lives for 12 hours anyway.
_LOGIN_EXPIRES_WARN_S = 3_600


def check_transport(url: str) -> Finding:
    """Whether a token is sent unencrypted."""
    if url.startswith("https:"):
        return ok("transport", "encrypted")
    if is_here(url):
        return ok("transport", "does not leave this machine")
    text = f"{url} is not encrypted: tokens and data can be read on the network"
    return warn("transport", text, "use https:// (docs/operations.md, TLS)")


def check_server(url: str, client: Client, is_named: bool) -> list[Finding]:
    """The other checks are left out when the server does not answer. A server that was not set is not missed."""
    before = time.time()
    try:
        # Without a credential: a token that is refused would hide whether the server is well.
        answer = Client(Server(url)).request("GET", "/readyz", timeout_s=_CALL_S)
    except Failure as failure:
        if not is_named:
            text = f"none is configured, and none answers at {url}"
            return [warn("server", text, "cairn login URL, or set CAIRN_SERVER and CAIRN_TOKEN")]
        return [bad("server", reason(failure), "check --server, CAIRN_SERVER, or `cairn login --list`")]
    now = (before + time.time()) / 2
    body = answer.body.decode("utf-8", "replace")
    if not body.startswith('{"status":'):
        text = f"{url} answers, but it is not a Cairn server (HTTP {answer.status})"
        return [bad("server", text, "check the address: --server, CAIRN_SERVER, or `cairn login --list`")]
    ready = ok("server", f"{url} is ready")
    if answer.status != 200:
        text = f"{url} is not ready: {printable(body)}"
        ready = bad("server", text, "check its log and its disk, then restart it")
    return [ready, check_clock(answer.headers.get("date"), now), _check_credential(url, client), _check_version(client)]


def check_clock(date: str | None, now_s: float) -> Finding:
    try:
        theirs = parsedate_to_datetime(date or "").timestamp()
    except (ValueError, TypeError, IndexError):
        return ok("clock", "the server sends no Date header")
    # The header is cut to the second: on average half a second early.
    ahead = now_s - (theirs + 0.5)
    off = abs(ahead)
    if off < _CLOCK_WARN_S:
        return ok("clock", "in sync with the server")
    text = f"this machine is {format_duration(off)} {'ahead of' if ahead > 0 else 'behind'} the server"
    fix = "set the clocks by NTP: `timedatectl set-ntp true`"
    return warn("clock", text, fix) if off < _CLOCK_BAD_S else bad("clock", text, fix)


def _check_credential(url: str, client: Client) -> Finding:
    try:
        who = client.call("AccessService/WhoAmI", {}, timeout_s=_CALL_S)
    except Failure as failure:
        fix = f"cairn login {url}" if failure.code == "unauthenticated" else "check the server's log"
        return bad("credential", reason(failure), fix)
    principal, token = who.get("principal", {}), who.get("token")
    name = printable(principal.get("name", ""))
    if principal.get("kind") == "PRINCIPAL_KIND_ANONYMOUS":
        return bad("credential", "the server asks for a token, and there is none", f"cairn login {url}")
    expires_us = int(token.get("expiresUs", 0)) if token else 0
    if token is None or not expires_us:
        return ok("credential", name)
    text = f'{name}, token "{printable(token.get("name", ""))}" expires {format_ago(expires_us)}'
    is_password = token.get("name") == PASSWORD_TOKEN
    if expires_us / 1e6 - time.time() >= (_LOGIN_EXPIRES_WARN_S if is_password else _EXPIRES_WARN_S):
        return ok("credential", text)
    return warn("credential", text, f"cairn login {url}{f' --user {name}' if is_password else ''}")


def _check_version(client: Client) -> Finding:
    try:
        version = str(client.call("SystemService/GetInfo", {}, timeout_s=_CALL_S).get("version", ""))
    except Failure as failure:
        # A missing permission has been reported already.
        if failure.is_refusal:
            return ok("version", __version__)
        return bad("version", reason(failure), "check the server's log")
    if version == __version__:
        return ok("version", f"{__version__}, the same as the server")
    text = f"this is {__version__}, the server {printable(version)}"
    fix = f"install the version of the server from its page: {client.url}/install/"
    return warn("version", text, fix) if is_compatible(__version__, version) else bad("version", text, fix)
