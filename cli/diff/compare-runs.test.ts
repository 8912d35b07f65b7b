import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { compareRuns } from "./compare-runs.ts";
import { packagesOf } from "./packages.ts";

const run = (params: Record<string, string>, dirtyPatch = "") =>
  create(RunSchema, { params, provenance: { code: { commit: "c", dirtyPatch } } });

describe("compareRuns", () => {
  it("T26 compares params by value, not by spelling", () => {
    const { params } = compareRuns([
      run({ a: "1e-3", b: '"1"', c: "9007199254740993", d: "NaN", e: "1", f: "null" }),
      run({ a: "0.001", b: "1", c: "9007199254740992", d: "NaN", e: "1.0" }),
    ]);
    const different = params.filter(({ differs }) => differs);
    expect(different.map(({ key }) => key)).toEqual(["b", "c", "f"]);
    expect(different.at(-1)).toEqual({ key: "f", values: ["null", undefined], differs: true });
  });

  it("T26 sees patches that differ though they have the same size", () => {
    const { code, patches } = compareRuns([run({}, "+a\n"), run({}, "+b\n"), run({}, "+a\n")]);
    expect(code.find(({ key }) => key === "uncommitted")?.differs).toBe(true);
    expect(patches).toEqual([["@@ -1 +1 @@", "-+a", "++b"], []]);
  });
});

describe("packagesOf", () => {
  it.each([
    [
      { "package:torch": "2.6.0", "package:@x/y": "1" },
      [
        ["torch", "2.6.0"],
        ["@x/y", "1"],
      ],
    ],
    [{ packages: '{"torch":"2.6.0"}' }, [["torch", "2.6.0"]]],
    [
      { packages: '["torch==2.6.0","@x/y@1.2"]' },
      [
        ["torch", "2.6.0"],
        ["@x/y", "1.2"],
      ],
    ],
    [
      { packages: "# frozen\ntorch==2.6.0\nnumpy" },
      [
        ["torch", "2.6.0"],
        ["numpy", ""],
      ],
    ],
  ])("T26 finds the packages in %j", (environment, packages) => {
    expect([...packagesOf({ host: "n1", ...environment } as Record<string, string>).packages]).toEqual(
      packages,
    );
  });
});
