import { expect, it } from "vitest";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import { provenanceFromText } from "./provenance.ts";

it("D12, U201: provenance of an earlier version has the later fields, as unknown", () => {
  const code = { repository: "r", commit: "c", branch: "b", dirtyPatch: "", archive: "" };
  const old = {
    initialState: "s",
    trainingData: ["a"],
    testData: [],
    featurePipeline: "",
    study: "",
    code,
    command: ["x"],
    environment: [["host", "n1"]],
  };
  const read = provenanceFromText(JSON.stringify(old))!;
  expect(read).toEqual({
    ...old,
    logsLocation: "",
    user: "",
    code: { ...code, trackedChanges: 0, patchLeftOut: "", leftOutBytes: 0 },
    environment: new Map([["host", "n1"]]),
  });
  expect(describeWorkTree(read.code!)).toBe("unknown: state not recorded");
  const dirty = provenanceFromText(JSON.stringify({ ...old, code: { ...code, dirtyPatch: "+1" } }))!;
  expect(describeWorkTree(dirty.code!)).toBe("dirty");
  expect(provenanceFromText(JSON.stringify({ ...old, code: undefined }))!.code).toBe(undefined);
});
