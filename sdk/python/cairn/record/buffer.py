"""Points that wait to be collected: columns per series, which are cheap to append to."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from cairn.messages import BOOL, INTEGER, NUMBER, encode_series
from cairn.notices import warn
from cairn.record.values import cut_text, to_key, to_point

#: The server accepts more; this many are written quickly.
POINTS_MAX = 1000
_KINDS_MAX = 200_000
_LABEL_BYTES_MAX = 128
_LABELS_MAX = 16

Labels = tuple[tuple[str, str], ...]
Appenders = tuple[Callable[[int], None], Callable[[int], None], Callable[[float], None]]


class Column:
    __slots__ = ("key", "kind", "labels", "steps", "times", "values")

    def __init__(self, key: str, labels: Labels, kind: int, has_steps: bool) -> None:
        self.key = key
        self.labels = labels
        self.kind = kind
        self.steps: list[int] | None = [] if has_steps else None
        self.times: list[int] = []
        self.values: Any = array("d") if kind == NUMBER else []

    def __len__(self) -> int:
        # A signal handler may have come between the appends of one point: that point is left out.
        count = min(len(self.times), len(self.values))
        return count if self.steps is None else min(count, len(self.steps))

    def encode(self, start: int, end: int) -> bytes:
        steps = None if self.steps is None else self.steps[start:end]
        times, values = self.times[start:end], self.values[start:end]
        return encode_series(self.key, dict(self.labels), self.kind, steps, times, values)


class Buffer:
    """Not safe for threads by itself: its run holds a lock."""

    def __init__(self, base_labels: Mapping[str, str]) -> None:
        self._base: Labels = to_labels(base_labels)
        self._columns: dict[tuple[str, Labels, bool], Column] = {}
        #: By key, for numbers with a step and no labels of their own: the fast path of nearly every point.
        self.fast: dict[str, Appenders] = {}
        self._kinds: dict[tuple[str, Labels], int] = {}
        self.count = 0

    def add(self, key: Any, value: Any, step: int | None, time_us: int, labels: Mapping[str, Any] | None) -> bool:
        """The slow path: any value, any key. False for an invalid value."""
        point = to_point(value)
        if point is None:
            return False
        name = key if type(key) is str and key.isprintable() and len(key) <= 128 and key else to_key(key)
        chosen = self._base if not labels else to_labels({**dict(self._base), **labels})
        kind, plain = self._kind_of(name, chosen, *point)
        if kind is None:
            return True
        where = (name, chosen, step is not None)
        column = self._columns.get(where)
        if column is None:
            column = self._columns[where] = Column(name, chosen, kind, step is not None)
            if kind == NUMBER and chosen == self._base and column.steps is not None:
                self.fast[name] = (column.steps.append, column.times.append, column.values.append)
        if column.steps is not None and step is not None:
            column.steps.append(step)
        column.times.append(time_us)
        column.values.append(plain)
        self.count += 1
        return True

    def _kind_of(self, name: str, labels: Labels, kind: int, value: Any) -> tuple[int | None, Any]:
        """A series keeps its first kind, and the server would refuse a whole envelope for one point that does not."""
        first = self._kinds.get((name, labels))
        if first is None:
            if len(self._kinds) < _KINDS_MAX:
                self._kinds[name, labels] = kind
            return kind, value
        if first == kind:
            return kind, value
        if first == NUMBER and kind in (INTEGER, BOOL):
            return NUMBER, float(value)
        if first == INTEGER and kind == NUMBER and value.is_integer():
            return INTEGER, int(value)
        if first == BOOL and kind == NUMBER and value in (0.0, 1.0):
            return BOOL, bool(value)
        warn(f"kind {name}", f'"{name}" is a series of another kind than the value {value!r}: such values are left out')
        return None, value

    def take(self) -> list[Column]:
        """Everything that waits; the buffer is empty after it."""
        columns = list(self._columns.values())
        self._columns = {}
        self.fast = {}
        self.count = 0
        return columns


def to_labels(labels: Mapping[str, Any]) -> Labels:
    """Sorted, and as the server takes them."""
    clean: dict[str, str] = {}
    for name, value in list(labels.items())[:_LABELS_MAX]:
        clean[cut_text(to_key(name), _LABEL_BYTES_MAX)] = cut_text(to_key(value), _LABEL_BYTES_MAX)
    return tuple(sorted(clean.items()))
