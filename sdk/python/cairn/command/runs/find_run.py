"""Finds the run for a reference. Tried in this order: a whole id; a path `a/b/<id>`; an alias; then a name,
`namespace/name`, or the beginning of an id. An exact name is preferred to the beginning of an id."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cairn.client import Client
from cairn.command.errors import NOT_FOUND, USAGE, CommandError
from cairn.command.output.nearest import nearest
from cairn.command.output.text import cut, printable
from cairn.command.output.words import format_ago
from cairn.failure import Failure

#: Newest runs whose names are compared with one that was mistyped.
_NAMES_MAX = 1_000
_SHOWN_MAX = 200
_SUGGESTED_MAX = 3
#: How many runs are offered when several match.
_CANDIDATES = 10
_WHOLE_ID = re.compile(r"[0-9a-f]{32}")
#: With fewer digits it is more likely a name: 6 are of about four hours.
_ID_BEGINNING = re.compile(r"[0-9a-f]{6,31}")
#: The first 12 digits of an id are the time: runs of one millisecond differ only behind them.
_SHORT_ID = 16


def find_run(client: Client, text: str, namespace: str = "") -> dict[str, Any]:
    """The one run that `text` names, below `namespace` where one is given. Raises CommandError for none or several."""
    if not text:
        raise CommandError(
            'cannot find run "": it is empty',
            exit_code=USAGE,
            hint="give a name, an id or its beginning, a path or an alias",
        )
    exact = _find_exact(client, text, namespace)
    if exact is not None:
        return exact
    found = _search_run(client, text, namespace, False)
    if found is None:
        raise _not_found(client, text, namespace)
    return client.call("RunService/GetRun", {"run": {"id": found["id"]}})


def choose_runs(client: Client, words: Sequence[str], namespace: str, query: str | None) -> list[dict[str, Any]]:
    """The runs that a command line names, one by one and by a query; each once."""
    if not words and query is None:
        raise CommandError(
            "cannot choose runs: none is named", exit_code=USAGE, hint="name runs, or select them with --query"
        )
    chosen = {run["id"]: run for run in (find_run(client, word, namespace) for word in words)}
    if query is not None:
        request = {"query": query, "namespace": namespace, "pageSize": 1000, "columns": ["aliases"]}
        for run in client.pages("RunService/SearchRuns", request, "runs"):
            chosen[run["id"]] = run
    return list(chosen.values())


def short_id(run_id: str) -> str:
    """The part of an id that is enough to name a run."""
    return run_id[:_SHORT_ID]


def name_of(run: dict[str, Any]) -> str:
    name = run.get("name", "")
    return f"{printable(name)} ({short_id(run['id'])})" if name else str(run["id"])


def quote_text(text: str) -> str:
    """A text as a literal of the query language."""
    return json.dumps(text.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False)


def _find_exact(client: Client, text: str, namespace: str) -> dict[str, Any] | None:
    if _WHOLE_ID.fullmatch(text):
        run = _unless_missing(client, {"id": text})
        if run is not None:
            return run
    elif "/" in text and _WHOLE_ID.fullmatch(text.rsplit("/", 1)[1]):
        run = _unless_missing(client, {"path": text})
        if run is not None:
            return run
    return _unless_missing(client, {"alias": text, "namespace": namespace})


def _unless_missing(client: Client, ref: dict[str, str]) -> dict[str, Any] | None:
    try:
        return client.call("RunService/GetRun", {"run": ref})
    except Failure as failure:
        # A text that is not a valid alias, such as one that is too long, may still be a name.
        if failure.code in ("not_found", "invalid_argument") or failure.reason == "LIMIT_EXCEEDED":
            return None
        if failure.reason == "ALIAS_AMBIGUOUS":
            raise CommandError(str(failure.args[0]), exit_code=USAGE, hint=failure.hint) from failure
        raise


def _search_run(client: Client, text: str, namespace: str, trashed: bool) -> dict[str, Any] | None:
    def search(query: str) -> dict[str, Any] | None:
        request = {
            "query": query,
            "namespace": namespace,
            "trashed": trashed,
            "pageSize": _CANDIDATES,
            "columns": ["aliases"],
        }
        answer = client.call("RunService/SearchRuns", request)
        runs = answer.get("runs", [])
        if len(runs) > 1:
            raise _ambiguous(text, runs, int(answer.get("totalCount", 0)))
        return dict(runs[0]) if runs else None

    found = search(f"name = {quote_text(text)}")
    if found is not None:
        return found
    path, slash, name = text.rpartition("/")
    if slash and path and name:
        inside = f"namespace = {quote_text(path)} and"
        found = search(f"{inside} name = {quote_text(name)}")
        if found is None and _ID_BEGINNING.fullmatch(name):
            found = search(f'{inside} id like "{name}%"')
        if found is not None:
            return found
    return search(f'id like "{text}%"') if _ID_BEGINNING.fullmatch(text) else None


def _ambiguous(text: str, runs: list[dict[str, Any]], total: int) -> CommandError:
    lines = [
        f"  {run['namespace']}/{run['id']}  {printable(cut(run.get('name', ''), 40))}  "
        f"{format_ago(run.get('createdUs'))}"
        for run in runs
    ]
    if total > len(runs):
        lines.append(f"  and {total - len(runs)} more")
    return CommandError(
        f'cannot choose a run for "{_shown(text)}": {total} runs match\n' + "\n".join(lines),
        exit_code=USAGE,
        hint="give the id, or name the namespace: NAMESPACE/NAME",
    )


def _not_found(client: Client, text: str, namespace: str) -> CommandError:
    where = f' in namespace "{_shown(namespace)}"' if namespace else ""

    def failure(hint: str) -> CommandError:
        return CommandError(f'cannot find run "{_shown(text)}"{where}', exit_code=NOT_FOUND, hint=hint)

    if _search_run(client, text, namespace, True) is not None:
        return failure("it is in the trash; the page of its namespace can restore it")
    request = {"namespace": namespace, "pageSize": _NAMES_MAX, "columns": ["aliases"]}
    runs = client.call("RunService/SearchRuns", request).get("runs", [])
    names = [
        name
        for run in runs
        for name in (*run.get("aliases", []), run.get("name", ""), f"{run['namespace']}/{run.get('name', '')}")
        if name
    ]
    near = nearest(text, names)
    if near is not None:
        return failure(f"did you mean {_word(near)}?")
    longer = list(dict.fromkeys(run.get("name", "") for run in runs if text in run.get("name", "")))
    if not longer:
        return failure("`cairn ls` lists all runs")
    more = ", …" if len(longer) > _SUGGESTED_MAX else ""
    return failure(f"did you mean {', '.join(_word(name) for name in longer[:_SUGGESTED_MAX])}{more}?")


def _shown(text: str) -> str:
    return printable(cut(text, _SHOWN_MAX))


def _word(text: str) -> str:
    return text if re.fullmatch(r"[\w./:@-]+", text, re.ASCII) else f'"{_shown(text)}"'
