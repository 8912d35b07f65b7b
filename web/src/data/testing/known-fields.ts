import { create } from "@bufbuild/protobuf";
import { FieldInfoSchema, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, HeldObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";

const param = (key: string, varies: boolean, values: string[], numeric = false) =>
  create(FieldInfoSchema, {
    kind: FieldKind.PARAM,
    key,
    varies,
    numeric,
    values: values.map((json) => ({ json, runCount: 1n })),
  });

export const metric = (key: string, direction: Direction = Direction.UNSPECIFIED) =>
  create(FieldInfoSchema, { kind: FieldKind.METRIC, key, direction });

/** Fields as a server lists them, in its order. */
export const FIELDS = [
  param("lr", true, ["0.1", "0.2"], true),
  param("random_seed", true, ["1", "2", "3"], true),
  param("optim.name", true, ['"adam"']),
  param("same", false, ["7"], true),
  create(FieldInfoSchema, { kind: FieldKind.TAG, key: "team", values: [{ json: '"mt"', runCount: 2n }] }),
  metric("val/acc"),
  metric("grad", Direction.MINIMIZE),
  metric("system/gpu"),
];

export const OBJECTIVE = create(HeldObjectiveSchema, {
  metric: "val/acc",
  direction: Direction.MAXIMIZE,
  namespace: "a",
  field: "metrics.val/acc.max",
});
