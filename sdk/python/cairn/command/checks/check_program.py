"""Checks of this program itself, and of what it keeps for this user."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from pathlib import Path

import cairn
from cairn.command.checks.finding import Finding, bad, ok, warn
from cairn.command.output.text import printable
from cairn.command.output.words import count_of
from cairn.command.spool.leftovers import is_owner_alive, list_folders, list_refused, list_segments, read_owner
from cairn.command.whole import INSTALL, NODE_MIN, find_entry, find_node, node_version
from cairn.delivery.spool import spool_folder
from cairn.local_secret import read_local_secret
from cairn.login import login_path, read_logins

_PYTHON_MIN = (3, 9)


def check_python() -> Finding:
    version = platform.python_version()
    if sys.version_info[:2] < _PYTHON_MIN:
        return bad("python", f"{version} is too old", "use Python 3.9 or newer")
    return ok("python", f"{version}, cairn-tracker in {Path(cairn.__file__).parent.parent}")


def check_server_package() -> Finding:
    """Where the package and a Node are there the whole command line runs, with its own checks."""
    if find_entry() is None:
        return ok("server package", f"not installed; `cairn serve` needs {INSTALL}")
    if find_node() is not None:
        return ok("server package", "installed")
    found = shutil.which("node")
    wanted = ".".join(map(str, NODE_MIN))
    if found is None:
        return bad("server package", f"installed, but there is no Node {wanted} or newer", INSTALL)
    version = ".".join(map(str, node_version(found))) or "unknown"
    return bad("server package", f"installed, but needs Node {wanted} or newer; {found} is {version}", INSTALL)


def check_foreign() -> list[Finding]:
    """The plain name `cairn` belongs to others, on PyPI and on npm. Only problems are reported."""
    findings = []
    version = _foreign_package()
    if version is not None:
        findings.append(
            bad(
                "package",
                f"another package is installed as `cairn` ({version}); both have the same module",
                "pip uninstall cairn cairn-tracker && pip install cairn-tracker",
            )
        )
    command = shutil.which("cairn")
    if command is not None and not is_ours(Path(command)):
        fix = "call this one as `python -m cairn`, or put its folder first in PATH"
        findings.append(warn("command", f"`cairn` on the PATH is another program: {command}", fix))
    return findings


def _foreign_package() -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cairn")
    except PackageNotFoundError:
        return None


def is_ours(command: Path) -> bool:
    """Whether a file is the command of this package, of cairn-tracker of npm, or of a checkout."""
    try:
        target = command.resolve()
        if os.name == "nt" and target.suffix.lower() == ".exe":
            # A launcher that pip made; it lies beside the Python that it starts.
            return target.parent == Path(sys.executable).resolve().parent
        text = target.read_bytes()[:16_384].decode("utf-8", "replace")
    except OSError:
        return True
    return re.search(r"cairn\.command|cairn-tracker|cairn needs Node|cairn_tracker", text) is not None or bool(
        re.search(r"cairn-tracker|/cli/start\.js$", target.as_posix())
    )


def check_login_file() -> Finding:
    path = login_path(os.environ)
    try:
        logins = read_logins(path)
    except (ValueError, OSError) as error:
        text = str(error).partition(";")[0]
        if "chmod" in str(error):
            fix = f"chmod 600 {path}; if others have read it, revoke your tokens"
            return bad("login file", text, fix)
        return bad("login file", text, "`cairn login` writes a new one")
    if logins is None:
        return ok("login file", "there is none")
    return ok("login file", f"{path}, {count_of(len(logins['servers']), 'token')}")


def check_local_secrets() -> list[Finding]:
    """Secrets that servers of this user keep for local programs; only problems are reported."""
    findings = []
    folder = login_path(os.environ).parent
    for path in sorted(folder.glob("local-*.json")) if folder.is_dir() else []:
        try:
            secret = read_local_secret(path)
            if secret is None or _is_alive(path):
                continue
            text = f"{path} belongs to a server that is not running"
            findings.append(warn("local secret", text, f"rm {path}; the next start on that port replaces it, too"))
        except ValueError as error:
            fix = (
                f"rm {path}, and restart the server on that port: until then, a user who has read it has the rights of "
                "the owner"
            )
            findings.append(bad("local secret", str(error).partition(";")[0], fix))
    return findings


def _is_alive(path: Path) -> bool:
    try:
        os.kill(int(json.loads(path.read_text(encoding="utf-8"))["pid"]), 0)
    except (ProcessLookupError, ValueError, KeyError):
        return False
    except OSError:
        pass
    return True


def check_spool() -> Finding:
    """Undelivered data of jobs that have ended."""
    spool = spool_folder()
    try:
        folders = [folder for folder in list_folders(spool) if read_owner(folder) is not None]
        ended = [folder for folder in folders if not is_owner_alive(folder, read_owner(folder))]
        left = [folder for folder in ended if list_segments(folder)]
        refused = sum(len(list_refused(folder)) for folder in ended)
    except NotADirectoryError:
        return ok("spool", "nothing to deliver")
    except OSError as error:
        fix = "set CAIRN_SPOOL to a folder that can be written"
        return bad("spool", printable(f"{spool}: {error.strerror or error}"), fix)
    if left:
        text = f"{count_of(len(left), 'job')} ended before everything was delivered, in {spool}"
        return warn("spool", text, "cairn sync")
    if refused:
        text = f"a server refused {count_of(refused, 'frame')}, kept in {spool}"
        return warn("spool", text, "look at them, then `cairn sync --discard`")
    at_work = len(folders) - len(ended)
    return ok("spool", f"{count_of(at_work, 'job')} at work" if at_work else "nothing to deliver")
