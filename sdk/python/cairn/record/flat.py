"""Configurations as flat params, in the shape of TorchX's `log_params_flat`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_DEPTH_MAX = 64


def flatten(cfg: Any, key: str = "") -> dict[str, Any]:
    """Nested fields with dots: `cfg2.foo`. A list of plain values stays one param; of a list of anything else every element
    is flattened under `_0`, `_1` …. Values keep their type. What holds itself is cut off as text."""
    flat: dict[str, Any] = {}
    _flatten(cfg, key, flat, _DEPTH_MAX)
    # An empty configuration without a name has no params.
    flat.pop("", None)
    return flat


def _flatten(cfg: Any, key: str, flat: dict[str, Any], depth_left: int) -> None:
    fields = getattr(cfg, "__dataclass_fields__", None)
    if fields is not None and not isinstance(cfg, type):
        from dataclasses import fields as fields_of

        # Not asdict(), which copies every value deeply, tensors and open files among them.
        cfg = {field.name: getattr(cfg, field.name) for field in fields_of(cfg)}
    if depth_left == 0:
        flat[key] = repr(cfg)
        return
    prefix = f"{key}." if key else ""
    if isinstance(cfg, Mapping) and cfg:
        for name, value in cfg.items():
            _flatten(value, f"{prefix}{name}", flat, depth_left - 1)
    elif _is_list(cfg) and any(not _is_plain(element) for element in cfg):
        for index, element in enumerate(cfg):
            _flatten(element, f"{prefix}_{index}", flat, depth_left - 1)
    else:
        flat[key] = sorted(cfg, key=str) if isinstance(cfg, (set, frozenset)) else cfg


def _is_list(cfg: Any) -> bool:
    return isinstance(cfg, (Sequence, set, frozenset)) and not isinstance(cfg, (str, bytes, bytearray))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))
