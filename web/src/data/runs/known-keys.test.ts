import { describe, expect, it } from "vitest";
import { FIELDS, OBJECTIVE } from "../testing/known-fields.ts";
import { bestField, keysOf } from "./known-keys.ts";

describe("fields to choose from", () => {
  it("Z5 params, tags and metrics come in the order of the server, with their values as a query writes them", () => {
    const known = keysOf({ fields: FIELDS, objective: OBJECTIVE });
    expect(known.params).toEqual(["lr", "layers.0", "optim.name", "data", "random_seed", "same"]);
    expect([...known.numeric]).toEqual(["lr", "layers.0", "random_seed", "same"]);
    expect(known.tags).toEqual(["team"]);
    expect(known.metrics).toEqual(["val/acc", "grad", "system/gpu"]);
    expect(known.values.get("params.lr")).toEqual(["0.1", "0.2"]);
    expect(known.values.get("tags.team")).toEqual(['"mt"']);
  });

  it("M16 the best value of a metric is that of the direction in the answer, else the last", () => {
    const known = keysOf({ fields: FIELDS, objective: OBJECTIVE });
    const stats = known.metrics.map((key) => bestField(key, known).stat);
    expect(stats).toEqual(["max", "min", "last"]);
  });
});
