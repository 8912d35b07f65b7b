"""The columns of a table of runs where none were chosen: the namespace where it varies, the metric of the objective,
the fields of the query, and params that differ between the runs, as the server finds them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.output.text import printable
from cairn.command.runs.fields import Field, read_field

_PARAMS_MAX = 8
_OBJECTIVES_MAX = 1_000
_VALUE_LENGTH_MAX = 24
#: The most frequent ones.
_VALUES_LOOKED_AT = 5
#: An item of a list says little without the others.
_LIST_ITEM = re.compile(r"\.\d+(?:\.|$)")
_BEST = {"DIRECTION_MINIMIZE": "min", "DIRECTION_MAXIMIZE": "max"}


class Chosen(NamedTuple):
    #: Shown in any case.
    fields: list[Field]
    #: As many of them as there is room for, best first.
    params: list[Field]
    #: The objective, when it is the same for all rows.
    objective: Field | None


def find_objectives(client: Client, namespaces: Iterable[str]) -> dict[str, Field]:
    """The metrics of the objectives that apply in these namespaces, by their paths; those without one are left out."""
    held = held_objectives(client, namespaces)
    return {path: read_field(str(one["field"])) for path, one in held.items()}


def held_objectives(client: Client, namespaces: Iterable[str]) -> dict[str, dict[str, Any]]:
    paths = list(dict.fromkeys(namespaces))
    found: dict[str, dict[str, Any]] = {}
    for at in range(0, len(paths), _OBJECTIVES_MAX):
        asked = paths[at : at + _OBJECTIVES_MAX]
        found.update(client.call("NamespaceService/ListObjectives", {"namespaces": asked}).get("objectives", {}))
    return {path: found[path] for path in paths if path in found}


def choose_columns(
    client: Client, query: str, namespace: str, runs: list[dict[str, Any]], asked: list[Field]
) -> Chosen:
    namespaces = list(dict.fromkeys(str(run.get("namespace", "")) for run in runs))
    by_namespace = find_objectives(client, namespaces)
    known = client.call(
        "ExploreService/ListFields",
        {
            "runs": {"query": query, "namespace": namespace},
            "kinds": ["FIELD_KIND_PARAM", "FIELD_KIND_METRIC"],
            "valuesMax": _VALUES_LOOKED_AT,
        },
    )
    different = list(dict.fromkeys(by_namespace.values()))
    only = different[0] if different else None
    likely = None if any(field.of == "metric" for field in asked) else _default_metric(known)
    metric = Field("best", by_namespace=by_namespace) if len(different) > 1 else only or likely
    fields = [Field("run", "name"), Field("run", "status"), Field("age"), Field("run", "duration")]
    if len(namespaces) > 1:
        fields.append(Field("run", "namespace"))
    fields.extend(asked)
    if metric is not None and metric not in asked:
        fields.append(metric)
    params = [Field("param", key) for key in _default_params(known.get("fields", []))[:_PARAMS_MAX]]
    return Chosen(fields, [field for field in params if field not in asked], only if len(different) == 1 else None)


def _default_metric(known: dict[str, Any]) -> Field | None:
    """The objective, else the first metric that is not one of the machine."""
    objective = known.get("objective")
    if objective is not None:
        return read_field(str(objective["field"]))
    for field in known.get("fields", []):
        if field.get("kind") == "FIELD_KIND_METRIC" and not is_system_metric(field.get("key", "")):
            return Field("metric", field["key"], _BEST.get(field.get("direction", ""), "last"))
    return None


def _default_params(fields: list[dict[str, Any]]) -> list[str]:
    """Params that differ between the runs, the most informative first: no seeds, items of lists or long texts."""
    found = []
    for field in fields:
        seen = field.get("values", [])[:_VALUES_LOOKED_AT]
        is_short = bool(seen) and all(len(value.get("json", "")) <= _VALUE_LENGTH_MAX for value in seen)
        varies = float(field.get("variety", 0)) > 0
        is_param = field.get("kind") == "FIELD_KIND_PARAM"
        if is_param and varies and is_short and not _LIST_ITEM.search(field.get("key", "")):
            found.append(str(field["key"]))
    return found


def is_system_metric(key: str) -> bool:
    return key.startswith("system/")


def title_of(field: Field, fields: list[Field]) -> str:
    """The key alone, unless two columns have the same."""
    if field.of == "run":
        return "TOOK" if field.key == "duration" else field.key.upper()
    if field.of in ("age", "best"):
        return field.of.upper()
    if field.of == "metric":
        return printable(field.text[len("metrics.") :])
    is_twice = any(other is not field and other.key == field.key and other.of != "run" for other in fields)
    return printable(field.text if is_twice else field.key)
