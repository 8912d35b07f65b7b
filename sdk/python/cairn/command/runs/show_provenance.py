"""Where a run came from: code, data, machine, people."""

from __future__ import annotations

import re
from typing import Any

from cairn.command.output.text import pad_end, paint, printable, width_of
from cairn.command.runs.work_tree import describe_patch, describe_work_tree, read_patch

Labelled = tuple[str, str]

_PATCH_LINES_MAX = 400
_LABEL_WIDTH_MAX = 28
_DIGEST_SHOWN = len("sha256:") + 12
_HOST_KEYS = ("host", "hostname", "node")
_GPU_KEYS = ("gpu", "gpus", "accelerator", "accelerators")
_STYLES = {"added": "green", "removed": "red", "hunk": "cyan", "file": "cyan"}


def provenance_summary(run: dict[str, Any]) -> list[Labelled]:
    """The most important of its provenance: code, machine, data."""
    provenance = run.get("provenance", {})
    environment = provenance.get("environment", {})
    rows: list[Labelled] = [
        ("code", _code(provenance.get("code", {}))),
        # Another process of the run had other code.
        ("", environment.get("note:code", "")),
        ("machine", _machine(environment)),
        ("user", provenance.get("user", "")),
        ("trained on", "  ".join(_short(data) for data in provenance.get("trainingData", []))),
        ("tested on", "  ".join(_short(data) for data in provenance.get("testData", []))),
        ("began from", _short(provenance.get("initialState", ""))),
        ("features", _short(provenance.get("featurePipeline", ""))),
        ("study", provenance.get("study", "")),
        ("logs", provenance.get("logsLocation", "")),
    ]
    return [row for row in rows if row[1]]


def who_words(run: dict[str, Any]) -> str:
    """ "ada, ended by bob": the others only where they are not the one who created it."""
    creator = run.get("creator", "")
    did = (("ended by", "endedBy"), ("changed by", "changedBy"), ("moved to the trash by", "deletedBy"))
    others = [f"{words} {run[key]}" for words, key in did if run.get(key, "") not in ("", creator)]
    return ", ".join([*([creator] if creator else []), *others])


def _code(code: dict[str, Any]) -> str:
    """ "1f0c2a91b3 on main, dirty (+1 -1 in train.py), 3 untracked files  git@example.org:team/asr.git"."""
    if not any(code.get(key) for key in ("commit", "repository", "dirtyPatch", "patchLeftOut")):
        return ""
    branch = f" on {code['branch']}" if code.get("branch") else ""
    source = f"  {code['repository']}" if code.get("repository") else ""
    return f"{code.get('commit', '')[:10] or 'no commit'}{branch}, {_state(code)}{source}"


def _short(reference: str) -> str:
    """A digest is recognized by its first digits."""
    location, _, version = reference.rpartition("@")
    if location and "/" not in version and version.startswith("sha256:"):
        return f"{location}@{version[:_DIGEST_SHOWN]}…"
    return reference


def provenance_in_full(provenance: dict[str, Any], colour: bool) -> list[str]:
    """All of it, with the environment and the patch."""
    code = provenance.get("code", {})
    environment = provenance.get("environment", {})
    rows: list[Labelled] = [
        ("initial state", provenance.get("initialState", "")),
        *(("training data", data) for data in provenance.get("trainingData", [])),
        *(("test data", data) for data in provenance.get("testData", [])),
        ("feature pipeline", provenance.get("featurePipeline", "")),
        ("study", provenance.get("study", "")),
        ("logs location", provenance.get("logsLocation", "")),
        ("user", provenance.get("user", "")),
        *((key, code.get(key, "")) for key in ("repository", "commit", "branch", "archive")),
        ("state", _state(code) if code else ""),
        ("patch left out", code.get("patchLeftOut", "")),
        ("command", " ".join(provenance.get("command", []))),
        *((key, environment[key]) for key in sorted(environment)),
    ]
    lines = labelled([row for row in rows if row[1]], colour)
    patch = code.get("dirtyPatch", "")
    if patch:
        shown = read_patch(patch.rstrip())
        lines.append("")
        for kind, text in shown[:_PATCH_LINES_MAX]:
            lines.append(paint(colour and kind in _STYLES, _STYLES.get(kind, "dim"), printable(text)))
        if len(shown) > _PATCH_LINES_MAX:
            lines.append(f"… {len(shown) - _PATCH_LINES_MAX} more lines; --json has them")
    return lines


def labelled(rows: list[Labelled], colour: bool) -> list[str]:
    """Labels in one column, texts in another."""
    width = max([0, *(min(_LABEL_WIDTH_MAX, width_of(label)) for label, _ in rows)])
    return [f"{paint(colour, 'dim', pad_end(printable(label), width))}  {printable(text)}" for label, text in rows]


def _state(code: dict[str, Any]) -> str:
    state = describe_work_tree(code)
    patch = code.get("dirtyPatch", "")
    if patch and state.startswith("dirty"):
        return f"dirty ({describe_patch(patch)}){state[len('dirty') :]}"
    return state


def _machine(environment: dict[str, str]) -> str:
    """Machine and accelerators."""
    counts: dict[str, int] = {}
    for key, model in environment.items():
        # Clients name them one by one, or all in one text.
        if re.fullmatch(r"gpu\.\d+", key):
            counts[model] = counts.get(model, 0) + 1
    gpus = ", ".join(model if count == 1 else f"{count} × {model}" for model, count in counts.items())
    parts = (_first(environment, _HOST_KEYS), gpus or _first(environment, _GPU_KEYS))
    return " · ".join(part for part in parts if part)


def _first(entries: dict[str, str], keys: tuple[str, ...]) -> str:
    return next((entries[key] for key in keys if entries.get(key)), "")
