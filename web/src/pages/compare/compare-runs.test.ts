import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { compareValues, differs, isColoured, type CompareRow } from "./compare-row.ts";
import { compareRuns, shellLine, type Section } from "./compare-runs.ts";

function compare(...runs: MessageInitShape<typeof RunSchema>[]): Map<string, Map<string, CompareRow>> {
  const sections = compareRuns(runs.map((run) => create(RunSchema, run)));
  return new Map(
    sections.map(({ id, rows }: Section) => [id, new Map(rows.map((each) => [each.key, each]))]),
  );
}

function row(...texts: (string | undefined)[]): CompareRow {
  return compareValues(
    "x",
    texts.map((text) => (text === undefined ? undefined : { text, identity: text })),
  );
}

describe("what runs have", () => {
  it("Z57 is different, equal, or equal and spelt differently", () => {
    const params = compare(
      { params: { lr: "0.1", depth: "6", epochs: "1", only: "1" } },
      { params: { lr: "0.2", depth: "6", epochs: "1.0" } },
    ).get("params")!;
    expect([...params.values()].filter(differs).map(({ key }) => key)).toEqual(["lr", "only"]);
    expect(params.get("epochs")).toMatchObject({ classCount: 1, respelt: true });
    expect(params.get("depth")).toMatchObject({ classCount: 1, respelt: false });
    expect(params.get("only")!.values[1]).toBeUndefined();
  });

  it("Z57 says which runs share a value, the baseline's first", () => {
    expect(row("a", "b", "a", undefined, "b").classes).toEqual([0, 1, 0, 2, 1]);
    expect(row(undefined, "b", undefined).classes).toEqual([0, 1, 0]);
  });

  it("Z57 has colours only where they tell something", () => {
    expect(isColoured(row("a", "b"))).toBe(false);
    expect(isColoured(row("a", "b", "a"))).toBe(true);
    expect(isColoured(row("a", "a", "a"))).toBe(false);
    expect(isColoured(row("1", "2", "3", "4"))).toBe(false);
    expect(isColoured(row(...Array.from({ length: 24 }, (_, i) => String(i >> 1))))).toBe(false);
  });

  it("Z57 has keys in the order people count, parts that differ first, and none that nobody has anything of", () => {
    const sections = compare({ params: { l10: "1", l2: "1", L1: "1" } }, {});
    expect([...sections.keys()]).toEqual(["params"]);
    expect([...sections.get("params")!.keys()]).toEqual(["L1", "l2", "l10"]);
    expect(compareRuns([])).toEqual([]);
    const apart = compare({ params: { a: "1" }, tags: { t: "1" } }, { params: { a: "1" }, tags: { t: "2" } });
    expect([...apart.keys()]).toEqual(["tags", "params"]);
  });

  it("Z60 includes code, command, data, packages and the rest of the environment", () => {
    const sections = compare(
      {
        provenance: {
          code: { commit: "aaa", branch: "main", dirtyPatch: "+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n" },
          command: ["python", "train it.py"],
          trainingData: ["s3://a", "s3://b"],
          environment: { "package:torch": "2.6.0", packages: '{"numpy":"2.1"}', host: "a01" },
        },
      },
      {
        provenance: {
          code: { commit: "bbb", branch: "main", dirtyPatch: "+++ b/a.py\n@@ -1 +1 @@\n-x\n+z\n" },
          command: ["python", "train it.py"],
          trainingData: ["s3://a"],
          environment: { packages: "torch==2.7.1\nnumpy==2.1\n", host: "a01" },
        },
      },
    );
    const different = [...sections].flatMap(([id, rows]) =>
      [...rows.values()]
        .filter(differs)
        .map(({ key, values }) => [id, key].concat(values.map((value) => value?.text ?? ""))),
    );
    expect(different).toEqual([
      ["code", "commit", "aaa", "bbb"],
      // Of the same size, and not the same.
      ["code", "uncommitted", "+1 −1 in a.py", "+1 −1 in a.py"],
      ["data", "training data", "s3://a\ns3://b", "s3://a"],
      ["packages", "torch", "2.6.0", "2.7.1"],
    ]);
    expect(sections.get("command")!.get("command")!.values[0]!.text).toBe("python 'train it.py'");
    expect(sections.get("packages")!.get("numpy")!.classCount).toBe(1);
    expect(sections.get("environment")!.get("host")!.classCount).toBe(1);
  });

  it("Z60 writes a command as it would be typed", () => {
    expect(shellLine(["a", "it's", "", "--x=1", "$HOME"])).toBe(`a 'it'\\''s' '' --x=1 '$HOME'`);
  });
});
