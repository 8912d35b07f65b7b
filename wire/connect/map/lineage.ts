import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import type { LineageGraph, LineageNode } from "#core/lineage/graph.ts";
import type { Child, GetLineage, GivenSource, Source } from "#core/lineage/lineage.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { RUN_STATUSES } from "#lang/statuses.ts";
import {
  ChildSchema,
  LineageDirection,
  LineageNodeSchema,
  LineageSchema,
  SourceSchema,
  type Child as ChildMessage,
  type Lineage as LineageMessage,
  type Source as SourceMessage,
  type SourceRef,
  type SourceRole,
} from "#proto/cairn/v1/lineage_pb.ts";
import type { RunRef as RunRefMessage, RunStatus as StatusMessage } from "#proto/cairn/v1/run_pb.ts";
import { fromArtifact } from "./artifact.ts";
import { toRunRef } from "./run.ts";

export function toGivenSource(source: SourceRef | undefined): GivenSource {
  return {
    ...toLinkEnd(source?.run, source?.id ?? "", "id"),
    artifact: source?.artifact ?? "",
  };
}

/** A run, or an id of anything: exactly one of them. */
export function toLinkEnd(
  run: RunRefMessage | undefined,
  id: string,
  field: "id" | "external_id",
): { by: "run"; run: RunRef } | { by: "id"; id: string } {
  if ((run === undefined) === (id === "")) {
    const given = run === undefined ? "neither a run nor an id" : "a run and an id at once";
    throw new CairnError("invalid", `cannot find a source by ${given}`, {
      hint: `give exactly one of run and ${field}`,
    });
  }
  return run === undefined ? { by: "id", id } : { by: "run", run: toRunRef(run) };
}

export function toDirection(direction: LineageDirection): GetLineage["direction"] {
  switch (direction) {
    case LineageDirection.UNSPECIFIED:
    case LineageDirection.BOTH:
      return "both";
    case LineageDirection.SOURCES:
      return "sources";
    case LineageDirection.CHILDREN:
      return "children";
    default:
      throw new CairnError("invalid", `cannot walk in direction "${String(direction)}"`, {
        hint: "give sources, children or both",
      });
  }
}

export function fromSource(source: Source): SourceMessage {
  const { runId, externalId, artifact, hidden, createdUs, role = 0 } = source;
  return create(SourceSchema, {
    runId: runId ?? "",
    externalId: externalId ?? "",
    artifact,
    hidden,
    createdUs: BigInt(createdUs),
    role: role as SourceRole,
  });
}

export function fromChild({ runId, artifact, hidden, createdUs, role = 0 }: Child): ChildMessage {
  return create(ChildSchema, {
    runId: runId ?? "",
    artifact,
    hidden,
    createdUs: BigInt(createdUs),
    role: role as SourceRole,
  });
}

export function fromGraph({ nodes, edges, truncated }: LineageGraph): LineageMessage {
  return create(LineageSchema, {
    nodes: nodes.map(fromNode),
    edges: edges.map(({ role = 0, ...edge }) => Object.assign(edge, { role: role as SourceRole })),
    truncated,
  });
}

function fromNode(node: LineageNode): MessageInitShape<typeof LineageNodeSchema> {
  const { distance } = node;
  if (node.kind === "hidden") return { distance, hidden: true };
  if (node.kind === "external") return { distance, externalId: node.externalId };
  return {
    distance,
    runId: node.runId,
    name: node.name,
    namespace: node.namespace,
    status: (RUN_STATUSES.indexOf(node.status) + 1) as StatusMessage,
    artifacts: node.artifacts.map(fromArtifact),
  };
}
