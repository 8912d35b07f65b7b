"""The state of a work tree in words. Only if git said so of everything it is clean: unknown is not clean."""

from __future__ import annotations

import re
from typing import Any

from cairn.command.output.words import count_of, format_bytes

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def describe_work_tree(code: dict[str, Any]) -> str:
    """Such as: clean; dirty; dirty, patch left out (2.1 MiB); 3 untracked files; 1 changed submodule; unknown: git took
    longer than 500 ms."""
    tracked = code.get("trackedChanges", "")
    untracked, submodules = code.get("untrackedFiles"), code.get("changedSubmodules")
    patch, left_out = code.get("dirtyPatch", ""), code.get("patchLeftOut", "")
    has_none, has_some = tracked == "TRACKED_CHANGES_NONE", tracked == "TRACKED_CHANGES_SOME"
    if has_none and untracked == 0 and submodules == 0 and not patch:
        return "clean"
    is_recorded = has_none or has_some or untracked is not None or submodules is not None
    parts: list[str] = []
    if has_some or patch:
        parts.append(_dirty(patch, left_out, int(code.get("leftOutBytes", 0))))
    elif not has_none:
        why = left_out or ("tracked changes not recorded" if is_recorded else "state not recorded")
        parts.append(f"unknown: {why}")
    if untracked:
        parts.append(count_of(int(untracked), "untracked file"))
    if submodules:
        parts.append(count_of(int(submodules), "changed submodule"))
    # Of what is known, nothing changed.
    if has_none and not parts:
        parts.append("no tracked changes")
    if has_none or has_some:
        if untracked is None:
            parts.append("untracked files unknown")
        if submodules is None:
            parts.append("submodules unknown")
    return ", ".join(parts)


def _dirty(patch: str, left_out: str, left_out_bytes: int) -> str:
    if not left_out and left_out_bytes == 0:
        return "dirty"
    what = "a part of the patch" if patch else "patch"
    return f"dirty, {what} left out ({format_bytes(left_out_bytes) if left_out_bytes > 0 else left_out})"


def read_patch(patch: str) -> list[tuple[str, str]]:
    """The lines of a patch with what they are: "file", "hunk", "added", "removed" or "same". The number of lines of a
    hunk is in its head, so that a removed line of dashes is not read as the name of a file."""
    lines = []
    old_left = new_left = 0
    for text in re.sub(r"\n$", "", patch).split("\n") if patch else []:
        hunk = _HUNK.match(text)
        if hunk is not None:
            old_left, new_left = int(hunk[1] or 1), int(hunk[2] or 1)
            lines.append(("hunk", text))
        elif old_left + new_left <= 0 or text.startswith("diff --git "):
            old_left = new_left = 0
            lines.append(("file", text))
        else:
            kind = "added" if text.startswith("+") else "removed" if text.startswith("-") else "same"
            old_left -= kind != "added"
            new_left -= kind != "removed"
            lines.append((kind, text))
    return lines


def describe_patch(patch: str) -> str:
    """Such as: +12 -3 in schedule.py; or in so many files."""
    lines = read_patch(patch)
    names = [
        re.sub(r"^[a-z]/", "", text[4:]).strip() for kind, text in lines if kind == "file" and text.startswith("+++ ")
    ]
    added = sum(kind == "added" for kind, _ in lines)
    removed = sum(kind == "removed" for kind, _ in lines)
    place = names[0] if len(names) == 1 else f"{len(names)} files"
    return f"+{added} -{removed}" + (f" in {place}" if names else "")
