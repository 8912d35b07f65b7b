import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { FieldInfoSchema, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, HeldObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";
import { directionOf, keysOf } from "./known-keys.ts";

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

describe("what there is to choose from", () => {
  it("Z5 params, tags and metrics come in the order of the server, with their values as a query writes them", () => {
    const known = keysOf({ fields: FIELDS, objective: OBJECTIVE });
    expect(known.params).toEqual(["lr", "random_seed", "optim.name", "same"]);
    expect(known.varying).toEqual(["lr", "random_seed", "optim.name"]);
    expect([...known.numeric]).toEqual(["lr", "random_seed", "same"]);
    expect(known.tags).toEqual(["team"]);
    expect(known.metrics).toEqual(["val/acc", "grad", "system/gpu"]);
    expect(known.values.get("params.lr")).toEqual(["0.1", "0.2"]);
    expect(known.values.get("tags.team")).toEqual(['"mt"']);
  });

  it("Z5 what is better is what a metric is described as, else what the objective says", () => {
    const known = keysOf({ fields: FIELDS, objective: OBJECTIVE });
    expect(directionOf("grad", known)).toBe(Direction.MINIMIZE);
    expect(directionOf("val/acc", known)).toBe(Direction.MAXIMIZE);
    expect(directionOf("system/gpu", known)).toBeUndefined();
  });
});
