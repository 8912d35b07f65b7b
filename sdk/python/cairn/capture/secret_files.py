"""Files that exist to hold secrets."""

from __future__ import annotations

import re

from cairn.capture.secret_names import ends_as_secret
from cairn.capture.secret_rules import RULES, Whole, words_in

_FILES = RULES["files"]
_ENDINGS = words_in(_FILES["dataEndings"])
_GLOBS = words_in(_FILES["names"]) + [
    f"{name}.{ending}" for name in words_in(_FILES["dataNames"]) for ending in _ENDINGS
]
_FOLDERS = words_in(_FILES["folders"])
_SETTINGS = words_in(_FILES["settingsEndings"])
_NAMES = Whole(*(glob.replace(".", r"\.").replace("*", r"[^\n]*") for glob in _GLOBS))


def is_secret_path(path: str) -> bool:
    """Whether a file or a folder above it exists to hold secrets, by its name alone."""
    names = path.lower().split("/")
    places = [*names[:-1], *("/".join(names[at : at + 2]) for at in range(len(names) - 2))]
    return is_secret_file(path.rpartition("/")[2]) or any(place in _FOLDERS for place in places)


def is_secret_folder(path: str) -> bool:
    """By the end of its path."""
    parts = path.lower().split("/")
    return parts[-1] in _FOLDERS or "/".join(parts[-2:]) in _FOLDERS


def is_secret_file(name: str) -> bool:
    """By its name alone."""
    lower = name.lower()
    if _NAMES.fits(lower):
        return True
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem = name
    elif ending.lower() not in _ENDINGS:
        return False
    # A file in capitals is not a variable.
    return ends_as_secret(stem if re.search("[a-z]", stem) else stem.lower())


def is_settings_file(path: str) -> bool:
    """Whether the text after a name is a value, and not a variable as in code."""
    return path.rpartition(".")[2].lower() in _SETTINGS


def secret_pathspecs() -> list[str]:
    """Pathspecs of git that exclude most of them; `redact_patch` drops the others."""
    folders = [f"{folder}/**" for folder in _FOLDERS]
    return [f":(exclude,top,icase,glob)**/{glob}" for glob in _GLOBS + folders]
