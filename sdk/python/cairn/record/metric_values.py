"""Values that are more than a number: mappings, arrays, and the metrics of torchmetrics, known by how they behave.

Nothing is imported for this: a program that logs such a value has loaded its library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from cairn.messages import encode_artifact, encode_describe_key
from cairn.notices import warn
from cairn.record.values import shape_of, to_plain, to_point

_SERIES_MAX = 1000
_CURVE_POINTS_MAX = 1000
_CELLS_MAX = 1 << 14
_DEPTH_MAX = 16


class Media(NamedTuple):
    """A picture of a metric, as JSON: the same that `cairn demo` makes; see docs/guides/python.md."""

    kind: str
    content: dict[str, Any]

    def encode(self, name: str, step: int | None) -> bytes:
        return encode_artifact(
            f"{name.strip('/')}.json",
            step=step,
            kind=self.kind,
            content=json.dumps(self.content, allow_nan=False).encode("utf-8"),
            media_type="application/json",
        )


class Meaning(NamedTuple):
    """What the class of a metric says about its values."""

    direction: str = ""
    min: float | None = None
    max: float | None = None
    picture: str = ""

    def encode(self, namespace: str, key: str) -> bytes:
        """cairn.v1.DescribeKeyRequest. What a person has said about the key stays."""
        return encode_describe_key(
            namespace,
            key,
            direction=self.direction,
            min=self.min,
            max=self.max,
            picture=self.picture,
            only_if_absent=True,
        )


Part = Union[Media, Meaning, Any]


def expand(key: str, value: Any, depth_left: int = _DEPTH_MAX) -> Iterator[tuple[str, Part]]:
    """The series and pictures of a value; the meaning of a series comes before its point. Other objects are returned as they
    are."""
    if depth_left == 0:
        yield key, value
    elif is_metric(value):
        yield from _computed(key, value, depth_left)
    elif isinstance(value, Mapping):
        for name, part in list(value.items())[:_SERIES_MAX]:
            yield from expand(f"{key}/{name}", part, depth_left - 1)
    else:
        yield key, value


def is_metric(value: Any) -> bool:
    """A torchmetrics.Metric or MetricCollection, or something with the same interface."""
    return all(callable(getattr(value, name, None)) for name in ("compute", "update", "reset"))


def _computed(key: str, metric: Any, depth_left: int) -> Iterator[tuple[str, Part]]:
    members = _members(metric)
    if members is not None:
        # Each by itself, so that its class shows what its result is.
        for name, member in members.items():
            yield from expand(f"{key}/{name}", member, depth_left - 1)
        return
    try:
        result = metric.compute()
    except Exception as error:
        warn(f"compute {key}", f'cannot compute metric "{key}": {type(error).__name__}: {error}')
        return
    classes = _class_names(metric)
    meaning = None if isinstance(result, Mapping) else _meaning(metric, classes)
    for name, part in _result(key, classes, result, depth_left):
        if meaning is not None and not isinstance(part, Media):
            yield name, meaning
        yield name, part


def _meaning(metric: Any, classes: str) -> Meaning | None:
    """From the attributes that every class of torchmetrics has; None when they say nothing."""
    higher = getattr(metric, "higher_is_better", None)
    low, high = (_bound(metric, f"plot_{side}_bound") for side in ("lower", "upper"))
    meaning = Meaning(
        direction="max" if higher is True else "min" if higher is False else "",
        min=low,
        max=high,
        picture="accuracy" if "Accuracy" in classes and (low, high) == (0, 1) else "",
    )
    return None if meaning == Meaning() else meaning


def _bound(metric: Any, name: str) -> float | None:
    value = getattr(metric, name, None)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _members(metric: Any) -> Mapping[str, Any] | None:
    """Of a collection."""
    if isinstance(metric, Mapping) or not callable(getattr(metric, "items", None)):
        return None
    try:
        members = dict(metric.items())
    except Exception:
        return None
    return members if members and all(is_metric(member) for member in members.values()) else None


def _class_names(metric: Any) -> str:
    return " ".join(kind.__name__ for kind in type(metric).__mro__)


def _result(key: str, classes: str, result: Any, depth_left: int) -> Iterator[tuple[str, Part]]:
    if "ConfusionMatrix" in classes:
        matrix = _confusion(result)
        if matrix is not None:
            yield key, matrix
            return
    curves = _curves(classes, result)
    if curves is None:
        yield from _numbers(key, result, depth_left)
    for at, curve in enumerate(curves or []):
        yield key if len(curves or []) == 1 else f"{key}/{at}", curve


def _numbers(key: str, result: Any, depth_left: int) -> Iterator[tuple[str, Part]]:
    """One series, or several of what has several values: `key/name`, `key/0`."""
    if isinstance(result, Mapping):
        parts: Sequence[tuple[Any, Any]] = list(result.items())
    elif to_point(to_plain(result)) is not None:
        yield key, result
        return
    elif shape_of(result) is not None:
        parts = list(enumerate(result.tolist()))
    elif isinstance(result, (list, tuple)):
        parts = list(enumerate(result))
    else:
        yield key, result
        return
    if depth_left == 0 or len(parts) > _SERIES_MAX:
        warn(
            f"many {key}", f'"{key}" has {len(parts)} values: more than {_SERIES_MAX} series of one metric are left out'
        )
        return
    for name, part in parts:
        yield from _numbers(f"{key}/{name}", part, depth_left - 1)


def _confusion(result: Any) -> Media | None:
    shape = shape_of(result)
    if shape is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] * shape[1] > _CELLS_MAX:
        return None
    # Rows are the true classes, columns the predicted ones.
    classes = [str(at) for at in range(shape[0])]
    return Media("table", {"picture": "confusion_matrix", "classes": classes, "counts": _finite(result.tolist())})


def _curves(classes: str, result: Any) -> list[Media] | None:
    """Of ROC and precision-recall metrics: three arrays, or for many classes three lists of arrays."""
    if "ROC" in classes and "AUROC" not in classes:
        picture, x_label, y_label, x_at, y_at = "roc", "false positive rate", "true positive rate", 0, 1
    elif "PrecisionRecallCurve" in classes and "AveragePrecision" not in classes:
        picture, x_label, y_label, x_at, y_at = "pr", "recall", "precision", 1, 0
    else:
        return None
    if not isinstance(result, (list, tuple)) or len(result) != 3:
        return None
    x_rows, y_rows, thresholds = _rows(result[x_at]), _rows(result[y_at]), _rows(result[2])
    if x_rows is None or y_rows is None or thresholds is None or len(x_rows) > _SERIES_MAX:
        return None
    curves = []
    for at, (x, y) in enumerate(zip(x_rows, y_rows)):
        # With fixed thresholds all classes share one row of them.
        row = thresholds[min(at, len(thresholds) - 1)] if thresholds else []
        points = _thin(x, y, row)
        if points is None:
            return None
        curves.append(Media("curve", {"picture": picture, "xLabel": x_label, "yLabel": y_label, **points}))
    return curves


def _rows(part: Any) -> list[list[float]] | None:
    """An array as one row, a table or a list of arrays as several."""
    shape = shape_of(part)
    if shape is not None:
        values = part.tolist()
        return [values] if len(shape) == 1 else values if len(shape) == 2 else None
    if isinstance(part, (list, tuple)) and part and all(shape_of(row) is not None for row in part):
        return [row.tolist() for row in part]
    return None


def _thin(x: list[float], y: list[float], thresholds: list[float]) -> dict[str, Any] | None:
    """A curve that is too long for an envelope keeps its ends and every n-th point between, and is marked."""
    count = len(x)
    if count != len(y):
        return None
    if count <= _CURVE_POINTS_MAX:
        return {"x": _finite(x), "y": _finite(y), "thresholds": _finite(thresholds)}
    kept = [round(at * (count - 1) / (_CURVE_POINTS_MAX - 1)) for at in range(_CURVE_POINTS_MAX)]
    return {
        "x": _finite([x[at] for at in kept]),
        "y": _finite([y[at] for at in kept]),
        "thresholds": _finite([thresholds[at] for at in kept if at < len(thresholds)]),
        "pointCount": count,
    }


def _finite(value: Any) -> Any:
    """JSON that every reader takes: numbers that are not finite become null."""
    if isinstance(value, list):
        return [_finite(element) for element in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None
