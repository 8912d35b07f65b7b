import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { FIELDS, OBJECTIVE } from "../testing/known-fields.ts";
import { directionOf, keysOf } from "./known-keys.ts";

describe("fields to choose from", () => {
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

  it("Z5 the better direction comes from the description of a metric, else from the objective", () => {
    const known = keysOf({ fields: FIELDS, objective: OBJECTIVE });
    expect(directionOf("grad", known)).toBe(Direction.MINIMIZE);
    expect(directionOf("val/acc", known)).toBe(Direction.MAXIMIZE);
    expect(directionOf("system/gpu", known)).toBeUndefined();
  });
});
