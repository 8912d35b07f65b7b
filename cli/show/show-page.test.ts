import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { SeriesInfoSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { showPage, type ShownRun } from "./show-page.ts";

it("T24 counts the metrics that were too many to be read", async () => {
  const shown: ShownRun = {
    run: create(RunSchema, { name: "large" }),
    objective: undefined,
    metrics: { series: [create(SeriesInfoSchema, { key: "loss" })], totalCount: 200_000 },
    artifacts: [],
    moreArtifacts: false,
    sources: [],
    sourceNames: new Map(),
    log: [],
  };
  // Too narrow for sparklines, which would be read from the server.
  const options = { colour: false, columns: 20, metrics: "**" };
  const page = (await showPage(new Cairn({ url: "http://127.0.0.1:1" }), shown, options)).join("\n");
  expect(page).toContain("Metrics  200,000; only the first 1 were read");
  expect(page).toContain("… 199,999 more; --metrics GLOB shows those that match");
});
