import { expect, it } from "vitest";
import { parseMetrics, rateBetween } from "./metrics-text.ts";

it("Z78 reads the answer of /metrics", () => {
  const values = parseMetrics(
    '# HELP cairn_ingested_points Points.\n# TYPE x gauge\ncairn_ingested_points 1200\nnodejs_gc{kind="a b"} 3\nnodejs_gc{kind="c"} 4\nbad NaN\n\nprocess_resident_memory_bytes 1.5e+8\n',
  );
  expect([...values]).toEqual([
    ["cairn_ingested_points", 1200],
    ["nodejs_gc", 3],
    ["process_resident_memory_bytes", 1.5e8],
  ]);
});

it("Z78 a rate needs two samples of the same server", () => {
  const first = { atMs: 1_000, points: 500 };
  expect(rateBetween(undefined, first)).toBeUndefined();
  expect(rateBetween(first, { atMs: 3_000, points: 2_500 })).toBe(1_000);
  expect(rateBetween(first, { atMs: 3_000, points: 0 })).toBeUndefined();
  expect(rateBetween(first, first)).toBeUndefined();
});
