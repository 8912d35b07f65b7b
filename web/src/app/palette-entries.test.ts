import { expect, it } from "vitest";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { fitOf, localEntries, metricQuery, runsQuery } from "./palette-entries.ts";

const tree = ["demo", "demo/speech", "demo/speech/sweep", "vision/sweep-2", "other"].map(
  (path) => ({ path, subtreeRunCount: 3n }) as Namespace,
);

it("Z75 the search puts first what begins with the text, then what has a word that does", () => {
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

it("Z75 what is typed is text, never a part of the query", () => {
  expect(runsQuery('50%_" or name like "')).toBe(
    'name ilike "%50\\\\%\\\\_\\" or name like \\"%" or id ilike "50\\\\%\\\\_\\" or name like \\"%" or alias ilike "%50\\\\%\\\\_\\" or name like \\"%" order by updated desc',
  );
  expect(metricQuery('a"b.c')).toBe('metrics."a\\"b.c".count is not null');
});
