import { getOption } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ExploreService } from "#proto/cairn/v1/explore_pb.ts";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { permission, Permission } from "#proto/cairn/v1/permission_pb.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS, WAYS } from "../testing/servers.ts";
import { Watching } from "../testing/watching.ts";

const open = useWays(WAYS);

/** Reads that say no position: no change that a watch is notified of is in them, or they have numbers of their own. */
const WITHOUT = [
  "AccessService.CreateToken",
  "AccessService.ListTokens",
  "AccessService.RevokeToken",
  "LineageService.GetLineage",
  "LineageService.ListChildren",
  "LineageService.ListSources",
  "LogService.ReadLog",
  "LogService.SearchLog",
  "MetricService.ListHosts",
  "MetricService.ListKeys",
  "NamespaceService.ListObjectives",
  "SystemService.GetInfo",
  "SystemService.VerifyRun",
];

const goal = (field: string) => ({ field, direction: Direction.MINIMIZE });

it("H16 each unary read either says a position or is listed", () => {
  const reads = SERVICES.flatMap((service) =>
    service.methods.filter(
      (method) =>
        getOption(method, permission) === Permission.READ &&
        method.methodKind === "unary" &&
        method.output.field["position"] === undefined,
    ),
  );
  expect(reads.map(({ parent, name }) => `${parent.name}.${name}`).toSorted()).toEqual(WITHOUT);
});

describe.each(WAYS)("$name", (way) => {
  it("H16 every read answers with a position, and what writes does not", async () => {
    const { artifacts, metrics, namespaces, runs } = open(way);
    const explore = createClient(ExploreService, way.transport(open(way).url));
    const namespace = `h16-${WAYS.indexOf(way)}`;
    const created = await runs.createRun({ namespace, params: { lr: "0.1" } });
    const { id } = created.run!;
    const run = { id };
    await metrics.writeEnvelope({ run, series: [{ key: "loss", steps: [1n], values: [3] }] });
    const artifact = { name: "a", content: Buffer.from("a") };
    const recorded = await artifacts.recordArtifact({ run, artifact });
    const series = [{ run, key: "loss" }];
    const reads = [
      runs.getRun({ run }),
      runs.searchRuns({ namespace }),
      metrics.listSeries({ run }),
      metrics.listLabels({ run }),
      metrics.listRunKeys({ runs: [run] }),
      metrics.readSeries({ series }),
      metrics.readSeries({ series, encoding: Encoding.NUMBERS }),
      metrics.readGroups({ query: "", namespace, key: "loss" }),
      namespaces.getNamespace({ path: namespace }),
      namespaces.listNamespaces({ pageSize: 10 }),
      artifacts.getArtifact({ run, name: "a" }),
      artifacts.listArtifacts({ run }),
      artifacts.listArtifacts({ run, replaced: true }),
      artifacts.searchModels({ namespace }),
      explore.compareRuns({ runs: [run] }),
      explore.listFields({ runs: { namespace } }),
      explore.getImportance({ runs: { namespace }, objective: "metrics.loss.last" }),
      explore.getFrontier({ runs: { namespace }, goals: ["metrics.loss.last", "params.lr"].map(goal) }),
    ];
    for (const { position } of await Promise.all(reads)) {
      expect(position).toMatch(/^[0-9a-f]{12}\.[\w-]{59}$/);
    }
    const updated = await runs.updateRun({ run, tags: { a: "b" } });
    expect([created.run!.position, recorded.position, updated.position]).toEqual(["", "", ""]);
    expect((await runs.searchRuns({ namespace })).runs.map(({ position }) => position)).toEqual([""]);
  });
});

describe.each(TWO_WAYS)("$name", (way) => {
  it("H15 a watch that begins at the position of a read is notified of what came after it", async () => {
    const { metrics, runs, watch } = open(way);
    const namespace = `h15-${TWO_WAYS.indexOf(way)}`;
    const { id } = (await runs.createRun({ namespace })).run!;
    const write = (step: number) =>
      metrics.writeEnvelope({
        run: { id },
        series: [{ key: "loss", steps: [BigInt(step)], values: [step] }],
      });
    await write(1);
    const found = await runs.searchRuns({ namespace });
    const read = await metrics.readSeries({ series: [{ run: { id }, key: "loss" }] });
    await write(2);
    await runs.updateRun({ run: { id }, name: "renamed" });
    for (const begin of [{ position: found.position }, { since: [read.position, found.position] }]) {
      const request = { runs: { namespace }, series: [{ run: { id } }], ...begin };
      const watching = await Watching.open(watch, request);
      // What was written just before the read may come again.
      const { series } = await watching.next("points");
      expect(series.flatMap(({ values }) => values).at(-1)).toBe(2);
      expect((await watching.next("runs")).runs).toMatchObject([{ id, name: "renamed" }]);
      watching.stop();
    }
  });

  it("H9 H15 positions of reads that are none, too many or of another journal are said to be so", async () => {
    const { watch } = open(way);
    const refusal = (since: string[]) => errorOf(Watching.open(watch, { runs: {}, since }));
    expect(await refusal(["nonsense"])).toMatchObject({ code: "InvalidArgument" });
    const many = await refusal(Array.from({ length: 101 }, () => "ab12cd34ef56.5.5"));
    expect(many).toMatchObject({ code: "ResourceExhausted" });
    const watching = await Watching.open(watch, { runs: {}, since: ["ab12cd34ef56.5.5"] });
    expect(await watching.next("behind")).toMatchObject({ what: ["runs"] });
    watching.stop();
  });
});
