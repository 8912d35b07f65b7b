import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { LineageSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { pipelineOf } from "./pipeline.ts";

const run = create(RunSchema, {
  id: "r0",
  name: "tuned",
  provenance: {
    trainingData: ["s3://train"],
    testData: ["s3://test"],
    command: ["python", "x y.py"],
    code: { commit: "0123456789abcdef", branch: "main", dirtyPatch: "+++ b/a.py\n@@ -0,0 +1 @@\n+a\n" },
  },
});
const lineage = create(LineageSchema, {
  nodes: [
    { runId: "r0", name: "tuned" },
    { runId: "r1", name: "base", distance: -1 },
    { externalId: "s3://corpus", distance: -1 },
    { hidden: true, distance: -1 },
    { runId: "r4", name: "distilled", distance: 1 },
    { runId: "r5", name: "grandparent", distance: -2 },
  ],
  edges: [
    { source: 1, child: 0, artifact: "weights.pt" },
    { source: 2, child: 0 },
    { source: 3, child: 0 },
    { source: 0, child: 4 },
    { source: 5, child: 1 },
  ],
});

describe("the pipeline behind a run", () => {
  it("Z50 has its sources, provenance and results in order", () => {
    const stages = pipelineOf(run, lineage, [
      create(ArtifactSchema, { name: "model.pt", kind: ArtifactKind.MODEL, step: 9n }),
      create(ArtifactSchema, { name: "log.txt", kind: ArtifactKind.FILE }),
    ]);
    expect(
      stages.map(({ title, items }) => [
        title,
        items.map(({ text, note }) => (note === undefined ? text : `${text} (${note})`)),
      ]),
    ).toEqual([
      ["Sources", ["base (through weights.pt)", "s3://corpus", "a run you may not see"]],
      ["Data", ["s3://train (training)", "s3://test (test)"]],
      ["Features", []],
      ["Initial state", []],
      ["Code", ["0123456789ab (on main)", "+1 -0 in a.py (uncommitted)"]],
      ["Command", ["python 'x y.py'"]],
      ["This run", ["tuned"]],
      ["Results", ["model.pt (model, step 9)"]],
      ["Used by", ["distilled"]],
    ]);
  });

  it("Z50 explains every empty stage", () => {
    const stages = pipelineOf(
      create(RunSchema, { id: "r", name: "bare" }),
      create(LineageSchema, { nodes: [{ runId: "r" }] }),
      [],
    );
    for (const { title, items, missing } of stages)
      if (title !== "This run") expect([items.length, missing === ""]).toEqual([0, false]);
  });
});
