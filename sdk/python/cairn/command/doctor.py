"""`cairn doctor`: finds problems of this installation, and how to fix them."""

from __future__ import annotations

import os

from cairn.client import Client
from cairn.command.checks.check_program import (
    check_foreign,
    check_local_secrets,
    check_login_file,
    check_python,
    check_server_package,
    check_spool,
)
from cairn.command.checks.check_server import check_server, check_transport
from cairn.command.checks.finding import Finding, bad
from cairn.command.errors import FAILED
from cairn.command.options import Parser
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import pad_end, paint
from cairn.command.output.words import count_of
from cairn.login import find_server, login_path, read_logins

_MARKS = {"ok": ("green", "✓"), "warn": ("yellow", "!"), "bad": ("red", "✗")}


def run(terminal: Terminal, words: list[str]) -> None:
    parser = Parser(
        "doctor",
        "find problems of this installation, and how to fix them",
        more="Checks this program, what it keeps for you, and the server that commands talk to. Exits with 1\n"
        "when a check fails.",
        examples="""
        cairn doctor
        cairn doctor --server https://cairn.example.org
        cairn doctor --json""",
    )
    parser.read(words)
    findings = _examine(terminal)
    if any(finding.level == "bad" for finding in findings):
        terminal.exit_code = FAILED
    if terminal.options.json:
        terminal.print_json([{**finding._asdict(), "fix": finding.fix or None} for finding in findings])
    else:
        _print(terminal, findings)


def _examine(terminal: Terminal) -> list[Finding]:
    findings = [
        check_python(),
        check_server_package(),
        *check_foreign(),
        check_login_file(),
        *check_local_secrets(),
        check_spool(),
    ]
    try:
        found = find_server(terminal.options.server)
    except (ValueError, OSError) as error:
        # That of an unusable login file was reported already.
        if all(finding.level != "bad" or finding.check != "login file" for finding in findings):
            findings.append(bad("server", str(error), "check --server, CAIRN_SERVER and CAIRN_TOKEN_FILE"))
        return findings
    terminal.connected_to = found.url
    logins = read_logins(login_path(os.environ)) or {}
    is_named = bool(terminal.options.server or os.environ.get("CAIRN_SERVER") or logins.get("default"))
    return [*findings, check_transport(found.url), *check_server(found.url, Client(found), is_named)]


def _print(terminal: Terminal, findings: list[Finding]) -> None:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        style, mark = _MARKS[finding.level]
        terminal.print(f"{paint(terminal.colour, style, mark)} {pad_end(finding.check, width)}  {finding.text}")
        if finding.fix:
            terminal.print(f"  {' ' * width}  → {finding.fix}")
    faults = sum(finding.level == "bad" for finding in findings)
    warnings = sum(finding.level == "warn" for finding in findings)
    if faults + warnings == 0:
        terminal.print("\nNo problems found.")
    else:
        terminal.print(f"\n{count_of(faults, 'fault')}, {count_of(warnings, 'warning')}.")
