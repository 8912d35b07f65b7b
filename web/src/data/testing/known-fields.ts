import { create } from "@bufbuild/protobuf";
import { FieldInfoSchema, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, HeldObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";

const param = (key: string, variety: number, values: string[], numeric = false) =>
  create(FieldInfoSchema, {
    kind: FieldKind.PARAM,
    key,
    variety,
    numeric,
    values: values.map((json) => ({ json, runCount: 1n })),
  });

export const metric = (key: string, direction: Direction = Direction.UNSPECIFIED) =>
  create(FieldInfoSchema, { kind: FieldKind.METRIC, key, direction });

/** Fields as a server lists them, in its order. */
export const FIELDS = [
  param("lr", 0.7, ["0.1", "0.2"], true),
  param("layers.0", 0.6, ["64", "128"], true),
  param("optim.name", 0.5, ['"adam"']),
  param("data", 0.4, ['"/a/rather/long/path/to/data"']),
  param("random_seed", 0, ["1", "2", "3"], true),
  param("same", 0, ["7"], true),
  create(FieldInfoSchema, { kind: FieldKind.TAG, key: "team", values: [{ json: '"mt"', runCount: 2n }] }),
  metric("val/acc", Direction.MAXIMIZE),
  metric("grad", Direction.MINIMIZE),
  metric("system/gpu"),
];

export const OBJECTIVE = create(HeldObjectiveSchema, {
  metric: "val/acc",
  direction: Direction.MAXIMIZE,
  namespace: "a",
  field: "metrics.val/acc.max",
});
