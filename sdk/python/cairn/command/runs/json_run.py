"""A run for `--json`: plain values, times as ISO text, params with their types where JSON has them."""

from __future__ import annotations

from typing import Any

from cairn.command.output.words import enum_word, iso_time, to_float
from cairn.command.runs.params import json_params


def json_run(run: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": run["id"],
        "namespace": run.get("namespace", ""),
        "name": run.get("name", ""),
        "status": enum_word(run.get("status"), "RUN_STATUS_"),
        "aliases": run.get("aliases", []),
        "notes": run.get("notes", ""),
        "params": json_params(run.get("params", {})),
        "tags": run.get("tags", {}),
    }
    if run.get("metrics"):
        found["metrics"] = {key: to_float(value) for key, value in run["metrics"].items()}
    for name in ("created", "started", "ended", "updated", "deleted"):
        found[name] = iso_time(run.get(f"{name}Us"))
    for name in ("creator", "endedBy", "changedBy", "deletedBy"):
        found[name] = run.get(name) or None
    provenance = run.get("provenance")
    if provenance is not None:
        found["provenance"] = _provenance(provenance)
    return found


def _provenance(provenance: dict[str, Any]) -> dict[str, Any]:
    code = provenance.get("code")
    return {
        "initialState": provenance.get("initialState", ""),
        "trainingData": provenance.get("trainingData", []),
        "testData": provenance.get("testData", []),
        "featurePipeline": provenance.get("featurePipeline", ""),
        "study": provenance.get("study", ""),
        "logsLocation": provenance.get("logsLocation") or None,
        "user": provenance.get("user") or None,
        "code": None if code is None else _code(code),
        "command": provenance.get("command", []),
        "environment": provenance.get("environment", {}),
    }


def _code(code: dict[str, Any]) -> dict[str, Any]:
    found = {key: code.get(key, "") for key in ("repository", "commit", "branch", "dirtyPatch", "archive")}
    tracked = enum_word(code.get("trackedChanges"), "TRACKED_CHANGES_")
    return {
        **found,
        "trackedChanges": None if tracked == "unspecified" else tracked,
        "untrackedFiles": code.get("untrackedFiles"),
        "changedSubmodules": code.get("changedSubmodules"),
        "patchLeftOut": code.get("patchLeftOut") or None,
        "leftOutBytes": int(code.get("leftOutBytes", 0)) or None,
    }
