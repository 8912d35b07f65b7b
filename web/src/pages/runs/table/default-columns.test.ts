import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { FieldInfoSchema, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, HeldObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";
import { defaultColumns } from "./default-columns.ts";
import { keysOf } from "../../../data/runs/known-keys.ts";

const param = (key: string, varies: boolean, values: string[], numeric = false) =>
  create(FieldInfoSchema, {
    kind: FieldKind.PARAM,
    key,
    varies,
    numeric,
    values: values.map((json) => ({ json, runCount: 1n })),
  });
const metric = (key: string, direction = Direction.UNSPECIFIED) =>
  create(FieldInfoSchema, { kind: FieldKind.METRIC, key, direction });

/** In the order of the server. */
const FIELDS = [
  param("lr", true, ["0.1", "0.2"], true),
  param("random_seed", true, ["1", "2", "3"], true),
  param("optim.name", true, ['"adam"']),
  param("same", false, ["7"], true),
  create(FieldInfoSchema, { kind: FieldKind.TAG, key: "team", values: [{ json: '"mt"', runCount: 2n }] }),
  metric("val/acc"),
  metric("grad", Direction.MINIMIZE),
  metric("system/gpu"),
];
const OBJECTIVE = create(HeldObjectiveSchema, {
  metric: "val/acc",
  direction: Direction.MAXIMIZE,
  namespace: "a",
  field: "metrics.val/acc.max",
});

describe("the columns of a new table", () => {
  it("Z3 a table that was not arranged shows the objective and the params that tell most, without seeds", () => {
    expect(defaultColumns(keysOf({ fields: FIELDS, objective: OBJECTIVE }))).toEqual([
      "name",
      "status",
      "duration",
      "line.val/acc",
      "metrics.val/acc.max",
      "metrics.grad.last",
      "params.lr",
      "params.optim.name",
      "started",
    ]);
    expect(defaultColumns(keysOf({ fields: [], objective: undefined }))).toEqual([
      "name",
      "status",
      "duration",
      "started",
    ]);
  });

  it("Z3 without an objective the first metric is judged as it is described, or by its name", () => {
    const best = (key: string, direction?: Direction) =>
      defaultColumns(keysOf({ fields: [metric(key, direction)], objective: undefined }))[4];
    expect(best("score")).toBe("metrics.score.max");
    expect(best("loss")).toBe("metrics.loss.min");
    expect(best("loss", Direction.MAXIMIZE)).toBe("metrics.loss.max");
  });
});
