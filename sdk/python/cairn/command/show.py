"""`cairn show`: one run on one screen, the most important first."""

from __future__ import annotations

import argparse
import time
from itertools import islice
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.logs import Selection, read_last_lines
from cairn.command.options import Parser
from cairn.command.output.shell import shell_line
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import cut, fit_line, paint, printable, readable
from cairn.command.output.words import (
    count_of,
    enum_word,
    format_ago,
    format_bytes,
    format_duration,
    format_time,
    iso_time,
)
from cairn.command.runs.default_columns import held_objectives
from cairn.command.runs.fields import duration_of, status_mark
from cairn.command.runs.find_run import find_run, quote_text, short_id
from cairn.command.runs.json_run import json_run
from cairn.command.runs.params import json_params, param_tree
from cairn.command.runs.show_metrics import RunSeries, count_words, json_series, list_run_series, metric_lines
from cairn.command.runs.show_provenance import Labelled, labelled, provenance_in_full, provenance_summary

_PAGE = 1_000
_LOG_LINES = 5
#: What fits on one screen beside the rest; the options show all.
_PARAM_LINES_MAX = 14
_ARTIFACT_LINES_MAX = 5
_SOURCE_LINES_MAX = 5
#: Of which a page shows a few and counts the others.
_ARTIFACTS_COUNTED = 1_000
_REFERENCE = "ARTIFACT_PLACE_REFERENCE"


class _Shown(NamedTuple):
    run: dict[str, Any]
    #: The metric of the objective; "" where there is none.
    objective: str
    metrics: RunSeries
    artifacts: list[dict[str, Any]]
    more_artifacts: bool
    sources: list[dict[str, Any]]
    #: Names of those on the page that the caller may see, by run id.
    source_names: dict[str, str]
    #: Only of a run that went wrong: the reason is mostly in its last lines.
    log: list[dict[str, Any]]


def run(terminal: Terminal, words: list[str]) -> None:
    options = _parser().read(words)
    client = terminal.connect()
    found = find_run(client, options.run, options.namespace or "")
    shown = _gather(terminal, client, found, options.metrics or "")
    if terminal.options.json:
        metrics = shown.metrics
        if len(metrics.series) < metrics.total:
            terminal.note(
                f"{len(metrics.series):,} of {count_of(metrics.total, 'metric')}; --metrics GLOB selects others"
            )
        terminal.print_json(_json_shown(shown))
        return
    width = terminal.table_width
    for line in _page(client, shown, options, terminal.colour, width):
        terminal.print(fit_line(line, width))


def _parser() -> Parser:
    parser = Parser(
        "show",
        "one run: status, params, metrics, artifacts, where it came from",
        examples="""
        cairn show first-try
        cairn show first-try --metrics 'val/**'
        cairn show langtech/asr/first-try --provenance""",
    )
    parser.add_argument("run", help="id, name, alias or path of a run")
    parser.text("--metrics", "only metrics, those that match: 'train/*', or '**' for all", "GLOB")
    parser.switch("--params", "only params, but all of them")
    parser.switch("--provenance", "only what is needed to run it again: code, patch, command, environment")
    parser.text("--namespace", "where to look for the run", "PATH", short="-n")
    return parser


def _gather(terminal: Terminal, client: Client, found: dict[str, Any], glob: str) -> _Shown:
    """Everything that the page or the JSON document shows of a run."""
    ref = {"run": {"id": found["id"]}, "pageSize": _PAGE}
    namespace = found.get("namespace", "")
    objective = str(held_objectives(client, [namespace]).get(namespace, {}).get("metric", ""))
    pages = client.pages("ArtifactService/ListArtifacts", ref, "artifacts")
    artifacts = list(pages if terminal.options.json else islice(pages, _ARTIFACTS_COUNTED + 1))
    more = not terminal.options.json and len(artifacts) > _ARTIFACTS_COUNTED
    sources = list(client.pages("LineageService/ListSources", ref, "sources"))
    log: list[dict[str, Any]] = []
    if found.get("status") in ("RUN_STATUS_FAILED", "RUN_STATUS_LOST"):
        selection = Selection(found["id"], {}, "", "", False, terminal.note)
        log, _ = read_last_lines(client, selection, _LOG_LINES)
    return _Shown(
        found,
        objective,
        list_run_series(client, found["id"], glob, objective),
        artifacts[:_ARTIFACTS_COUNTED] if more else artifacts,
        more,
        sources,
        _names(client, sources[:_SOURCE_LINES_MAX]),
        log,
    )


def _names(client: Client, sources: list[dict[str, Any]]) -> dict[str, str]:
    ids = sorted({source["runId"] for source in sources if source.get("runId")})
    if not ids:
        return {}
    request = {"query": f"id in ({', '.join(quote_text(one) for one in ids)})", "columns": ["aliases"]}
    runs = client.call("RunService/SearchRuns", request).get("runs", [])
    return {one["id"]: one.get("name", "") for one in runs}


def _page(client: Client, shown: _Shown, options: argparse.Namespace, colour: bool, width: int) -> list[str]:
    is_part = options.metrics is not None or options.params or options.provenance
    lines = [_title(shown.run, colour)] if is_part else _header(shown.run, colour, width)

    def section(title: str, body: list[str], count: str = "") -> None:
        if body:
            lines.extend(["", paint(colour, "bold", title) + (paint(colour, "dim", f"  {count}") if count else "")])
            lines.extend(f"  {line}" if line else "" for line in body)

    if not is_part:
        section("Last lines", _last_lines(shown.log, colour))
    if not is_part or options.params:
        tree = param_tree(shown.run.get("params", {}), colour)
        section("Params", tree if is_part else _first(tree, _PARAM_LINES_MAX, "--params shows all", colour))
    if not is_part or options.metrics is not None:
        body = metric_lines(
            client,
            shown.run["id"],
            shown.metrics,
            shown.objective,
            colour=colour,
            columns=width,
            in_full=is_part,
        )
        section("Metrics", body, count_words(shown.metrics))
    if not is_part:
        section("Artifacts", _artifact_lines(shown, colour))
        section("Sources", _source_lines(shown, colour))
        section("Provenance", labelled(provenance_summary(shown.run), colour))
    if options.provenance:
        full = provenance_in_full(shown.run, colour)
        section("Provenance", full if "provenance" in shown.run else ["none was recorded"])
    return lines


def _title(one: dict[str, Any], colour: bool) -> str:
    trash = paint(colour, "yellow", "  in the trash") if int(one.get("deletedUs", 0)) else ""
    name = paint(colour, "bold", printable(one.get("name", "")))
    namespace = paint(colour, "dim", printable(one.get("namespace", "")))
    return f"{name}  {status_mark(one, colour)}{trash}  {namespace}"


def _header(one: dict[str, Any], colour: bool, width: int) -> list[str]:
    rows: list[Labelled] = [("id", one["id"])]
    if one.get("aliases"):
        rows.append(("alias", ", ".join(one["aliases"])))
    seconds = duration_of(one, time.time())
    if seconds is None:
        created = one.get("createdUs")
        rows.append(("created", f"{format_time(created)} ({format_ago(created)}), has not started"))
    else:
        started = one.get("startedUs")
        word = "took" if int(one.get("endedUs", 0)) else "for"
        rows.append(("started", f"{format_time(started)} ({format_ago(started)}), {word} {format_duration(seconds)}"))
    command = one.get("provenance", {}).get("command", [])
    if command:
        rows.append(("command", shell_line(command)))
    tags = one.get("tags", {})
    if tags:
        rows.append(("tags", "  ".join(f"{key}={tags[key]}" for key in sorted(tags))))
    note, _, more = one.get("notes", "").strip().partition("\n")
    if note:
        rows.append(("notes", f"{cut(note, min(width, 100) - 12)} …" if more else note))
    return [_title(one, colour), *labelled(rows, colour)]


def _last_lines(log: list[dict[str, Any]], colour: bool) -> list[str]:
    return [paint(colour and line.get("stream") == "stderr", "red", readable(line.get("text", ""))) for line in log]


def _artifact_lines(shown: _Shown, colour: bool) -> list[str]:
    lines = []
    for artifact in shown.artifacts[:_ARTIFACT_LINES_MAX]:
        step = f" @{artifact['step']}" if "step" in artifact else ""
        size = f"  {format_bytes(int(artifact['sizeBytes']))}" if "sizeBytes" in artifact else ""
        uri = f"  → {printable(artifact.get('uri', ''))}" if artifact.get("place") == _REFERENCE else ""
        lines.append(f"{printable(artifact['name'])}{paint(colour, 'dim', f'{step}{size}{uri}')}")
    left = len(shown.artifacts) - len(lines)
    if left > 0:
        count = count_of(left, "more", "more") + (" or more" if shown.more_artifacts else "")
        lines.append(paint(colour, "dim", f"… {count}; `cairn artifacts ls {short_id(shown.run['id'])}` lists all"))
    return lines


def _source_lines(shown: _Shown, colour: bool) -> list[str]:
    lines = []
    for source in shown.sources:
        artifact = source.get("artifact", "")
        through = paint(colour, "cyan", f"{printable(artifact)} ← ") if artifact else ""
        run_id = source.get("runId", "")
        if source.get("hidden"):
            lines.append("hidden")
        elif not run_id:
            lines.append(f"{through}{printable(source.get('externalId', ''))}")
        else:
            name = printable(shown.source_names.get(run_id, "run"))
            lines.append(f"{through}{name}  {paint(colour, 'dim', short_id(run_id))}")
    way = f"`cairn lineage {short_id(shown.run['id'])}` shows all"
    return _first(lines, _SOURCE_LINES_MAX, way, colour)


def _first(lines: list[str], most: int, way: str, colour: bool) -> list[str]:
    if len(lines) <= most:
        return lines
    return [*lines[:most], paint(colour, "dim", f"… {count_of(len(lines) - most, 'more line')}; {way}")]


def _json_shown(shown: _Shown) -> dict[str, Any]:
    found = {
        **json_run(shown.run),
        "series": [json_series(info) for info in shown.metrics.series],
        "seriesCount": shown.metrics.total,
        "artifacts": [_json_artifact(artifact) for artifact in shown.artifacts],
        "sources": [_json_source(source) for source in shown.sources],
    }
    if shown.log:
        found["lastLines"] = [line.get("text", "") for line in shown.log]
    return found


def _json_artifact(artifact: dict[str, Any]) -> dict[str, Any]:
    is_reference = artifact.get("place") == _REFERENCE
    return {
        "name": artifact["name"],
        "step": int(artifact["step"]) if "step" in artifact else None,
        "kind": enum_word(artifact.get("kind"), "ARTIFACT_KIND_"),
        "place": "reference" if is_reference else "stored",
        "uri": artifact.get("uri", "") if is_reference else None,
        "sha256": artifact.get("sha256") or None,
        "sizeBytes": int(artifact["sizeBytes"]) if "sizeBytes" in artifact else None,
        "mediaType": artifact.get("mediaType", ""),
        "metadata": json_params(artifact.get("metadata", {})),
        "created": iso_time(artifact.get("createdUs")),
        "createdBy": artifact.get("createdBy", ""),
    }


def _json_source(source: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    if source.get("hidden"):
        found = {"hidden": True}
    elif source.get("runId"):
        found = {"runId": source["runId"]}
    else:
        found = {"externalId": source.get("externalId", "")}
    return {**found, "artifact": source.get("artifact") or None}
