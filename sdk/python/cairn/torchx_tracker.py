"""The tracker `cairn` of TorchX: `TrackerBase` over a Cairn server.

What is added goes to the spool first. The call then waits a moment for the server, so that the next read sees it; a server
that is away costs that moment once, and one warning. Nothing that adds raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from torchx.tracker.api import TrackerArtifact, TrackerBase, TrackerSource

from cairn.failure import Failure
from cairn.messages import encode_artifact
from cairn.notices import warn
from cairn.record.flat import flatten
from cairn.tracker.config import TrackerConfig, parse_config
from cairn.tracker.lineage import CairnLineage, to_lineage
from cairn.tracker.names import RUN_ID_TAG, artifact_fields, read_artifact, run_id_of, to_alias
from cairn.tracker.query import filter_query
from cairn.tracker.runs import TrackedRuns

_PAGE = 1000


class CairnTracker(TrackerBase):  # type: ignore[misc]
    """All eight methods of the contract. `config` of None is a tracker that could not be set up: it keeps nothing."""

    def __init__(self, config: TrackerConfig | None) -> None:
        self._runs = TrackedRuns(config) if config is not None else None

    def add_artifact(self, run_id: str, name: str, path: str, metadata: Mapping[str, object] | None = None) -> None:
        with _Rescue("artifact"):
            if self._runs is not None:
                self._runs.write(run_id, encode_artifact(**artifact_fields(name, path, metadata)))

    def artifacts(self, run_id: str) -> Mapping[str, TrackerArtifact]:
        found: dict[str, TrackerArtifact] = {}
        for artifact in self._list(run_id, "ArtifactService/ListArtifacts", "artifacts"):
            name, path, metadata = read_artifact(artifact)
            found[name] = TrackerArtifact(name, path, metadata)
        return found

    def add_metadata(self, run_id: str, **kwargs: object) -> None:
        with _Rescue("metadata"):
            if self._runs is not None:
                self._runs.add_values(run_id, kwargs)

    def metadata(self, run_id: str) -> Mapping[str, object]:
        run = self._find(run_id)
        return {key: json.loads(text) for key, text in run.get("params", {}).items()} if run else {}

    def add_source(self, run_id: str, source_id: str, artifact_name: str | None = None) -> None:
        with _Rescue("source"):
            if self._runs is not None:
                self._runs.add_source(run_id, to_alias(source_id), artifact_name or "")

    def sources(self, run_id: str, artifact_name: str | None = None) -> Iterable[TrackerSource]:
        request = {} if artifact_name is None else {"artifact": artifact_name}
        links = [link for link in self._list(run_id, "LineageService/ListSources", "sources", request)]
        names = self._names_of([link["runId"] for link in links if link.get("runId")])
        found = []
        for link in links:
            source = names.get(link.get("runId", ""), link.get("runId")) or link.get("externalId")
            if source:
                found.append(TrackerSource(source, link.get("artifact") or None))
        return found

    def lineage(self, run_id: str) -> CairnLineage:
        answer: dict[str, Any] = {}
        late: list[str] = []
        if self._runs is not None:
            with _Rescue("lineage"):
                run = self._find(run_id)
                if run is not None:
                    answer = self._runs.read("LineageService/GetLineage", {"run": {"id": run["id"]}, "depth": 100})
                # Links that were made before this run existed have only its name.
                late = self._children(run_id)
        ids = [node["runId"] for node in answer.get("nodes", []) if node.get("runId")]
        return to_lineage(run_id, answer, self._names_of([*ids, *late]), late)

    def run_ids(self, **kwargs: str | None) -> Iterable[str]:
        """Of the whole subtree of the namespace, oldest first. `parent_run_id` selects direct children; every other keyword is
        the value of a tag or a param."""
        if self._runs is None:
            return []
        filters = {key: value for key, value in kwargs.items() if value is not None}
        parent = filters.pop("parent_run_id", None)
        with _Rescue("runs"):
            self._runs.settle_all()
            request: dict[str, Any] = {"namespace": self._runs.namespace, "columns": ["aliases", f"tags.{RUN_ID_TAG}"]}
            query = filter_query(filters)
            if parent is None:
                return [run_id_of(run) for run in self._search(request, query)]
            wanted = self._children(parent)
            found: dict[str, str] = {}
            for start in range(0, len(wanted), _PAGE):
                names = ", ".join(f'"{child}"' for child in wanted[start : start + _PAGE])
                chosen = f"id in ({names})" + (f" and {query}" if query else "")
                found.update((run["id"], run_id_of(run)) for run in self._search(request, chosen))
            return [found[child] for child in wanted if child in found]
        return []

    def log_params_flat(self, run_name: str, cfg: Any, key: str = "") -> None:
        """Metadata from a dataclass, mapping or sequence, nested ones as `optim.lr` and `layers._0.size`."""
        self.add_metadata(run_name, **flatten(cfg, key))

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Whether the server has everything that was added."""
        return self._runs is None or self._runs.flush(timeout_s)

    def close(self) -> None:
        """Delivers what is left. TorchX never calls this; the end of the process does."""
        if self._runs is not None:
            self._runs.finish()

    def _find(self, run_id: str) -> dict[str, Any] | None:
        """None for an unknown run, and when the server cannot be reached."""
        if self._runs is None:
            return None
        with _Rescue("run", quiet=("not_found",)):
            return self._runs.find(run_id)
        return None

    def _list(
        self, run_id: str, method: str, field: str, request: Mapping[str, Any] | None = None
    ) -> Iterable[dict[str, Any]]:
        run = self._find(run_id)
        if run is None or self._runs is None:
            return []
        with _Rescue(field):
            return list(
                self._runs.pages(method, {"run": {"id": run["id"]}, "pageSize": _PAGE, **(request or {})}, field)
            )
        return []

    def _search(self, request: Mapping[str, Any], query: str) -> Iterable[dict[str, Any]]:
        assert self._runs is not None
        ordered = f"{query} order by created" if query else "order by created"
        return self._runs.pages("RunService/SearchRuns", {**request, "query": ordered, "pageSize": _PAGE}, "runs")

    def _children(self, parent: str) -> list[str]:
        """Each once, in the order of linking. A name that is also the alias of a run finds the links made by either."""
        assert self._runs is not None
        request = {"externalId": to_alias(parent), "pageSize": _PAGE}
        links = self._runs.pages("LineageService/ListChildren", request, "children")
        return list(dict.fromkeys(link["runId"] for link in links if link.get("runId")))

    def _names_of(self, ids: list[str]) -> dict[str, str]:
        """What TorchX calls the runs with these ids."""
        names: dict[str, str] = {}
        unique = list(dict.fromkeys(ids))
        for start in range(0, len(unique), _PAGE):
            with _Rescue("runs"):
                assert self._runs is not None
                chosen = ", ".join(f'"{run_id}"' for run_id in unique[start : start + _PAGE])
                request = {"columns": ["aliases", f"tags.{RUN_ID_TAG}"]}
                names.update((run["id"], run_id_of(run)) for run in self._search(request, f"id in ({chosen})"))
        return names


class _Rescue:
    """Errors inside are reported and not raised: a tracker must never end the job it tracks."""

    def __init__(self, what: str, quiet: tuple[str, ...] = ()) -> None:
        self._what = what
        self._quiet = quiet

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        if isinstance(error, Failure):
            if error.code not in self._quiet:
                warn(f"tracker {error.reason or error.code}", f"{error}")
        else:
            warn(f"tracker {self._what}", f"cannot track {self._what}: {type(error).__name__}: {error}")
        return True


def create_tracker(config: str | None) -> CairnTracker:
    """The factory TorchX calls. A config that cannot be used is reported, and the job continues untracked."""
    try:
        return CairnTracker(parse_config(config))
    except Exception as error:
        warn("config", f"{error}. Nothing is tracked by cairn; write it as http://host:4700/team/project")
        return CairnTracker(None)
