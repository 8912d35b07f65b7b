import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";
import { changeOf, faultsOf, formOf, type ProvenanceForm } from "./provenance-form.ts";

const before = formOf(
  create(ProvenanceSchema, {
    initialState: "s3://init@v1",
    trainingData: ["s3://a@v1", "s3://b"],
    study: "ablation",
  }),
);
const changed = (patch: Partial<ProvenanceForm>) => changeOf(before, { ...before, ...patch });

describe("editing what is known of a run", () => {
  it("Z206 a call has only what was changed", () => {
    expect(changed({})).toBeUndefined();
    expect(changed({ study: " ablation ", testData: ["", "  "] })).toBeUndefined();
    expect(changed({ study: "final", logsLocation: " s3://logs " })).toEqual({
      addProvenance: { study: "final", logsLocation: "s3://logs" },
      clearProvenance: [],
    });
    expect(changed({ initialState: "" })).toEqual({ addProvenance: {}, clearProvenance: ["initial_state"] });
  });

  it("Z206 a list that grew is added to; one that lost or moved rows is replaced", () => {
    expect(changed({ trainingData: ["s3://a@v1", "s3://b", "s3://c"] })).toEqual({
      addProvenance: { trainingData: ["s3://c"] },
      clearProvenance: [],
    });
    expect(changed({ trainingData: ["s3://b"] })).toEqual({
      addProvenance: { trainingData: ["s3://b"] },
      clearProvenance: ["training_data"],
    });
    expect(changed({ trainingData: [] })).toEqual({ addProvenance: {}, clearProvenance: ["training_data"] });
    expect(changed({ trainingData: ["s3://b", "s3://a@v1"] })?.clearProvenance).toEqual(["training_data"]);
  });

  it("Z206 an edit is undone by the opposite change", () => {
    const after = { ...before, trainingData: ["s3://b", "s3://c"], study: "", featurePipeline: "git@x:f@1" };
    expect(changeOf(after, before)).toEqual({
      addProvenance: { trainingData: ["s3://a@v1", "s3://b"], study: "ablation" },
      clearProvenance: ["feature_pipeline", "training_data"],
    });
  });

  it("Z206 what is in a list twice, or too long, is reported at its field", () => {
    expect(faultsOf(before).size).toBe(0);
    expect([...faultsOf({ ...before, testData: ["x", "", "", " x"] })]).toEqual([
      ["testData 3", "This is in the list already."],
    ]);
    const long = "x".repeat(8_193);
    expect([...faultsOf({ ...before, study: long, trainingData: ["a", long] }).keys()]).toEqual([
      "study",
      "trainingData 1",
    ]);
  });
});
