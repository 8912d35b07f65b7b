import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { SeriesInfoSchema } from "#proto/cairn/v1/metric_pb.ts";
import { orderMetrics } from "./order-metrics.ts";

it("Z42 metrics begin with the objective and end with system metrics", () => {
  const series = ["system/gpu", "a", "val/acc", "b"].map((key) =>
    create(SeriesInfoSchema, { key, labels: key === "b" ? { rank: "3" } : {} }),
  );
  const keys = (find: string) => orderMetrics(series, "val/acc", find).map(({ key }) => key);
  expect(keys("")).toEqual(["val/acc", "a", "b", "system/gpu"]);
  expect(keys("RANK=3")).toEqual(["b"]);
  expect(keys("gpu sys")).toEqual(["system/gpu"]);
});
