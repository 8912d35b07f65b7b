"""Files that exist to hold secrets."""

from __future__ import annotations

from cairn.capture.secret_rules import RULES, words_in

_FILES = RULES["files"]


def secret_pathspecs() -> list[str]:
    """What tells git to leave them out."""
    globs = words_in(_FILES["names"]) + [
        f"{name}.{ending}" for name in words_in(_FILES["dataNames"]) for ending in words_in(_FILES["dataEndings"])
    ]
    folders = [f"{folder}/**" for folder in words_in(_FILES["folders"])]
    return [f":(exclude,top,icase,glob)**/{glob}" for glob in globs + folders]
