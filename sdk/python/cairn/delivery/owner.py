"""`owner.json` in the folder of a writer: its process, and the server that its data is for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

OWNER_FILE = "owner.json"


def write_owner(folder: Path, owner: dict[str, Any]) -> None:
    """Raises OSError."""
    temporary = folder / f"{OWNER_FILE}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(owner, file, indent=2)
        file.write("\n")
    os.replace(temporary, folder / OWNER_FILE)


def keep_server(folder: Path, server: str) -> None:
    """The run is on this server from now on, also if none was set. The folder stays as it is where that cannot be
    written: the next delivery tries again."""
    try:
        owner = json.loads((folder / OWNER_FILE).read_text(encoding="utf-8"))
        if isinstance(owner, dict) and (owner.get("serverSet") is False or owner.get("server") != server):
            write_owner(folder, {**owner, "server": server, "serverSet": True})
    except (OSError, ValueError):
        pass
