"""Paths of namespaces."""

from __future__ import annotations

import re

_NAMESPACE_BYTES_MAX = 512
_NAMESPACE_DEPTH_MAX = 16


def check_namespace(namespace: str) -> str:
    """A path such as `team/project`. Raises ValueError for an invalid path."""
    parts = namespace.split("/")
    cause = ""
    if len(namespace.encode("utf-8", "replace")) > _NAMESPACE_BYTES_MAX:
        cause = f"it has more than {_NAMESPACE_BYTES_MAX} bytes"
    elif len(parts) > _NAMESPACE_DEPTH_MAX:
        cause = f"it has more than {_NAMESPACE_DEPTH_MAX} segments"
    elif any(part in ("", ".", "..") for part in parts):
        cause = 'write segments with "/" between them and none around them, such as "team/project"'
    elif any(re.fullmatch(r"[0-9a-f]{32}", part) for part in parts):
        cause = "a segment looks like the id of a run"
    elif re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\\ud800-\udfff]", namespace):
        cause = "it holds a control character or a backslash"
    if cause:
        raise ValueError(f'cannot use namespace "{namespace[:200]}": {cause}')
    return namespace
