import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { KeysOfRuns } from "#core/series/run-keys.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const open = useWays();
const ONE_SERIES = {
  seriesCount: 1,
  hasLabels: false,
  hasNumbers: true,
  replacedCount: 1,
  firstTimeUs: undefined,
};

describe.each(TWO_WAYS)("$name", (way) => {
  it("V9 lists the keys of many runs together, and leaves out missing runs", async () => {
    const { runs, metrics } = open(way);
    const namespace = `k-${randomUUID()}`;
    const newRun = async () => (await runs.createRun({ namespace })).run!.id;
    const [first, second, silent] = [await newRun(), await newRun(), await newRun()];
    const loss = { key: "loss", steps: [0n, 1n], timesUs: [7_000n, 8_000n], values: [1, 2] };
    const ranked = (rank: string) => ({ key: "wait", labels: { rank }, timesUs: [5_000n], values: [1] });
    await metrics.writeEnvelope({ run: { id: first }, series: [loss, ranked("0"), ranked("1")] });
    await metrics.writeEnvelope({
      run: { id: second },
      series: [
        { key: "loss", steps: [3n], values: [3] },
        { key: "other", kind: SeriesKind.TEXT, steps: [3n], texts: ["x"] },
      ],
    });
    const asked = [first, randomUUID(), second, silent].map((id) => ({ id }));
    const answer = await metrics.listRunKeys({ runs: asked });
    expect(answer.keys).toMatchObject([
      { key: "loss", seriesCount: 2n, hasLabels: false, hasNumbers: true, runCount: 2n },
      { key: "wait", seriesCount: 2n, hasLabels: true, hasNumbers: true, runCount: 1n },
      { key: "other", seriesCount: 1n, hasLabels: false, hasNumbers: false, runCount: 1n },
    ]);
    expect(answer.runs.map(({ runId, firstTimeUs }) => [runId, firstTimeUs])).toEqual([
      [first, 5_000n],
      [second, undefined],
      [silent, undefined],
    ]);
    expect(answer.truncated).toBe(false);
    const few = await metrics.listRunKeys({ runs: asked, seriesPerRun: 1 });
    expect(few.keys).toMatchObject([{ key: "loss", seriesCount: 2n, runCount: 2n }]);
    expect(few.truncated).toBe(true);
    expect(await metrics.listRunKeys({})).toMatchObject({ keys: [], runs: [], truncated: false });
  });

  it("V9 refuses more runs or series than the limit", async () => {
    const { metrics } = open(way);
    for (const seriesPerRun of [-1, limits.keySeriesPerRunMax + 1]) {
      expect(await errorOf(metrics.listRunKeys({ seriesPerRun }))).toMatchObject({ code: "InvalidArgument" });
    }
    const many = Array.from({ length: limits.keyRunsMax + 1 }, () => ({ id: "0" }));
    expect(await errorOf(metrics.listRunKeys({ runs: many }))).toMatchObject({ code: "ResourceExhausted" });
  });

  it("V9 reads all pages of a run with more series than a page holds", async () => {
    const { runs, metrics } = open(way);
    const id = (await runs.createRun({ namespace: `k-${randomUUID()}` })).run!.id;
    const count = limits.pageSizeMax + 5;
    const series = Array.from({ length: count }, (_, i) => ({ key: `k${i}`, steps: [1n], values: [i] }));
    await metrics.writeEnvelope({ run: { id }, series });
    const { keys, truncated } = await metrics.listRunKeys({ runs: [{ id }] });
    expect(new Set(keys.map(({ key }) => key)).size).toBe(count);
    expect(truncated).toBe(false);
  });
});

describe("keys of many runs", () => {
  it("V9 has room for so many series of a run, and for so many in all", () => {
    const found = new KeysOfRuns(limits.keySeriesPerRunMax);
    const runs = limits.keySeriesMax / limits.keySeriesPerRunMax;
    for (let run = 0; run < runs; run++) {
      found.begin(`${run}`);
      expect(found.room()).toBe(limits.keySeriesPerRunMax);
      for (let i = 0; i < limits.keySeriesPerRunMax; i++) found.add({ ...ONE_SERIES, key: "k" });
      expect(found.room()).toBe(0);
    }
    found.begin("last");
    expect(found.room()).toBe(0);
    expect(found.all().keys).toEqual([
      {
        key: "k",
        seriesCount: limits.keySeriesMax,
        hasLabels: false,
        hasNumbers: true,
        runCount: runs,
        replacedCount: limits.keySeriesMax,
      },
    ]);
  });
});
