import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { ExploredTable } from "../columns/explored-table.ts";
import { facetCells, facetOf } from "./facets.ts";

const tableOf = (texts: readonly (string | undefined)[]) =>
  new ExploredTable(
    texts.map((text) => create(RunSchema, { params: text === undefined ? {} : { p: text } })),
    0,
  );

describe("the facet grid", () => {
  it("Z69 values are limited, numbers of many values are cut into ranges, and the ones left out are counted", () => {
    const text = fc.oneof(
      fc.integer({ min: 0, max: 40 }).map(String),
      fc.constantFrom('"a"', '"b"', undefined),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.boolean())), fc.integer({ min: 3, max: 8 }), (rows, max) => {
        const table = tableOf(rows.map(([each]) => each));
        const mask = Uint8Array.from(rows, ([, isIn]) => Number(isIn));
        const facet = facetOf(table.column("params.p"), mask, max);
        const size = mask.reduce((sum, bit) => sum + bit, 0);
        expect(facet.values.length).toBeLessThanOrEqual(max);
        expect(facet.values.reduce((sum, { count }) => sum + count, 0) + facet.leftOut).toBe(size);
        for (const [place, { count }] of facet.values.entries())
          expect(facet.places.filter((each) => each === place).length).toBe(count);
        for (const [i, place] of facet.places.entries()) if (mask[i] === 0) expect(place).toBe(-1);
        const cells = facetCells(facet, undefined, mask);
        expect(cells.reduce((sum, { runs }) => sum + runs.length, 0)).toBe(size - facet.leftOut);
      }),
    );
    const all = (count: number) => new Uint8Array(count).fill(1);
    const few = facetOf(tableOf(["1", "2", "2", undefined]).column("params.p"), all(4), 6);
    expect(few.values).toEqual([
      { label: "1", count: 1 },
      { label: "2", count: 2 },
      { label: "none", count: 1 },
    ]);
    const many = facetOf(
      tableOf(Array.from({ length: 100 }, (_, i) => String(i))).column("params.p"),
      all(100),
      6,
    );
    expect(many.values.map(({ label, count }) => `${label}: ${count}`)).toEqual([
      "0 – 24: 25",
      "25 – 49: 25",
      "50 – 74: 25",
      "75 – 99: 25",
    ]);
    const words = facetOf(tableOf(['"a"', '"a"', '"b"', '"c"', '"c"']).column("params.p"), all(5), 2);
    expect(words.values.map(({ label }) => label)).toEqual(["a", "c"]);
    expect(words).toMatchObject({ leftOut: 1, valuesLeftOut: 1 });
  });

  it("Z69 cells are every pair of row and column", () => {
    const table = tableOf(['"a"', '"b"', '"a"', '"b"']);
    const facet = facetOf(table.column("params.p"), new Uint8Array(4).fill(1), 6);
    expect(facetCells(facet, facet, new Uint8Array(4).fill(1)).map(({ runs }) => runs)).toEqual([
      [0, 2],
      [],
      [],
      [1, 3],
    ]);
    expect(facetCells(undefined, undefined, Uint8Array.of(1, 0, 1, 0))).toEqual([
      { row: 0, column: 0, runs: [0, 2] },
    ]);
  });
});
