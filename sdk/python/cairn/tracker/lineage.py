"""Where a run of TorchX came from, and what came from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torchx.tracker.api import Lineage

from cairn.tracker.names import read_artifact


class LineageRun(NamedTuple):
    """A run, or something outside that has a name."""

    run_id: str
    #: How many links away: below 0 an ancestor, above 0 a descendant.
    distance: int
    #: False for anything that is not a run of the server.
    is_run: bool
    #: Of a run: name to path, of those that links name and of its models.
    artifacts: dict[str, str]


class LineageLink(NamedTuple):
    source_run_id: str
    run_id: str
    artifact_name: str | None


class CairnLineage(Lineage):  # type: ignore[misc]
    """All that a run depends on and all that depends on it."""

    def __init__(self, run_id: str, runs: list[LineageRun], links: list[LineageLink], truncated: bool) -> None:
        self.run_id = run_id
        #: Nearest first.
        self.ancestors = sorted((run for run in runs if run.distance < 0), key=lambda run: -run.distance)
        self.descendants = sorted((run for run in runs if run.distance > 0), key=lambda run: run.distance)
        #: Of the run itself.
        self.artifacts: dict[str, str] = next((run.artifacts for run in runs if run.distance == 0), {})
        self.links = links
        #: Whether there is more than was read.
        self.truncated = truncated

    def __repr__(self) -> str:
        return (
            f"CairnLineage({self.run_id!r}, ancestors={[run.run_id for run in self.ancestors]!r}, "
            f"descendants={[run.run_id for run in self.descendants]!r})"
        )


def to_lineage(
    run_id: str, answer: Mapping[str, Any], names: Mapping[str, str], children: Sequence[str] = ()
) -> CairnLineage:
    """From cairn.v1.Lineage as JSON, and the ids of children it may lack; an empty one for an unknown run."""
    runs: list[LineageRun] = []
    for at, node in enumerate(answer.get("nodes", [])):
        known = node.get("runId", "")
        name = run_id if at == 0 else names.get(known, known) or node.get("externalId", "") or "<hidden>"
        artifacts = {}
        for artifact in node.get("artifacts", []):
            artifact_name, path, _ = read_artifact(artifact)
            artifacts[artifact_name] = path
        runs.append(LineageRun(name, int(node.get("distance", 0)), bool(known), artifacts))
    links = [
        LineageLink(
            runs[int(edge.get("source", 0))].run_id,
            runs[int(edge.get("child", 0))].run_id,
            edge.get("artifact") or None,
        )
        for edge in answer.get("edges", [])
    ]
    known_ids = {node.get("runId", "") for node in answer.get("nodes", [])}
    for child in children:
        if child not in known_ids:
            runs.append(LineageRun(names.get(child, child), 1, True, {}))
            links.append(LineageLink(run_id, names.get(child, child), None))
    return CairnLineage(run_id, runs, links, bool(answer.get("truncated")))
