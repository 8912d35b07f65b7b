import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Axis, Encoding, type Column } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const open = useWays();

function decoded(column: Column | undefined): number[] {
  return [...new Float64Array(column!.bytes.slice().buffer)];
}

describe.each(TWO_WAYS)("$name", (way) => {
  /** Four runs: two with lr 0.1, one with 10, one without. Values are lr-independent: 1, 2, 4, 8 at steps 0 and 1. */
  const fill = async (): Promise<{ namespace: string; ids: string[] }> => {
    const { runs, metrics } = open(way);
    const namespace = `g-${randomUUID()}`;
    const ids: string[] = [];
    for (const [i, lr] of ["0.1", "0.1", "10", undefined].entries()) {
      const params: Record<string, string> = lr === undefined ? {} : { lr };
      const { run } = await runs.createRun({ namespace, params });
      const labelled = { key: "loss", labels: { rank: "1" }, steps: [1n], values: [2 ** i * 3] };
      await metrics.writeEnvelope({
        run: { id: run!.id },
        series: [{ key: "loss", steps: [0n, 1n], values: [2 ** i, 2 ** i] }, labelled],
      });
      ids.push(run!.id);
    }
    return { namespace, ids };
  };

  it("G1 G3 W1 gives the statistics of groups as bytes and as numbers", async () => {
    const { metrics } = open(way);
    const { namespace, ids } = await fill();
    const request = { namespace, groupBy: ["params.lr"], key: "loss", quantiles: [0.25] };
    const read = await metrics.readGroups({ ...request, encoding: Encoding.NUMBERS });
    expect(read).toMatchObject({ gridStart: 0, gridWidth: 1 });
    expect(read.groups.map(({ name, values, pointCount }) => [name, values, pointCount])).toEqual([
      ["params.lr = 0.1", ["0.1"], 6n],
      ["params.lr = 10", ["10"], 3n],
      ["params.lr = null", ["null"], 3n],
    ]);
    const [first] = read.groups;
    expect(first!.runIds.toSorted()).toEqual(ids.slice(0, 2).toSorted());
    expect(first).toMatchObject({
      bucket: { numbers: [0, 1] },
      count: { numbers: [2, 2] },
      mean: { numbers: [1.5, 3] },
      median: { numbers: [1.5, 3] },
      min: { numbers: [1, 2] },
      max: { numbers: [2, 4] },
      quantiles: [{ numbers: [1.25, 2.5] }],
    });
    expect(first!.std!.numbers).toEqual([Math.sqrt(0.5), Math.sqrt(2)]);
    expect(read.groups[1]!.std!.numbers).toEqual([NaN, NaN]);
    const bytes = await metrics.readGroups(request);
    expect(decoded(bytes.groups[0]!.mean)).toEqual([1.5, 3]);
    expect(decoded(bytes.groups[0]!.quantiles[0])).toEqual([1.25, 2.5]);
    expect(decoded(bytes.groups[1]!.stderr)).toEqual([NaN, NaN]);
  });

  it("G2 W1 takes given groups, one label set, a range and few buckets", async () => {
    const { metrics } = open(way);
    const { ids } = await fill();
    const groups = [{ name: "all", runs: ids.map((id) => ({ id })) }];
    const encoding = Encoding.NUMBERS;
    const one = await metrics.readGroups({ groups, key: "loss", onlyLabels: true, encoding });
    expect(one.groups[0]).toMatchObject({ name: "all", runIds: ids, mean: { numbers: [3.75, 3.75] } });
    const rank = { groups, key: "loss", labels: { rank: "1" }, encoding };
    const ranked = await metrics.readGroups({ ...rank, onlyLabels: true, from: 0n, to: 9n, buckets: 2 });
    expect(ranked).toMatchObject({ gridStart: 0, gridWidth: 5 });
    expect(ranked.groups[0]).toMatchObject({ bucket: { numbers: [0] }, mean: { numbers: [11.25] } });
    expect(await errorOf(metrics.readGroups(rank))).toMatchObject({ code: "InvalidArgument" });
    const timed = await metrics.readGroups({ groups, key: "loss", axis: Axis.TIME, encoding });
    expect(timed.groups[0]).toMatchObject({ pointCount: 0n, mean: { numbers: [] } });
  });

  it("G7 W1 aligns runs of different days", async () => {
    const { runs, metrics } = open(way);
    const { run: early } = await runs.createRun({ namespace: `g-${randomUUID()}` });
    const { run: late } = await runs.createRun({ namespace: `g-${randomUUID()}` });
    const starts = [1_000_000n, 86_400_000_000n];
    for (const [i, run] of [early, late].entries()) {
      const timesUs = [0n, 5n].map((since) => starts[i]! + since);
      const series = [{ key: "loss", steps: [0n, 1n], timesUs, values: [i, i + 4] }];
      await metrics.writeEnvelope({ run: { id: run!.id }, series });
    }
    const given = { name: "both", runs: [{ id: early!.id }, { id: late!.id }] };
    const request = { key: "loss", axis: Axis.TIME, encoding: Encoding.NUMBERS };
    const read = await metrics.readGroups({ ...request, groups: [{ ...given, startsUs: starts }] });
    expect(read).toMatchObject({ gridStart: 0, gridWidth: 1 });
    expect(read.groups[0]).toMatchObject({ bucket: { numbers: [0, 5] }, mean: { numbers: [0.5, 4.5] } });
    const part = { ...request, groups: [{ ...given, startsUs: starts }], from: 1n, to: 9n };
    expect((await metrics.readGroups(part)).groups[0]).toMatchObject({ pointCount: 2n });
    const few = { ...given, startsUs: [1n] };
    expect(await errorOf(metrics.readGroups({ ...request, groups: [few] }))).toMatchObject({
      code: "InvalidArgument",
    });
  });

  it("G5 G6 W6 names what it refuses", async () => {
    const { metrics } = open(way);
    const { ids } = await fill();
    const missing = [{ name: "", runs: [{ id: ids[0]! }, { id: "0".repeat(32) }] }];
    expect(await errorOf(metrics.readGroups({ groups: missing, key: "loss" }))).toMatchObject({
      code: "NotFound",
    });
    const quantiles = Array.from({ length: 21 }, () => 0.5);
    expect(await errorOf(metrics.readGroups({ key: "loss", quantiles }))).toMatchObject({
      code: "ResourceExhausted",
      details: [{ reason: "LIMIT_EXCEEDED", facts: { limit: "20" } }],
    });
    expect(await errorOf(metrics.readGroups({ key: "loss", query: "((" }))).toMatchObject({
      code: "InvalidArgument",
      details: [{ reason: "QUERY_SYNTAX" }],
    });
  });
});
