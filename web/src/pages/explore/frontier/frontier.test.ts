import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { FrontierRunSchema } from "#proto/cairn/v1/explore_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { axisOf } from "../columns/axis.ts";
import { ExploredTable } from "../columns/explored-table.ts";
import { cornersOf, goalsOf, isFor, withRoomFor } from "./frontier.ts";
import { layOutScatter } from "../scatter/scatter-points.ts";

const table = new ExploredTable(
  [1, 2, 3].map((size) =>
    create(RunSchema, {
      id: `r${size}`,
      params: { size: String(size), opt: '"adam"' },
      metrics: { "loss.min": 1 / size },
    }),
  ),
  0,
);
const [x, y, opt] = ["params.size", "metrics.loss.min", "params.opt"].map((text) => table.column(text));
const rowOf = (runId: string) => {
  const row = table.runs.findIndex(({ id }) => id === runId);
  return row < 0 ? undefined : row;
};
const runs = [
  create(FrontierRunSchema, { runId: "far", values: [10, 0.1] }),
  create(FrontierRunSchema, { runId: "r2", values: [2, 0.5] }),
];

describe("the frontier in the picture", () => {
  it("Z67 it is requested where both are numbers with a known direction", () => {
    const fields = { x, y, colour: undefined, size: undefined, goals: ["max", "min"], colourGoal: "max" };
    expect(goalsOf(fields)).toEqual([
      { text: "params.size", label: "size", goal: "max" },
      { text: "metrics.loss.min", label: "loss min", goal: "min" },
    ]);
    expect(goalsOf({ ...fields, goals: ["max", undefined] })).toBeUndefined();
    expect(goalsOf({ ...fields, x: opt })).toBeUndefined();
    expect(goalsOf({ ...fields, y: undefined })).toBeUndefined();
  });

  it("Z67 an answer about other fields is not marked", () => {
    const goals = goalsOf({ x, y, goals: ["max", "min"] });
    const frontier = { goals, runs, totalCount: 2n };
    expect(isFor(frontier, goals)).toBe(true);
    expect(isFor(frontier, goalsOf({ x, y, goals: ["min", "min"] }))).toBe(true);
    expect(isFor(frontier, goalsOf({ x: y, y: x, goals: ["max", "min"] }))).toBe(false);
    expect(isFor(frontier, undefined)).toBe(false);
  });

  it("Z67 runs that were not read are marked where their values are, with room on the axes", () => {
    const axes = [
      axisOf(withRoomFor(x, { runs }, 0, rowOf), "linear", 5),
      axisOf(withRoomFor(y, { runs }, 1, rowOf), "linear", 5),
    ];
    const layout = layOutScatter(axes[0], axes[1], undefined, 400, 300);
    const [far, read] = cornersOf({ runs }, layout, axes, rowOf);
    expect(read).toMatchObject({ x: layout.xs[1], y: layout.ys[1] });
    expect(far.x).toBeGreaterThan(Math.max(...layout.xs));
    expect(far.x).toBeLessThan(layout.right);
    expect(far.y).toBeGreaterThan(Math.max(...layout.ys));
    expect(far.y).toBeLessThan(layout.bottom);
    expect(withRoomFor(x, { runs: [runs[1]] }, 0, rowOf)).toBe(x);
  });
});
