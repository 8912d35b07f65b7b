"""Where a run came from: code, data, machine, people."""

from __future__ import annotations

import re
from typing import Any

from cairn.command.output.text import pad_end, paint, printable, width_of
from cairn.command.runs.work_tree import describe_patch, describe_work_tree, read_patch

Labelled = tuple[str, str]

_PATCH_LINES_MAX = 400
_LABEL_WIDTH_MAX = 28
_HOST_KEYS = ("host", "hostname", "node")
_GPU_KEYS = ("gpu", "gpus", "accelerator", "accelerators")
_STYLES = {"added": "green", "removed": "red", "hunk": "cyan", "file": "cyan"}


def provenance_summary(run: dict[str, Any]) -> list[Labelled]:
    """The most important of its provenance."""
    provenance = run.get("provenance", {})
    rows: list[Labelled] = [("by", _people(run))]
    code = provenance.get("code", {})
    if code.get("commit"):
        branch = f" on {code['branch']}" if code.get("branch") else ""
        source = f"  {code['repository']}" if code.get("repository") else ""
        rows.append(("code", f"{code['commit'][:10]}{branch}, {_state(code)}{source}"))
    rows.append(("machine", _machine(provenance.get("environment", {}))))
    for label, key in (("trained on", "trainingData"), ("tested on", "testData")):
        rows.append((label, "  ".join(provenance.get(key, []))))
    rows.append(("began from", provenance.get("initialState", "")))
    rows.append(("features", provenance.get("featurePipeline", "")))
    rows.append(("study", provenance.get("study", "")))
    rows.append(("logs", provenance.get("logsLocation", "")))
    return [row for row in rows if row[1]]


def provenance_in_full(run: dict[str, Any], colour: bool) -> list[str]:
    """All of it, with the environment and the patch."""
    provenance = run.get("provenance", {})
    code = provenance.get("code", {})
    environment = provenance.get("environment", {})
    rows: list[Labelled] = [
        ("creator", run.get("creator", "")),
        ("user", provenance.get("user", "")),
        ("ended by", run.get("endedBy", "")),
        ("changed by", run.get("changedBy", "")),
        ("deleted by", run.get("deletedBy", "")),
        ("initial state", provenance.get("initialState", "")),
        *(("training data", data) for data in provenance.get("trainingData", [])),
        *(("test data", data) for data in provenance.get("testData", [])),
        ("feature pipeline", provenance.get("featurePipeline", "")),
        ("study", provenance.get("study", "")),
        ("logs location", provenance.get("logsLocation", "")),
        *((key, code.get(key, "")) for key in ("repository", "commit", "branch", "archive")),
        ("state", _state(code) if code else ""),
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
    return f"{state}, {describe_patch(patch)}" if patch else state


def _people(run: dict[str, Any]) -> str:
    """The principal, and the user of the operating system where that is another name."""
    creator, user = run.get("creator", ""), run.get("provenance", {}).get("user", "")
    if creator and user and creator != user:
        return f"{creator} (user {user})"
    return str(creator or user)


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
