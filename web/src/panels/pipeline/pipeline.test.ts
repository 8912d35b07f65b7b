import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { LineageSchema, SourceRole } from "#proto/cairn/v1/lineage_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { pipelineOf } from "./pipeline.ts";

const run = create(RunSchema, {
  id: "r0",
  name: "tuned",
  provenance: {
    trainingData: ["s3://train@v3"],
    testData: ["s3://test", `s3://x@sha256:${"0a1b2c3d".repeat(8)}`],
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
      ["Data", ["s3://train (training, v3)", "s3://test (test)", "s3://x (test, sha256:0a1b2c3d0a1b…)"]],
      ["Features", []],
      ["Initial state", []],
      ["Code", ["0123456789ab (on main)", "dirty (work tree)", "+1 -0 in a.py (uncommitted)"]],
      ["Command", ["python 'x y.py'"]],
      ["This run", ["tuned"]],
      ["Results", ["model.pt (model, step 9)"]],
      ["Used by", ["distilled"]],
    ]);
  });

  it("Z208 what the provenance names is in its own stage: a run as a link, never as a further source", () => {
    const named = create(RunSchema, {
      id: "r0",
      name: "tuned",
      provenance: {
        initialState: "base-run",
        trainingData: ["s3://train@v3", "prepared"],
        testData: ["secret"],
        code: { commit: "0123456789abcdef", trackedChanges: 1, untrackedFiles: 0, changedSubmodules: 0 },
      },
    });
    const drawn = create(LineageSchema, {
      nodes: [
        { runId: "r0", name: "tuned" },
        { runId: "r1", name: "base", distance: -1 },
        { externalId: "s3://train@v3", distance: -1 },
        { runId: "r2", name: "prepare", distance: -1 },
        { hidden: true, distance: -1 },
      ],
      edges: [
        { source: 1, child: 0, artifact: "weights.pt", role: SourceRole.INITIAL_STATE },
        { source: 2, child: 0, role: SourceRole.TRAINING_DATA },
        { source: 3, child: 0, role: SourceRole.TRAINING_DATA },
        { source: 4, child: 0, role: SourceRole.TEST_DATA },
      ],
    });
    const stagesOf = (graph: typeof drawn) =>
      new Map(pipelineOf(named, graph, []).map(({ title, items }) => [title, items]));
    const stages = stagesOf(drawn);
    expect(stages.get("Sources")).toEqual([]);
    expect(stages.get("Data")).toEqual([
      { text: "s3://train", note: "training, v3" },
      { text: "prepare", runId: "r2", note: "training" },
      { text: "a run you may not see", note: "test" },
    ]);
    expect(stages.get("Initial state")).toEqual([{ text: "base", runId: "r1", note: "through weights.pt" }]);
    expect(stages.get("Code")!.map(({ text }) => text)).toEqual(["0123456789ab", "clean"]);
    // Without those edges everything is shown as it is written.
    const bare = stagesOf(create(LineageSchema, { nodes: [{ runId: "r0" }] }));
    expect(bare.get("Data")!.map(({ text }) => text)).toEqual(["s3://train", "prepared", "secret"]);
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
