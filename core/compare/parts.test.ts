import { describe, expect, it } from "vitest";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "../types/provenance.ts";
import type { Run } from "../types/run.ts";
import { compareParts } from "./parts.ts";
import { compareRow, differs, type ComparedRow } from "./row.ts";

interface Asked {
  params?: Record<string, string>;
  tags?: Record<string, string>;
  provenance?: Partial<Provenance>;
}

function run({ params = {}, tags = {}, provenance }: Asked): Run {
  return {
    id: "",
    namespace: "",
    name: "",
    aliases: [],
    status: "finished",
    notes: "",
    params: new Map(Object.entries(params)),
    tags: new Map(Object.entries(tags)),
    provenance: provenance && { ...NO_PROVENANCE, ...provenance },
    createdUs: 0,
    startedUs: undefined,
    endedUs: undefined,
    updatedUs: 0,
    deletedUs: undefined,
    creator: "",
    endedBy: "",
    changedBy: "",
    deletedBy: "",
  };
}

const CODE = { ...NO_CODE, branch: "main" };

function compare(...runs: Asked[]): Map<string, Map<string, ComparedRow>> {
  const parts = compareParts(runs.map(run));
  return new Map(parts.map(({ part, rows }) => [part, new Map(rows.map((row) => [row.key, row]))]));
}

const row = (...texts: (string | undefined)[]) =>
  compareRow(
    "x",
    texts.map((text) => (text === undefined ? undefined : { text, identity: text })),
  );

describe("what runs have", () => {
  it("M6 is different, equal, or equal and written differently", () => {
    const params = compare(
      { params: { lr: "0.1", depth: "6", epochs: "1", only: "1" } },
      { params: { lr: "0.2", depth: "6", epochs: "1.0" } },
    ).get("params")!;
    expect([...params.values()].filter(differs).map(({ key }) => key)).toEqual(["lr", "only"]);
    expect(params.get("epochs")).toMatchObject({ texts: ["1", "1.0"], text: [1, 2], meaning: [0, 0] });
    expect(params.get("depth")).toMatchObject({ texts: ["6"], text: [1, 1], meaning: [0, 0] });
    expect(params.get("only")).toMatchObject({ text: [1, 0], meaning: [0, 1] });
  });

  it("M6 says which runs share a value, the baseline's first", () => {
    expect(row("a", "b", "a", undefined, "b").meaning).toEqual([0, 1, 0, 2, 1]);
    expect(row(undefined, "b", undefined).meaning).toEqual([0, 1, 0]);
  });

  it("M7 has keys in natural order, parts that differ first, and no empty parts", () => {
    const parts = compare({ params: { l10: "1", l2: "1", L1: "1" } }, {});
    expect([...parts.keys()]).toEqual(["params"]);
    expect([...parts.get("params")!.keys()]).toEqual(["L1", "l2", "l10"]);
    expect(compareParts([])).toEqual([]);
    const apart = compare({ params: { a: "1" }, tags: { t: "1" } }, { params: { a: "1" }, tags: { t: "2" } });
    expect([...apart.keys()]).toEqual(["tags", "params"]);
  });

  it("M7 includes code, command, data, packages and the rest of the environment", () => {
    const patch = (word: string) => `+++ b/a.py\n@@ -1 +1 @@\n-x\n+${word}\n`;
    const parts = compare(
      {
        provenance: {
          code: { ...CODE, commit: "aaa", dirtyPatch: patch("y") },
          command: ["python", "train it.py"],
          trainingData: ["s3://a", "s3://b"],
          environment: new Map(
            Object.entries({ "package:torch": "2.6.0", packages: '{"numpy":"2.1"}', host: "a01" }),
          ),
        },
      },
      {
        provenance: {
          code: { ...CODE, commit: "bbb", dirtyPatch: patch("z") },
          command: ["python", "train it.py"],
          trainingData: ["s3://a"],
          environment: new Map(Object.entries({ packages: "torch==2.7.1\nnumpy==2.1\n", host: "a01" })),
        },
      },
    );
    const different = [...parts].flatMap(([part, rows]) =>
      [...rows.values()].filter(differs).map(({ key, texts }) => [part, key].concat(texts)),
    );
    expect(different).toEqual([
      ["code", "commit", "aaa", "bbb"],
      // Of the same size, but different.
      ["code", "uncommitted", "+1 -1 in a.py"],
      ["data", "training data", "s3://a\ns3://b", "s3://a"],
      ["packages", "torch", "2.6.0", "2.7.1"],
    ]);
    expect(parts.get("command")!.get("command")!.texts).toEqual(["python 'train it.py'"]);
    expect(parts.get("environment")!.get("host")!.meaning).toEqual([0, 0]);
  });

  it("M200 includes the work tree, also where it is unknown, who ran it, and where logs are", () => {
    const clean = { ...CODE, trackedChanges: 1, untrackedFiles: 0, changedSubmodules: 0 };
    const parts = compare(
      { provenance: { code: clean, user: "ada", logsLocation: "s3://a", study: "s" } },
      { provenance: { code: { ...clean, untrackedFiles: 3 }, user: "bob", logsLocation: "s3://a" } },
      { provenance: { code: CODE } },
      {},
    );
    expect(parts.get("code")!.get("work tree")).toMatchObject({
      texts: ["clean", "3 untracked files", "unknown: state not recorded"],
      meaning: [0, 1, 2, 3],
    });
    expect(parts.get("run")!.get("user")!.texts).toEqual(["ada", "bob"]);
    expect(parts.get("run")!.get("logs location")!.meaning).toEqual([0, 0, 1, 1]);
    expect(parts.get("data")!.get("study")!.texts).toEqual(["s"]);
  });
});
