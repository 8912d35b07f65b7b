"""`cairn ls`: runs that match a query, as a table."""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.errors import USAGE, CommandError
from cairn.command.options import Parser
from cairn.command.output.csv_text import csv_row
from cairn.command.output.terminal import Terminal
from cairn.command.output.words import count_of
from cairn.command.runs.default_columns import Chosen, choose_columns, find_objectives
from cairn.command.runs.fields import (
    Field,
    cell_value,
    columns_for,
    has_order,
    mentioned_fields,
    read_field,
    split_list,
)
from cairn.command.runs.json_run import json_run
from cairn.command.runs.params import leaf_paths
from cairn.command.runs.run_table import run_table
from cairn.command.whole import INSTALL

_LIMIT_DEFAULT = 50
_PAGE = 1_000
_CSV_FIELDS = ("id", "name", "namespace", "status", "created", "started", "ended", "duration")


class Search(NamedTuple):
    query: str
    namespace: str
    trashed: bool
    #: How many runs at most; None for all.
    limit: int | None


class Found(NamedTuple):
    runs: list[dict[str, Any]]
    #: All that match.
    total: int


def run(terminal: Terminal, words: list[str]) -> None:
    options = _parser().read(words)
    if options.watch:
        raise CommandError(f"`cairn ls --watch` needs {INSTALL}", exit_code=USAGE)
    asked = [read_field(text) for text in split_list(options.columns)] if options.columns is not None else None
    if asked == []:
        raise CommandError("--columns must be a list such as name,params.lr", exit_code=USAGE)
    for_program = terminal.options.json or options.csv
    query = options.query or ""
    if options.mine:
        query = _and(query, "creator = me")
    search = Search(
        _sorted(query, options.sort),
        options.namespace or "",
        bool(options.trash),
        options.limit or (None if for_program else _LIMIT_DEFAULT),
    )
    client = terminal.connect()
    if terminal.options.json:
        _print_json(terminal, client, search, asked)
    elif options.csv:
        _print_csv(terminal, client, search, asked)
    else:
        _print_table(terminal, client, search, asked)


def _parser() -> Parser:
    parser = Parser(
        "ls",
        "runs that match a query, as a table",
        more="Without --columns: fields that differ between the runs, the objective of their namespace, and the\n"
        "fields of the query.",
        examples="""
        cairn ls
        cairn ls 'status = "running"' -n langtech --mine
        cairn ls 'params.optim.lr <= 1e-3' --sort metrics.val_loss.min --limit 10
        cairn ls --columns name,params.lr,metrics.val_acc.max --csv > runs.csv""",
    )
    parser.add_argument("query", nargs="?", help="such as 'metrics.val_acc.max > 0.9'; see docs/query.md")
    parser.text("--namespace", "only runs in this namespace and below", "PATH", short="-n")
    parser.text("--columns", "such as name,params.lr,metrics.val_acc.max", "LIST")
    parser.text("--sort", "such as metrics.loss.min or started:desc; several with commas", "FIELD")
    parser.count("--limit", f"how many at most (default: {_LIMIT_DEFAULT}; with --csv and --json all)", 1)
    parser.switch("--mine", "only runs that you created: creator = me")
    parser.switch("--trash", "only runs in the trash")
    parser.switch("--csv", "for spreadsheets: every param, numbers in full")
    parser.switch("--watch", f"show changes live; needs {INSTALL}")
    return parser


def _and(query: str, condition: str) -> str:
    found = re.search(r"(?:^|\s)order\s+by\s", query, re.IGNORECASE) if has_order(query) else None
    before, order = (query, "") if found is None else (query[: found.start()], query[found.start() :])
    return f"({before.strip()}) and {condition}{order}" if before.strip() else f"{condition}{order}"


def _sorted(query: str, sort: str | None) -> str:
    if sort is None:
        return query
    if has_order(query):
        raise CommandError(
            f'cannot sort by "{sort}": the query already has an order',
            exit_code=USAGE,
            hint="leave out --sort, or `order by` in the query",
        )
    orders = []
    for item in split_list(sort):
        field, _, direction = item.rpartition(":")
        if direction.lower() not in ("asc", "desc"):
            field, direction = item, ""
        orders.append(f"{'started' if field == 'age' else field} {direction}".strip())
    if not orders:
        raise CommandError(
            f'cannot sort by "{sort}": a field is required',
            exit_code=USAGE,
            hint="such as metrics.loss.min or started:desc",
        )
    return f"{query} order by {', '.join(orders)}".strip()


def search_runs(client: Client, search: Search, columns: list[str]) -> Found:
    """As many runs as the search wants, where there are so many."""
    runs: list[dict[str, Any]] = []
    total = 0
    token = ""
    while True:
        left = None if search.limit is None else search.limit - len(runs)
        request = {
            "query": search.query,
            "namespace": search.namespace,
            "trashed": search.trashed,
            "columns": columns,
            "pageSize": _PAGE if left is None else min(_PAGE, left),
            "pageToken": token,
        }
        page = client.call("RunService/SearchRuns", request)
        if not token:
            total = int(page.get("totalCount", 0))
        runs.extend(page.get("runs", []))
        token = page.get("nextPageToken", "")
        if not token or (search.limit is not None and len(runs) >= search.limit):
            return Found(runs, total)


def _print_table(terminal: Terminal, client: Client, search: Search, asked: list[Field] | None) -> None:
    first = search_runs(client, search, ["params"])
    if not first.runs:
        # An unknown namespace is an error; one without matching runs is not.
        if search.namespace:
            client.call("NamespaceService/GetNamespace", {"path": search.namespace})
        terminal.note("no runs in the trash match" if search.trashed else "no runs match")
        return
    if asked is None:
        chosen = choose_columns(client, search.query, search.namespace, first.runs, mentioned_fields(search.query))
    else:
        chosen = Chosen(asked, [], None)
    found = search_runs(client, search, list(dict.fromkeys(["params", *columns_for(chosen.fields)])))
    terminal.print(
        run_table(
            found.runs,
            chosen,
            colour=terminal.colour,
            width=terminal.table_width,
            now_s=time.time(),
            under=search.namespace,
        )
    )
    shown = len(found.runs)
    if shown >= found.total:
        terminal.note(count_of(found.total, "run"))
    else:
        terminal.note(f"{shown:,} of {count_of(found.total, 'run')}; --limit shows more")


def _print_json(terminal: Terminal, client: Client, search: Search, asked: list[Field] | None) -> None:
    wanted = ["params", "tags", "aliases", "notes"] if asked is None else columns_for(asked)
    metrics = [field for field in mentioned_fields(search.query) if field.of == "metric"]
    found = search_runs(client, search, list(dict.fromkeys([*wanted, *columns_for(metrics)])))
    terminal.print_json({"totalCount": found.total, "runs": [json_run(one) for one in found.runs]})


def _print_csv(terminal: Terminal, client: Client, search: Search, asked: list[Field] | None) -> None:
    fields = asked
    found = search_runs(client, search, ["params", "tags"] if asked is None else columns_for(asked))
    if fields is None:
        objectives = find_objectives(client, [str(one.get("namespace", "")) for one in found.runs])
        metrics = [field for field in mentioned_fields(search.query) if field.of == "metric"]
        metrics = list(dict.fromkeys([*metrics, *objectives.values()]))
        if metrics:
            found = search_runs(client, search, ["params", "tags", *columns_for(metrics)])
        params = {path for one in found.runs for path in leaf_paths(one.get("params", {}))}
        tags = {key for one in found.runs for key in one.get("tags", {})}
        fields = [
            *(Field("run", name) for name in _CSV_FIELDS),
            *metrics,
            *(Field("param", key) for key in sorted(params)),
            *(Field("tag", key) for key in sorted(tags)),
        ]
    now_s = time.time()
    terminal.print(csv_row([field.text for field in fields]))
    for one in found.runs:
        terminal.print(csv_row([cell_value(one, field, now_s) for field in fields]))
