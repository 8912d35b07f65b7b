import { expect, it } from "vitest";
import type { ReadSeries } from "#core/ports/point-store.ts";
import {
  appendOne,
  createRun,
  envelope,
  EVERYTHING,
  inEveryForm,
  numbers,
  points,
  refused,
  selectOf,
  useSharedStores,
  type OpenStores,
} from "../stores.ts";

/** More than the key, the labels and the fields of any series here. */
const HEAD = 1_000;

/** How large an answer may be: bounds are checked before the work where possible. */
export function boundsContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const tooMuch = refused("exhausted", "LIMIT_EXCEEDED");
  const ramp = (count: number) => Array.from({ length: count }, (_, i) => i);
  const read = (runId: string, keys: readonly string[], more: Partial<ReadSeries>) =>
    bench.points.readSeries({
      ...EVERYTHING,
      selectors: keys.map((key) => ({ runId, key, labels: undefined })),
      ...more,
    });
  const logTexts = (id: string, texts: readonly string[]) => {
    const steps = Float64Array.from(texts, (_, i) => i);
    const series = [{ key: "t", labels: [], points: points({ kind: "text", data: [...texts] }, { steps }) }];
    return appendOne(bench.journal, envelope(id, 1, { series }));
  };

  it("P5 counts three numbers a point and eight a bucket, in the encoding of the answer", async () => {
    const id = await createRun(bench.runs);
    await appendOne(
      bench.journal,
      envelope(id, 1, { series: [numbers("a", ramp(600)), numbers("b", ramp(600))] }),
    );
    await inEveryForm(bench, async () => {
      for (const numberBytes of [8, 20]) {
        const all = 2 * 600 * 3 * numberBytes;
        await expect(read(id, ["a", "b"], { numberBytes, bytesMax: all })).rejects.toEqual(tooMuch);
        expect((await read(id, ["a", "b"], { numberBytes, bytesMax: all + 2 * HEAD })).series).toHaveLength(
          2,
        );
        // A range whose points are counted as they are read.
        await expect(read(id, ["a", "b"], { numberBytes, bytesMax: all / 2, from: 100 })).rejects.toEqual(
          tooMuch,
        );
        const drawn = 2 * 100 * 8 * numberBytes;
        await expect(read(id, ["a", "b"], { numberBytes, bytesMax: drawn, buckets: 100 })).rejects.toEqual(
          tooMuch,
        );
        const fits = await read(id, ["a", "b"], { numberBytes, bytesMax: drawn + 2 * HEAD, buckets: 100 });
        expect(fits.series.map(({ data }) => data.form)).toEqual(["band", "band"]);
      }
    });
  });

  it("P5 reports the size, the limit and what to do", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("a", ramp(600))] }));
    const refusal = (more: Partial<ReadSeries>) => read(id, ["a"], more).catch((thrown: unknown) => thrown);
    expect(await refusal({ bytesMax: 30_000, numberBytes: 20 })).toMatchObject({
      message: expect.stringMatching(/at least 36\d\d\d bytes, and the most is 30000$/) as string,
      facts: { limit: "30000" },
      hint: expect.stringContaining("binary") as string,
    });
    expect(await refusal({ pointsMax: 599 })).toMatchObject({
      message: expect.stringMatching(/at least 600 points, and the most is 599$/) as string,
      hint: expect.not.stringContaining("binary") as string,
    });
  });

  it("P5 counts texts by their length, and refuses them while they are read", async () => {
    const id = await createRun(bench.runs);
    await logTexts(
      id,
      ramp(50).map((i) => `${i}${"é".repeat(1_000)}`),
    );
    await inEveryForm(bench, async () => {
      await expect(read(id, ["t"], { bytesMax: 100_000 })).rejects.toEqual(tooMuch);
      await expect(read(id, ["t"], { bytesMax: 100_000, from: 0 })).rejects.toEqual(tooMuch);
      await expect(read(id, ["t"], { bytesMax: 100_000, buckets: 5 })).rejects.toEqual(tooMuch);
      expect((await read(id, ["t"], { bytesMax: 103_000 })).series).toHaveLength(1);
      expect((await read(id, ["t"], { bytesMax: 10_000, from: 3, to: 4 })).series).toHaveLength(1);
    });
  });

  it("P5 counts series that have nothing in the range, with their labels", async () => {
    const id = await createRun(bench.runs);
    const long = "x".repeat(100);
    const series = ramp(40).map((i) => numbers("a", [1], 0, [["rank", `${i}${long}`]]));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      await expect(read(id, ["a"], { from: 7, bytesMax: 40 * 100 })).rejects.toEqual(tooMuch);
      expect((await read(id, ["a"], { from: 7, bytesMax: 40 * HEAD })).series).toHaveLength(40);
    });
  });

  it("P6 a series that is named many times is returned once and counted once", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("b", [1]), numbers("a", ramp(100))] }));
    const keys = ["a", ...ramp(200).map((i) => (i % 2 === 0 ? "a" : "b"))];
    await inEveryForm(bench, async () => {
      const { series } = await read(id, keys, { bytesMax: 101 * 24 + 2 * HEAD });
      expect(series.map(({ key, pointCount }) => [key, pointCount])).toEqual([
        ["a", 100],
        ["b", 1],
      ]);
    });
  });

  it("G5 refuses more label sets than the limit", async () => {
    const id = await createRun(bench.runs);
    const series = ramp(5).map((i) => numbers("a", [1], 0, [["rank", String(i)]]));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    const group = (seriesMax: number) =>
      bench.points.readGroups({
        groups: [[id], [id]],
        startsUs: undefined,
        key: "a",
        labels: undefined,
        axis: "step",
        from: undefined,
        to: undefined,
        buckets: 1,
        quantiles: [],
        meansMax: 1_000,
        numbersMax: 1_000,
        seriesMax,
      });
    await expect(group(4)).rejects.toEqual(tooMuch);
    expect((await group(5)).groups).toHaveLength(2);
  });

  it("Q8 lists series until their texts are too many, one at least, and counts all", async () => {
    const id = await createRun(bench.runs);
    const key = (i: number) => `${i}${"k".repeat(300)}`;
    const steps = Float64Array.of(1);
    const texts = points({ kind: "text", data: ["x".repeat(5_000)] }, { steps });
    const series = [...ramp(6).map((i) => numbers(key(i), [1])), { key: key(6), labels: [], points: texts }];
    await appendOne(bench.journal, envelope(id, 1, { series }));
    const list = (bytesMax: number, after: string | undefined) =>
      selectOf(bench.points, id, { after, bytesMax });
    await inEveryForm(bench, async () => {
      for (const [bytesMax, sizes] of [
        [0, [1, 1, 1, 1, 1, 1, 1]],
        [2_200, [3, 3, 1]],
        [9_000, [6, 1]],
        [1e6, [7]],
      ] as const) {
        const found: string[] = [];
        const pages: number[] = [];
        let after: string | undefined;
        do {
          const page = await list(bytesMax, after);
          expect(page.total).toBe(7);
          found.push(...page.series.map((one) => one.key));
          pages.push(page.series.length);
          after = page.next;
        } while (after !== undefined);
        expect(found).toEqual(series.map((one) => one.key));
        expect(pages).toEqual(sizes);
      }
    });
  });
}
