import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { defaultColumns } from "./default-columns.ts";
import { keysOf } from "../../../data/runs/known-keys.ts";
import { FIELDS, metric, OBJECTIVE } from "../../../data/testing/known-fields.ts";

describe("the columns of a new table", () => {
  it("Z3 the default columns are the objective and the most informative params", () => {
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

  it("Z3 without an objective they are the best value of the first metric, or the last where no direction is known", () => {
    const best = (key: string, direction?: Direction) =>
      defaultColumns(keysOf({ fields: [metric(key, direction)], objective: undefined }))[4];
    expect(best("loss")).toBe("metrics.loss.last");
    expect(best("loss", Direction.MINIMIZE)).toBe("metrics.loss.min");
    expect(best("loss", Direction.MAXIMIZE)).toBe("metrics.loss.max");
  });
});
