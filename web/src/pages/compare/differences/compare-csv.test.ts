import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { CompareRunsResponseSchema, Part } from "#proto/cairn/v1/explore_pb.ts";
import { compareCsv } from "./compare-csv.ts";

it("Z62 has every row, quoted, and nothing that a spreadsheet computes", () => {
  const compared = create(CompareRunsResponseSchema, {
    runs: [
      { id: "1a", name: '=cmd|"x"' },
      { id: "2b", name: "b, c" },
    ],
    metrics: [{ key: "loss", stat: "min", differs: true, values: [{ value: -1.5 }, {}] }],
    parts: [
      {
        part: Part.TAGS,
        rows: [{ key: "-x", texts: ["@SUM(A1)", "two\nlines"], text: [1, 2], meaning: [0, 1] }],
      },
    ],
  });
  expect(compareCsv(compared).split("\r\n")).toEqual([
    `part,key,differs,"'=cmd|""x"" (1a)","b, c (2b)"`,
    "metrics,loss min,yes,-1.5,",
    `tags,'-x,yes,'@SUM(A1),"two\nlines"`,
    "",
  ]);
});
