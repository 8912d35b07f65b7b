import { describe, expect, it } from "vitest";
import { newRun } from "#store/contract/stores.ts";
import { limits } from "#lang/limits.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "../types/provenance.ts";
import { parseColumns, project, unread } from "./columns.ts";

const RUN = newRun({
  aliases: ["job"],
  notes: "long",
  params: new Map([
    ["optim", '{"lr":0.1,"name":"adam"}'],
    ["optim.lr", "0.2"],
    ["a.b", '{"c.d":1}'],
    ["__proto__", "1"],
  ]),
  tags: new Map([
    ["team", "asr"],
    ["a.b", "x"],
  ]),
  provenance: { ...NO_PROVENANCE, initialState: "s" },
});

const refusal = expect.objectContaining({ name: "CairnError", code: "invalid" });

describe("columns of a search", () => {
  const shown = (...columns: string[]) => project(RUN, parseColumns(columns));

  it("are params, tags and aliases when none are requested", () => {
    expect(shown()).toEqual({ ...RUN, notes: "", provenance: undefined });
  });

  it("always come with identity, status and times", () => {
    const nothing = { aliases: [], notes: "", params: new Map(), tags: new Map(), provenance: undefined };
    expect(shown("metrics.loss.min")).toEqual({ ...RUN, ...nothing });
    expect(shown("notes", "provenance")).toEqual({ ...RUN, aliases: [], params: new Map(), tags: new Map() });
  });

  it.each([
    ["params.optim", ["optim"]],
    ["params.optim.name", ["optim"]],
    ["params.optim.lr", ["optim.lr"]],
    ["params.a.b.c.d", ["a.b"]],
    ["params.__proto__", ["__proto__"]],
    ["params.none", []],
    ["params.team", []],
  ])("find %s in the key that holds it", (column, keys) => {
    expect([...shown(column).params.keys()]).toEqual(keys);
  });

  it("match a tag by its whole name only", () => {
    expect([...shown("tags.team", 'tags."a.b"').tags]).toEqual([
      ["team", "asr"],
      ["a.b", "x"],
    ]);
  });

  it("include everything when a whole part is requested beside single ones", () => {
    expect(shown("params", "params.none").params).toEqual(RUN.params);
    expect(shown("tags.team", "tags").tags).toEqual(RUN.tags);
  });

  it("name metrics by key and statistic, with last as the default", () => {
    const { metrics } = parseColumns(["metrics.loss.min", "metrics.val_acc", 'metrics."a.b".max']);
    expect(metrics).toEqual([
      { name: "loss.min", key: "loss", stat: "min" },
      { name: "val_acc.last", key: "val_acc", stat: "last" },
      { name: "a.b.max", key: "a.b", stat: "max" },
    ]);
  });

  it.each(["status", "id", "", "nonsense", "metrics", "params.a b", "params.a = 1", "created", "1"])(
    "refuse %j",
    (column) => {
      expect(() => parseColumns([column])).toThrow(refusal);
    },
  );

  it("W3 are limited to the size of a page", () => {
    const many = Array.from({ length: limits.pageSizeMax + 1 }, () => "params");
    expect(() => parseColumns(many)).toThrow(expect.objectContaining({ code: "exhausted" }));
  });

  it("Q201 pick single fields of the provenance", () => {
    const provenance: Provenance = {
      ...NO_PROVENANCE,
      study: "s",
      user: "u",
      trainingData: ["a"],
      code: { ...NO_CODE, repository: "r", commit: "c", dirtyPatch: "+1" },
      command: ["x"],
      environment: new Map([
        ["host", "n1"],
        ["gpu", "H200"],
      ]),
    };
    const picked = (...columns: string[]) =>
      project({ ...RUN, provenance }, parseColumns(columns)).provenance;
    expect(picked("study", "host")).toEqual({
      ...NO_PROVENANCE,
      study: "s",
      environment: new Map([["host", "n1"]]),
    });
    expect(picked("commit", "training_data", "test_data")).toEqual({
      ...NO_PROVENANCE,
      trainingData: ["a"],
      code: { ...NO_CODE, commit: "c" },
    });
    expect(picked("creator")).toBe(undefined);
    expect(picked("study", "provenance")).toBe(provenance);
    expect(project(newRun(), parseColumns(["study"])).provenance).toBe(undefined);
  });

  it("tell what the store need not read", () => {
    const omitted = (...columns: string[]) => unread(parseColumns(columns));
    expect(omitted()).toEqual({ omit: ["notes", "provenance"], searchable: false });
    expect(omitted("tags")).toEqual({ omit: ["params", "notes", "provenance"], searchable: false });
    expect(omitted("params.a", "notes", "provenance")).toEqual({ omit: ["tags"], searchable: false });
    expect(omitted("params", "study")).toEqual({ omit: ["tags", "notes", "provenance"], searchable: true });
  });
});
