"""Fields of the query language as columns of a table: `status`, `params.lr`, `tags.team`, `metrics.loss.min`."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from cairn.command.errors import USAGE, CommandError
from cairn.command.output.text import paint, printable
from cairn.command.output.words import (
    enum_word,
    format_ago,
    format_duration,
    format_number,
    format_time,
    iso_time,
    to_float,
)
from cairn.command.runs.params import MISSING, Literal, leaf_content, leaf_word, param_at

RUN_FIELDS = (
    "id", "name", "namespace", "status", "notes", "alias", "created", "started", "ended", "updated", "duration",
    "creator", "user", "host", "study", "initial_state", "training_data", "test_data", "feature_pipeline",
    "logs_location", "repository", "commit", "branch",
)  # fmt: skip
#: Where the answer has those that are part of the provenance.
_OF_PROVENANCE = {
    "user": "user",
    "study": "study",
    "initial_state": "initialState",
    "training_data": "trainingData",
    "test_data": "testData",
    "feature_pipeline": "featurePipeline",
    "logs_location": "logsLocation",
}
_OF_CODE = ("repository", "commit", "branch")
_STATS = ("last", "first", "min", "max", "mean", "count")
_TIMES = ("created", "started", "ended", "updated")
_MARKS = {
    "scheduled": ("◌", "dim"),
    "running": ("●", "cyan"),
    "finished": ("✓", "green"),
    "failed": ("✗", "red"),
    "killed": ("■", "yellow"),
    "lost": ("?", "magenta"),
}
_BARE = r"[\w\-/@:#$%&+]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_SEGMENT = re.compile(rf"\.(?:({_QUOTED})|({_BARE}))")
_PATH = re.compile(rf"(params|tags|metrics)((?:\.(?:{_QUOTED}|{_BARE}))+)", re.IGNORECASE)
#: A path, a text in quotes, which may look like one, or any other piece of a query.
_PIECES = re.compile(rf"({_PATH.pattern})|{_QUOTED}|'[^']*'|[\w.]+|.", re.IGNORECASE | re.DOTALL)


class Field(NamedTuple):
    #: "run", "param", "tag", "metric", "age" or "best".
    of: str
    key: str = ""
    stat: str = ""
    #: Of "best": the objective of each run's own namespace.
    by_namespace: dict[str, Field] | None = None

    @property
    def text(self) -> str:
        """Reads back as the same field, whatever its key holds."""
        if self.of == "param":
            return f"params.{_path(self.key)}"
        if self.of == "tag":
            return f"tags.{_path(self.key)}"
        if self.of == "metric":
            return f"metrics.{_path(self.key)}.{self.stat}"
        return self.key if self.of == "run" else self.of


def read_field(text: str) -> Field:
    """Raises CommandError for a text that is not a column."""
    word = text.strip().lower()
    if word == "age":
        return Field("age")
    if word in RUN_FIELDS:
        return Field("run", word)
    found = _PATH.fullmatch(text.strip())
    if found is None:
        raise CommandError(
            f'cannot use column "{text}": it is not a field',
            exit_code=USAGE,
            hint=f"columns are age, {', '.join(RUN_FIELDS)}, params.KEY, tags.KEY and metrics.KEY.STAT",
        )
    return _keyed(found[1], found[2])


def mentioned_fields(query: str) -> list[Field]:
    """The params, tags, metrics and provenance in a condition or an order, each once."""
    found: dict[Field, None] = {}
    for piece in _PIECES.finditer(query):
        word = piece[0].lower()
        if piece[1]:
            found[_keyed(piece[2], piece[3])] = None
        elif word == "host" or word in _OF_PROVENANCE or word in _OF_CODE:
            found[Field("run", word)] = None
    return list(found)


def has_order(query: str) -> bool:
    words = [piece[0].lower() for piece in _PIECES.finditer(query) if piece[0].strip()]
    return any(first == "order" and then == "by" for first, then in zip(words, words[1:]))


def split_list(text: str) -> list[str]:
    """The items of a list with commas; commas in quotes separate nothing."""
    items = re.findall(rf"(?:{_QUOTED}|[^,])+", text)
    return [item.strip() for item in items if item.strip()]


def _keyed(root: str, path: str) -> Field:
    segments = [(str(json.loads(quoted)), True) if quoted else (bare, False) for quoted, bare in _SEGMENT.findall(path)]
    keys = [key for key, _ in segments]
    if root.lower() != "metrics":
        return Field("param" if root.lower() == "params" else "tag", ".".join(keys))
    if len(segments) > 1 and segments[-1][0] in _STATS and not segments[-1][1]:
        return Field("metric", ".".join(keys[:-1]), keys[-1])
    return Field("metric", ".".join(keys), "last")


def _path(key: str) -> str:
    return ".".join(
        part if re.fullmatch(_BARE, part) else json.dumps(part, ensure_ascii=False) for part in key.split(".")
    )


def columns_for(fields: list[Field]) -> list[str]:
    """What a search must fill in to show these fields. Never empty, because that would mean nearly everything."""
    columns: dict[str, None] = {}
    for field in fields:
        if field.of == "best":
            columns.update({metric.text: None for metric in (field.by_namespace or {}).values()})
        elif field.of in ("param", "tag", "metric"):
            columns[field.text] = None
        elif field.of == "run" and field.key == "alias":
            columns["aliases"] = None
        elif field.of == "run" and (field.key in ("notes", "host", *_OF_CODE) or field.key in _OF_PROVENANCE):
            columns[field.key] = None
    return list(columns) or ["aliases"]


def status_mark(run: dict[str, Any], colour: bool) -> str:
    """A sign and the word, such as "✓ finished"; readable without colour."""
    word = enum_word(run.get("status"), "RUN_STATUS_")
    mark, style = _MARKS.get(word, ("?", "dim"))
    return f"{paint(colour, style, mark)} {word}"


def start_us(run: dict[str, Any]) -> int:
    """When a run started; when it was created, if it has not."""
    return int(run.get("startedUs", 0)) or int(run.get("createdUs", 0))


def duration_of(run: dict[str, Any], now_s: float) -> float | None:
    """Seconds; of a run that has not ended, until now; None for one that never started."""
    started = int(run.get("startedUs", 0))
    if not started:
        return None
    ended = int(run.get("endedUs", 0)) or now_s * 1e6
    # The writer's clock may be ahead of ours.
    return max(0.0, (ended - started) / 1e6)


def metric_of(run: dict[str, Any], field: Field) -> float | None:
    value = run.get("metrics", {}).get(f"{field.key}.{field.stat}")
    return None if value is None else to_float(value)


def is_numeric(runs: list[dict[str, Any]], field: Field) -> bool:
    """Whether its values are numbers, which are aligned right."""
    if field.of in ("metric", "age"):
        return True
    if field.of == "run":
        return field.key == "duration"
    if field.of != "param":
        return False
    leaves = [param_at(run.get("params", {}), field.key) for run in runs]
    present = [leaf for leaf in leaves if leaf is not MISSING]
    return bool(present) and all(isinstance(leaf, Literal) for leaf in present)


def cell_text(run: dict[str, Any], field: Field, colour: bool, now_s: float) -> str:
    """One value of one run, for a table. Printable."""
    if field.of == "age":
        return re.sub(r" ago$", "", format_ago(start_us(run), now_s))
    if field.of == "param":
        leaf = param_at(run.get("params", {}), field.key)
        return "" if leaf is MISSING else printable(leaf_word(leaf))
    if field.of == "metric":
        value = metric_of(run, field)
        return "" if value is None else format_number(value)
    if field.of == "best":
        metric = (field.by_namespace or {}).get(run.get("namespace", ""))
        value = metric_of(run, metric) if metric is not None else None
        return "" if value is None or metric is None else f"{format_number(value)} {printable(metric.key)}"
    if field.of == "run" and field.key == "status":
        return status_mark(run, colour)
    if field.of == "run" and field.key in _TIMES:
        return format_time(run.get(f"{field.key}Us"))
    if field.of == "run" and field.key == "duration":
        seconds = duration_of(run, now_s)
        return "" if seconds is None else format_duration(seconds)
    if field.of == "run" and field.key == "notes":
        return printable(run.get("notes", "").split("\n")[0])
    return printable(cell_value(run, field, now_s))


def cell_value(run: dict[str, Any], field: Field, now_s: float) -> str:
    """The same value for a program: numbers with every digit, times in ISO 8601, durations in seconds."""
    if field.of == "age":
        return str(max(0, round(now_s - start_us(run) / 1e6)))
    if field.of == "param":
        leaf = param_at(run.get("params", {}), field.key)
        return "" if leaf is MISSING else leaf_content(leaf)
    if field.of == "tag":
        return str(run.get("tags", {}).get(field.key, ""))
    if field.of in ("metric", "best"):
        metric = (field.by_namespace or {}).get(run.get("namespace", "")) if field.of == "best" else field
        value = metric_of(run, metric) if metric is not None else None
        return "" if value is None else number_text(value)
    if field.key == "status":
        return enum_word(run.get("status"), "RUN_STATUS_")
    if field.key in _TIMES:
        return iso_time(run.get(f"{field.key}Us")) or ""
    if field.key == "duration":
        seconds = duration_of(run, now_s)
        return "" if seconds is None else number_text(seconds)
    if field.key == "alias":
        return ", ".join(run.get("aliases", []))
    provenance = run.get("provenance", {})
    if field.key in _OF_PROVENANCE:
        value = provenance.get(_OF_PROVENANCE[field.key], "")
        return ", ".join(value) if isinstance(value, list) else str(value)
    if field.key == "host":
        return str(provenance.get("environment", {}).get("host", ""))
    if field.key in _OF_CODE:
        return str(provenance.get("code", {}).get(field.key, ""))
    return str(run.get(field.key, ""))


def number_text(value: float) -> str:
    """As JavaScript writes it, so that both command lines print the same."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = int(exponent)
        if -7 < power < 0:
            # Python writes 1e-05 where JavaScript writes 0.00001.
            return f"{value:.{len(mantissa.replace('-', '').replace('.', '')) - 1 - power}f}"
        return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
    return text
