"""Ids, names and paths of TorchX are any text; those of a server are not. This maps them in both directions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from cairn.record.values import cut_text, to_json, to_key, well_formed

#: Holds the id that TorchX gave to a run: it may have other aliases, and the id may be too long for one.
RUN_ID_TAG = "torchx.run_id"
#: A key of an artifact's metadata that holds what could not be kept as it is.
EXTRA = "torchx"

_ALIAS_BYTES_MAX = 1024
_NAME_BYTES_MAX = 1024
_NAME_DEPTH_MAX = 32
_URI_BYTES_MAX = 8 << 10
_METADATA_BYTES_MAX = 48 << 10
_EMPTY_ALIAS = "torchx:empty"
_NO_PATH = "torchx:no-path"


def to_alias(run_id: str) -> str:
    """The same for the same id, on every machine. One that is too long keeps its beginning and gets a digest."""
    text = well_formed(str(run_id))
    if not text:
        return _EMPTY_ALIAS
    data = text.encode("utf-8")
    if len(data) <= _ALIAS_BYTES_MAX:
        return text
    digest = hashlib.sha256(data).hexdigest()
    return f"{cut_text(text, _ALIAS_BYTES_MAX - 65)}~{digest}"


def run_id_of(run: Mapping[str, Any]) -> str:
    """What TorchX calls a run; of one that TorchX has not made, what it is called otherwise."""
    tags = run.get("tags", {})
    if RUN_ID_TAG in tags:
        return str(tags[RUN_ID_TAG])
    aliases = run.get("aliases") or []
    return str(aliases[0] if aliases else run["id"])


def to_artifact_name(name: str) -> str:
    """A relative path that cannot climb. What a server does not take is percent-encoded."""
    text = well_formed(name)
    # An empty part is between two slashes, or before the first.
    parts = [{"": "%2F", ".": "%2E", "..": "%2E%2E"}.get(part, part) for part in text.split("/")]
    clean = _printable("/".join(parts)).replace("\\", "%5C")
    clean = re.sub(r"^([A-Za-z]):", r"\1%3A", clean)
    if len(clean.encode("utf-8")) <= _NAME_BYTES_MAX and clean.count("/") < _NAME_DEPTH_MAX:
        return clean
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return f"{cut_text(clean.replace('/', '_'), _NAME_BYTES_MAX - 65)}~{digest}"


def _printable(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: quote(found[0].encode("utf-8")), text)


def artifact_fields(name: str, path: str, metadata: Mapping[str, object] | None) -> dict[str, Any]:
    """A reference with the name and path TorchX gave, as far as a server takes them; the rest goes into its metadata."""
    extra: dict[str, Any] = {}
    clean = to_artifact_name(str(name))
    if clean != name:
        extra["name"] = well_formed(str(name))[:_NAME_BYTES_MAX]
    uri = cut_text(_printable(well_formed(str(path))), _URI_BYTES_MAX) or _NO_PATH
    if uri != path:
        extra["path"] = cut_text(str(path), _URI_BYTES_MAX)
    said: dict[str, str] = {}
    size = 0
    for key, value in (metadata or {}).items():
        text, changed = to_json(value)
        size += len(text.encode("utf-8", "replace")) + len(str(key))
        if size > _METADATA_BYTES_MAX:
            extra["cut"] = True
            break
        said[to_key(key)] = text
        if changed:
            extra.setdefault("as_text", {})[to_key(key)] = changed
    if metadata is not None and not said:
        extra["empty_metadata"] = True
    if extra:
        said[EXTRA] = json.dumps(extra)
    return {"name": clean, "uri": uri, "metadata": said}


def read_artifact(artifact: Mapping[str, Any]) -> tuple[str, str, dict[str, object] | None]:
    """Name, path and metadata as they were given. Content that a server keeps has its address there as its path."""
    metadata: dict[str, Any] = {key: json.loads(text) for key, text in artifact.get("metadata", {}).items()}
    extra = metadata.pop(EXTRA, {})
    if not isinstance(extra, dict):
        metadata[EXTRA], extra = extra, {}
    stored = f"/artifacts/{artifact['runId']}/{quote(artifact['name'])}"
    name = str(extra.get("name", artifact["name"]))
    path = str(extra.get("path", artifact.get("uri") or stored))
    return name, path, metadata if metadata or extra.get("empty_metadata") else None
