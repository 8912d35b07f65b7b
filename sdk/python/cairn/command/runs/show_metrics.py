"""The metrics of a run as rows: last, smallest and largest value, and a line of bars of all points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.output.text import WITHOUT_LIMIT, Column, cut, paint, printable, table, width_of
from cairn.command.output.words import enum_word, format_number, to_float
from cairn.command.runs.default_columns import is_system_metric

_PAGE = 1_000
_SERIES_MAX = 100_000
_ROWS_MAX = 10
_SPARKLINES_MAX = 500
_SPARK_WIDTH_MIN = 10
_SPARK_WIDTH_MAX = 40
_KEY_WIDTH = 28
_BARS = "▁▂▃▄▅▆▇█"
#: An extreme is shown when it is so many times as far from its mean as the usual spread of a bucket.
_OUTLIER = 3
_TITLES = ("", "last", "min", "", "max", "", "points")


class RunSeries(NamedTuple):
    #: The objective comes first, then metrics by key, system metrics last.
    series: list[dict[str, Any]]
    #: All that match, of which `series` may be the beginning.
    total: int


def list_run_series(client: Client, run_id: str, glob: str, first: str) -> RunSeries:
    """Series of a run, those that match `glob`, or all of them for ""."""
    request = {"run": {"id": run_id}, "glob": glob, "pageSize": _PAGE}
    series: list[dict[str, Any]] = []
    total, token = 0, ""
    while True:
        page = client.call("MetricService/ListSeries", {**request, "pageToken": token})
        series.extend(page.get("series", []))
        total = int(page.get("totalCount", 0))
        token = page.get("nextPageToken", "")
        if not token or len(series) >= _SERIES_MAX:
            break
    if len(series) < total and not glob and first:
        matchers = [{"op": "MATCH_OP_EQUAL", "value": first}]
        objective = client.call("MetricService/ListSeries", {**request, "matchers": matchers}).get("series", [])
        series = [*objective, *(info for info in series if info["key"] != first)]

    def rank(info: dict[str, Any]) -> int:
        by_key = 0 if info["key"] == first else 4 if is_system_metric(info["key"]) else 2
        return by_key + (1 if info.get("labels") else 0)

    return RunSeries(sorted(series, key=rank), total)


def count_words(metrics: RunSeries) -> str:
    if metrics.total <= _ROWS_MAX:
        return ""
    if len(metrics.series) < metrics.total:
        return f"{metrics.total:,}; only the first {len(metrics.series):,} were read"
    system = sum(is_system_metric(info["key"]) for info in metrics.series)
    return f"{metrics.total:,}" + (f", {system:,} of them system/" if system else "")


def metric_lines(
    client: Client, run_id: str, metrics: RunSeries, objective: str, *, colour: bool, columns: int, in_full: bool
) -> list[str]:
    # System metrics are left out here, unless there are no others.
    own = [info for info in metrics.series if not is_system_metric(info["key"])]
    groups = [[info] for info in metrics.series] if in_full else _by_key(own or metrics.series)[:_ROWS_MAX]
    if not groups:
        return []
    is_starred = any(group[0]["key"] == objective for group in groups)
    cells = [_row(group, objective, is_starred, in_full) for group in groups]
    used = 2 + sum(2 + max(width_of(title), *(width_of(row[at]) for row in cells)) for at, title in enumerate(_TITLES))
    width = min(_SPARK_WIDTH_MAX, columns - used)
    shown = [Column(title, right=title != "") for title in _TITLES]
    if width >= _SPARK_WIDTH_MIN:
        single = [group[0] if len(group) == 1 else None for group in groups]
        sparks = read_sparklines(client, run_id, single, width)
        shown.append(Column(""))
        cells = [[*row, paint(colour, "cyan", spark)] for row, spark in zip(cells, sparks)]
    lines = table(shown, cells, colour=colour, width=WITHOUT_LIMIT).split("\n")
    left = metrics.total - sum(len(group) for group in groups)
    way = "GLOB shows those that match" if len(metrics.series) < metrics.total else "'**' shows all"
    if left > 0:
        lines.append(paint(colour, "dim", f"… {left:,} more; --metrics {way}"))
    if width >= _SPARK_WIDTH_MIN and len(groups) > _SPARKLINES_MAX:
        lines.append(paint(colour, "dim", f"only the first {_SPARKLINES_MAX} have a sparkline"))
    return lines


def _row(group: list[dict[str, Any]], objective: str, is_starred: bool, in_full: bool) -> list[str]:
    first = group[0]
    star = "" if not is_starred else "★ " if first["key"] == objective else "  "
    width = _KEY_WIDTH * (2 if in_full else 1)
    if len(group) == 1:
        return [star + cut(series_name(first), width), *_cells(first)]
    return [f"{star}{cut(printable(first['key']), width - 4)} ×{len(group)}", *_group_cells(group)]


def series_name(info: dict[str, Any]) -> str:
    """`loss` or `loss{rank=3}`, printable."""
    labels = ",".join(sorted(f"{name}={value}" for name, value in info.get("labels", {}).items()))
    return printable(info["key"] + (f"{{{labels}}}" if labels else ""))


def _cells(info: dict[str, Any]) -> list[str]:
    """last, min, at, max, at, count."""
    summary, kind = info.get("summary", {}), info.get("kind", "")
    is_text = kind == "SERIES_KIND_TEXT"
    least = None if is_text else summary.get("min")
    most = None if is_text else summary.get("max")
    nan = int(summary.get("nanCount", 0))
    return [
        _sample(summary.get("last"), kind),
        _sample(least, kind),
        _at(least),
        _sample(most, kind),
        _at(most),
        f"{int(summary.get('count', 0)):,}" + (f" ({nan:,} NaN)" if nan else ""),
    ]


def _group_cells(group: list[dict[str, Any]]) -> list[str]:
    """Series of one key under different labels, as one row: the last values as a range."""
    summaries = [info.get("summary", {}) for info in group]
    lasts = [_value(summary["last"]) for summary in summaries if summary.get("last")]
    lasts = [value for value in lasts if not math.isnan(value)]
    ends = [format_number(value) for value in (min(lasts), max(lasts))] if lasts else []
    leasts = [summary["min"] for summary in summaries if summary.get("min")]
    mosts = [summary["max"] for summary in summaries if summary.get("max")]
    least = min(leasts, key=_value) if leasts else None
    most = max(mosts, key=_value) if mosts else None
    kind = "SERIES_KIND_NUMBER"
    return [
        "" if not ends else ends[0] if ends[0] == ends[1] else "…".join(ends),
        _sample(least, kind),
        _at(least),
        _sample(most, kind),
        _at(most),
        f"{sum(int(summary.get('count', 0)) for summary in summaries):,}",
    ]


def _by_key(series: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Label sets of a key together, where it has several numbers; in the order of the first of each."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for info in series:
        is_alone = not info.get("labels") or info.get("kind", "SERIES_KIND_NUMBER") != "SERIES_KIND_NUMBER"
        groups.setdefault(f"={series_name(info)}" if is_alone else f"*{info['key']}", []).append(info)
    return list(groups.values())


def _value(sample: dict[str, Any]) -> float:
    return to_float(sample.get("value", 0))


def _at(sample: dict[str, Any] | None) -> str:
    return "" if sample is None or "step" not in sample else f"@{sample['step']}"


def _sample(sample: dict[str, Any] | None, kind: str) -> str:
    if sample is None:
        return ""
    if kind == "SERIES_KIND_TEXT":
        return printable(cut(sample.get("text", ""), 24))
    if kind == "SERIES_KIND_INTEGER":
        return str(sample.get("integer", 0))
    if kind == "SERIES_KIND_BOOL":
        return "true" if sample.get("value", 0) else "false"
    return format_number(_value(sample))


def read_sparklines(client: Client, run_id: str, series: list[dict[str, Any] | None], width: int) -> Iterator[str]:
    """A line of bars per series, from all of its points; empty where it has no numbers."""
    read = 0
    for info in series:
        if info is None or info.get("kind") == "SERIES_KIND_TEXT" or read == _SPARKLINES_MAX:
            yield ""
            continue
        read += 1
        selector = {"run": {"id": run_id}, "key": info["key"], "labels": info.get("labels", {})}
        # One by one: buckets are shared by all series of an answer, and steps may be of quite different length.
        request = {"series": [selector], "buckets": width, "encoding": "ENCODING_NUMBERS"}
        found = client.call("MetricService/ReadSeries", request).get("series", [])
        yield sparkline(_spark_values(found[0], width)) if found else ""


def sparkline(values: list[float]) -> str:
    """One bar for each value; a gap where there is no number."""
    finite = [value for value in values if math.isfinite(value)]
    low = min(finite, default=0.0)
    span = max(finite, default=0.0) - low
    bars = ""
    for value in values:
        if math.isnan(value):
            bars += " "
        elif math.isinf(value):
            bars += _BARS[-1] if value > 0 else _BARS[0]
        else:
            share = (value - low) / span if span > 0 and math.isfinite(span) else 0.5
            bars += _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]
    return bars


def _spark_values(data: dict[str, Any], width: int) -> list[float]:
    """One value for each column. Of a bucket it is the mean, but an outlier takes its place, so that a spike of a
    single point is seen."""
    if data.get("form") != "FORM_BAND":
        return _numbers(data.get("values"))[-width:]
    columns = [math.nan] * width
    means, leasts, mosts = (_numbers(data.get(name)) for name in ("mean", "min", "max"))
    spreads = [most - least for least, most in zip(leasts, mosts)]
    spreads = [spread for spread in spreads if math.isfinite(spread)]
    usual = _OUTLIER * _upper_median(spreads)
    for at, bucket in enumerate(_numbers(data.get("bucket"))):
        value, least, most = means[at], leasts[at], mosts[at]
        is_low = value - least > usual and value - least > most - value
        columns[min(width - 1, int(bucket))] = least if is_low else most if most - value > usual else value
    return columns


def _upper_median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def _numbers(column: dict[str, Any] | None) -> list[float]:
    if column is None:
        return []
    return [to_float(value) for value in column.get("numbers") or column.get("integers") or []]


def json_series(info: dict[str, Any]) -> dict[str, Any]:
    summary, kind = info.get("summary", {}), info.get("kind", "SERIES_KIND_NUMBER")

    def sample(name: str) -> dict[str, Any] | None:
        one = summary.get(name)
        if one is None:
            return None
        value: Any = _value(one)
        if kind == "SERIES_KIND_TEXT":
            value = one.get("text", "")
        elif kind == "SERIES_KIND_INTEGER":
            value = int(one.get("integer", 0))
        return {"step": int(one["step"]) if "step" in one else None, "value": value}

    return {
        "key": info["key"],
        "labels": info.get("labels", {}),
        "kind": enum_word(kind, "SERIES_KIND_"),
        "count": int(summary.get("count", 0)),
        "nanCount": int(summary.get("nanCount", 0)),
        "replacedCount": int(summary.get("replacedCount", 0)),
        **{name: sample(name) for name in ("first", "last", "min", "max")},
        "mean": to_float(summary["mean"]) if "mean" in summary else None,
    }
