import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import {
  fitOf,
  idsFirst,
  localEntries,
  metricQuery,
  runsQuery,
  stillFitting,
  type PaletteEntry,
} from "./palette-entries.ts";

const tree = ["demo", "demo/speech", "demo/speech/sweep", "vision/sweep-2", "other"].map(
  (path) => ({ path, subtreeRunCount: 3n }) as Namespace,
);

it("Z75 the search ranks names that begin with the text first, then names with a word that does", () => {
  expect(fitOf("demo/speech", "demo/speech")).toBe(0);
  expect(fitOf("demo/speech", "de")).toBe(1);
  expect(fitOf("demo/speech", "SPE")).toBe(2);
  expect(fitOf("demo/speech", "eech")).toBe(3);
  expect(fitOf("demo/speech", "x")).toBeUndefined();
  expect(localEntries(" sweep ", tree).map(({ title }) => title)).toEqual([
    "vision/sweep-2",
    "demo/speech/sweep",
  ]);
  expect(localEntries("about", tree)).toMatchObject([{ kind: "page", to: "/about" }]);
  expect(localEntries("", tree).every(({ kind }) => kind === "page")).toBe(true);
});

it("Z75 the typed text is never part of the query", () => {
  expect(runsQuery('50%_" or name like "')).toBe(
    'name ilike "%50\\\\%\\\\_\\" or name like \\"%" or id ilike "50\\\\%\\\\_\\" or name like \\"%" or alias ilike "%50\\\\%\\\\_\\" or name like \\"%" order by updated desc',
  );
  expect(metricQuery('a"b.c')).toBe('metrics."a\\"b".c.count is not null');
});

const runOf = (id: string, name: string, aliases: string[] = []) => create(RunSchema, { id, name, aliases });

it("Z86 a run whose id begins with the text comes before those with that name", () => {
  const runs = [runOf("01aa", "like 01bbcc"), runOf("01bbcc77", "meant")];
  expect(idsFirst(runs, " 01BBCC").map(({ name }) => name)).toEqual(["meant", "like 01bbcc"]);
  expect(idsFirst(runs, "like")).toEqual(runs);
});

it("Z87 of the results of another text only those that match this text stay", () => {
  const entries: PaletteEntry[] = [
    { kind: "metric", title: "val", query: "", runCount: 1 },
    ...[runOf("01aa", "Valid"), runOf("01bb", "other", ["eVALuated"]), runOf("0valid", "x")].map(
      (run): PaletteEntry => ({ kind: "run", title: run.name, run }),
    ),
  ];
  const left = (typed: string) => stillFitting(entries, typed).map(({ title }) => title);
  expect(left("val")).toEqual(["val", "Valid", "other"]);
  expect(left("vali ")).toEqual(["Valid"]);
  expect(left("01b")).toEqual(["other"]);
  expect(left("nothing")).toEqual([]);
});
