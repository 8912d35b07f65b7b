"""`cairn version`: the version of this program is printed also when no server answers."""

from __future__ import annotations

import platform
from typing import Any

from cairn.command.errors import explain
from cairn.command.options import Parser
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import printable
from cairn.command.output.words import format_ago, iso_time
from cairn.version import __version__

_SERVER_S = 3.0


def run(terminal: Terminal, words: list[str]) -> None:
    parser = Parser(
        "version",
        "versions of this program and of the server",
        examples="""
        cairn version
        cairn version --client
        cairn --version --json""",
    )
    parser.switch("--client", "only of this program: ask no server")
    options = parser.read(words)
    client = {"version": __version__, "python": platform.python_version(), "api": "cairn.v1"}
    server = None if options.client else _ask(terminal)
    if terminal.options.json:
        terminal.print_json({"client": client, "server": server})
        return
    terminal.print(f"cairn   {__version__} (python {client['python']}, API cairn.v1)")
    if server is None:
        return
    if "problem" in server:
        terminal.print(f"server  {printable(server['problem'])}")
        return
    engines = ", ".join(f"{what} {engine}" for what, engine in server["engines"].items())
    since = format_ago(server["startedUs"])
    terminal.print(f"server  {printable(server['version'])} at {server['url']}, started {since}")
    terminal.print(f"        {printable(engines)}, format {server['formatVersion']}")
    if not server["compatible"]:
        terminal.print("        it is not compatible with this client: see `cairn doctor`")


def _ask(terminal: Terminal) -> dict[str, Any]:
    try:
        client = terminal.connect()
        info = client.call("SystemService/GetInfo", {}, timeout_s=_SERVER_S)
        version = str(info.get("version", ""))
        return {
            "url": client.url,
            "version": version,
            "startedUs": int(info.get("startedUs", 0)),
            "started": iso_time(info.get("startedUs")),
            "engines": dict(info.get("engines", {})),
            "formatVersion": info.get("formatVersion", 0),
            "compatible": is_compatible(__version__, version),
        }
    except Exception as error:
        return {"url": terminal.connected_to, "problem": explain(error, terminal.connected_to).message}


def is_compatible(client: str, server: str) -> bool:
    """Whether versions understand each other: by semantic versioning, 0.x by its minor."""
    return _generation(client) == _generation(server)


def _generation(version: str) -> str:
    parts = version.split(".")
    return ".".join(parts[:2]) if parts[0] == "0" else parts[0]
