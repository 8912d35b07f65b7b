import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  CompareRunsResponseSchema,
  Part,
  PatchDifference_How as How,
  type CompareRunsResponse,
} from "#proto/cairn/v1/explore_pb.ts";
import { diffPage } from "./diff-page.ts";
import { findDifference } from "./differs.ts";

const compared = (parts: MessageInitShape<typeof CompareRunsResponseSchema>): CompareRunsResponse =>
  create(CompareRunsResponseSchema, { runs: [{ name: "a" }, { name: "b" }], ...parts });

const page = (all: boolean, parts: MessageInitShape<typeof CompareRunsResponseSchema>) =>
  diffPage(compared(parts), { colour: false, columns: 80, all }).join("\n");

describe("what a comparison leaves out", () => {
  it("T26 says that metrics were not compared, and does not call them the same", () => {
    const cut = page(false, { metricsTruncated: true, equalMetrics: 5n });
    expect(cut).toContain("not all metrics were compared; `cairn show RUN --metrics GLOB` lists them");
    expect(cut).not.toContain("the same");
    expect(page(false, { equalMetrics: 5n })).toContain("the same: metrics");
  });

  it("T26 counts the lines of a patch that are not shown, and says what shows them", () => {
    const lines = Array.from({ length: 100 }, (_, i) => `+line ${i}`);
    const patches = [{ how: How.OWN, lines, moreLines: 7n }];
    const code = { part: Part.CODE, rows: [{ key: "commit", texts: ["x"], text: [0, 1], meaning: [0, 1] }] };
    expect(page(false, { parts: [code], patches })).toContain("    … 27 more lines; --all shows more");
    const all = page(true, { parts: [code], patches });
    expect(all).toContain("    … 7 more lines; `cairn show RUN --provenance` shows a patch in full");
    expect(all).not.toContain("--all");
  });

  it("T27 no difference among some of the metrics is no answer", () => {
    expect(findDifference(compared({ metricsTruncated: true }))).toBeUndefined();
    expect(findDifference(compared({}))).toBe(false);
    const metrics = [{ key: "loss", differs: true }];
    expect(findDifference(compared({ metrics, metricsTruncated: true }))).toBe(true);
  });
});
