import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LineageSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { lineageFrom } from "./cairn-lineage.ts";

describe("a graph of the server as a lineage", () => {
  it("X8 counts hidden nodes without their names", () => {
    const graph = create(LineageSchema, {
      nodes: [
        { runId: "me" },
        { hidden: true, distance: -1 },
        { externalId: "s3://corpus", distance: -2 },
        { runId: "base", distance: -1 },
        { externalId: "base-alias", distance: -2 },
        { runId: "child", distance: 1 },
      ],
      edges: [
        { source: 1, child: 0, artifact: "secret" },
        { source: 2, child: 1 },
        { source: 3, child: 0, artifact: "weights" },
        { source: 4, child: 0, artifact: "weights" },
        { source: 0, child: 5 },
      ],
      truncated: true,
    });
    const ids = new Map([
      ["me", "job"],
      ["base", "base-alias"],
    ]);
    const lineage = lineageFrom(graph, { ids, artifacts: new Map(), url: "http://h" });
    expect(lineage.hiddenCount).toBe(1);
    expect(lineage.truncated).toBe(true);
    expect(lineage.ancestors).toEqual([
      { runId: "base-alias", distance: 1, artifacts: [] },
      { runId: "s3://corpus", distance: 2, artifacts: [] },
    ]);
    expect(lineage.descendants).toEqual([{ runId: "child", distance: 1, artifacts: [] }]);
    expect(lineage.links).toEqual([
      { runId: "job", sourceRunId: "base-alias", artifactName: "weights" },
      { runId: "child", sourceRunId: "job", artifactName: null },
    ]);
  });
});
