import fc from "fast-check";
import { expect, it } from "vitest";
import type { Points, SeriesPoints, Values } from "#core/types/series.ts";
import {
  appendOne,
  createRun,
  envelope,
  inEveryForm,
  NOW_US,
  numbers,
  points,
  readPoints,
  refused,
  useSharedStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

const SUBNORMAL = Number.MIN_VALUE;

/** The bytes of a double, so that -0 and every NaN are distinct. */
function bitsOf(data: Float64Array): bigint[] {
  return [...new BigUint64Array(data.slice().buffer)];
}

export function valuesContract(open: OpenStores, large: boolean): void {
  const bench = useSharedStores(open);

  async function stored(all: Points, key = "x"): Promise<string> {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [{ key, labels: [], points: all }] }));
    return id;
  }

  async function expectBack(values: Values): Promise<void> {
    const id = await stored(points({ ...values }));
    await inEveryForm(bench, async () => {
      const back = (await readPoints(bench.points, id, "x")).values;
      if (values.kind === "number" && back.kind === "number") {
        expect(bitsOf(back.data)).toEqual(bitsOf(values.data));
      } else expect(back).toEqual(values);
    });
  }

  it("V1 returns numbers bit for bit", async () => {
    const strange = [
      NaN,
      Infinity,
      -Infinity,
      -0,
      0,
      SUBNORMAL,
      -SUBNORMAL,
      5e-310,
      0.1 + 0.2,
      Number.MAX_VALUE,
    ];
    await expectBack({
      kind: "number",
      data: Float64Array.from([...strange, ...strange.toReversed(), 1, 2, 3]),
    });
  });

  it("V1 keeps the bits of a NaN with a payload", async () => {
    const bits = BigUint64Array.of(0x7ff8_0000_0000_0001n, 0xfff8_dead_beef_cafen, 0x7ff0_0000_0000_0001n);
    await expectBack({ kind: "number", data: new Float64Array(bits.buffer) });
  });

  it("V1 returns any numbers", async () => {
    const id = await createRun(bench.runs);
    const all: { key: string; bits: bigint[] }[] = [];
    let seq = 0;
    await fc.assert(
      fc.asyncProperty(fc.float64Array({ maxLength: 50 }), async (data) => {
        const key = `k${seq}`;
        all.push({ key, bits: bitsOf(data) });
        const series = [{ key, labels: [], points: points({ kind: "number", data }) }];
        await appendOne(bench.journal, envelope(id, ++seq, { series }));
      }),
      { numRuns: 60 },
    );
    await inEveryForm(bench, async () => {
      for (const { key, bits } of all) {
        const { values } = await readPoints(bench.points, id, key);
        expect(values.kind === "number" && bitsOf(values.data)).toEqual(bits);
      }
    });
  });

  it("V2 returns integers of 64 bits", async () => {
    const data = BigInt64Array.of(0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n));
    await expectBack({ kind: "integer", data });
  });

  it("V2 returns bools", async () => {
    await expectBack({ kind: "bool", data: Uint8Array.from({ length: 19 }, (_, i) => ((i * 7) % 3) & 1) });
  });

  it("V2 returns texts", async () => {
    await expectBack({
      kind: "text",
      data: ["", "a", "🐈‍⬛ ü\u0000\n", "__proto__", '{"a":1}', "x".repeat(64 << 10)],
    });
  });

  if (large)
    it("V2 keeps a great many long texts", async () => {
      const id = await createRun(bench.runs);
      const text = "long text ".repeat(6_500);
      const rounds = 24;
      for (let seq = 1; seq <= rounds; seq++) {
        const data = Array.from({ length: 50 }, (_, i) => `${seq} ${i} ${text}`);
        const series = [{ key: "log", labels: [], points: points({ kind: "text", data } as const) }];
        await appendOne(bench.journal, envelope(id, seq, { series }));
      }
      await bench.under.settle();
      const { values } = await readPoints(bench.points, id, "log");
      expect(values.data).toHaveLength(50 * rounds);
      expect(values.data.at(-1)).toBe(`${rounds} 49 ${text}`);
    });

  it("V3 keeps steps and times up to 2^53 exactly", async () => {
    const wide = Float64Array.of(2 ** 53, -(2 ** 53), 2 ** 53 - 1, 0, 1 - 2 ** 53, 2 ** 52 + 1);
    const sorted = wide.toSorted();
    const id = await createRun(bench.runs);
    const values = (data: Float64Array): Values => ({ kind: "number", data });
    const series = [
      { key: "steps", labels: [], points: points(values(wide.slice()), { steps: wide.slice() }) },
      { key: "times", labels: [], points: points(values(wide.slice()), { times: wide.slice() }) },
    ];
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      expect((await readPoints(bench.points, id, "steps")).steps).toEqual(sorted);
      const byTime = await readPoints(bench.points, id, "times", { axis: "time" });
      expect(byTime.times).toEqual(sorted);
      expect(byTime.values.data).toEqual(sorted);
      const top = await readPoints(bench.points, id, "steps", { from: 2 ** 53 - 1 });
      expect(top.steps).toEqual(Float64Array.of(2 ** 53 - 1, 2 ** 53));
    });
  });

  it("V3 refuses steps and times that are not integers within 2^53, and continues", async () => {
    const id = await createRun(bench.runs);
    const good = (seq: number) => numbers("good", [seq], seq);
    let seq = 0;
    for (const bad of [0.5, NaN, 2 ** 53 + 2, -(2 ** 53) - 2, Infinity]) {
      for (const column of ["steps", "times"] as const) {
        for (const data of [[bad], [1, bad, 3], [1, 2, 3, bad]]) {
          const values = { kind: "number", data: new Float64Array(data.length) } as const;
          const wrong: SeriesPoints = {
            key: "bad",
            labels: [],
            points: points(values, { [column]: Float64Array.from(data) }),
          };
          const outcomes = await Promise.all(
            [
              envelope(id, seq + 1, { series: [good(seq)] }),
              envelope(id, seq + 2, { series: [good(seq + 1), wrong] }),
              envelope(id, seq + 2, { series: [good(seq + 1)] }),
            ].map((one) => bench.journal.append([one], NOW_US)),
          );
          expect(outcomes.flat()).toEqual([
            expect.objectContaining({ ok: true }),
            { ok: false, error: refused("invalid") },
            expect.objectContaining({ ok: true }),
          ]);
          seq += 2;
        }
      }
    }
    expect((await readPoints(bench.points, id, "good")).steps).toEqual(
      Float64Array.from({ length: seq }, (_, i) => i),
    );
    const { series } = await selectOf(bench.points, id, { limit: 9 });
    expect(series.map(({ key, summary }) => [key, summary.count])).toEqual([["good", seq]]);
  });

  it("V4 returns a point without the step or time it lacks", async () => {
    const id = await createRun(bench.runs);
    const value = (n: number): Values => ({ kind: "number", data: Float64Array.of(n) });
    const pieces: Points[] = [
      points(value(1), { steps: Float64Array.of(5), times: Float64Array.of(NOW_US) }),
      points(value(2), { steps: Float64Array.of(4) }),
      points(value(3), { times: Float64Array.of(NOW_US - 1) }),
      points(value(4)),
      points(value(5), { steps: Float64Array.of(6), times: Float64Array.of(NOW_US - 2) }),
    ];
    // Some in one envelope, some in their own.
    const asSeries = (one: Points) => ({ key: "x", labels: [], points: one });
    await appendOne(bench.journal, envelope(id, 1, { series: pieces.slice(0, 3).map(asSeries) }));
    for (const [i, one] of pieces.slice(3).entries()) {
      await appendOne(bench.journal, envelope(id, 2 + i, { series: [asSeries(one)] }));
    }
    await inEveryForm(bench, async () => {
      const byStep = await readPoints(bench.points, id, "x");
      expect([...(byStep.values.data as Float64Array)]).toEqual([2, 1, 5, 3, 4]);
      expect(byStep.steps).toEqual(Float64Array.of(4, 5, 6, NaN, NaN));
      expect(byStep.times).toEqual(Float64Array.of(NaN, NOW_US, NOW_US - 2, NOW_US - 1, NaN));
      const byTime = await readPoints(bench.points, id, "x", { axis: "time" });
      expect([...(byTime.values.data as Float64Array)]).toEqual([5, 3, 1, 2, 4]);
      const ranged = await readPoints(bench.points, id, "x", { axis: "time", from: 0 });
      expect([...(ranged.values.data as Float64Array)]).toEqual([5, 3, 1]);
    });
  });

  it("V4 returns a series without any steps or times without the columns", async () => {
    const id = await stored(points({ kind: "number", data: Float64Array.of(3, 1, 2) }));
    await inEveryForm(bench, async () => {
      const back = await readPoints(bench.points, id, "x");
      expect(back).toMatchObject({ count: 3, steps: undefined, times: undefined, nanos: undefined });
      expect([...(back.values.data as Float64Array)]).toEqual([3, 1, 2]);
      expect((await readPoints(bench.points, id, "x", { from: 0 })).count).toBe(0);
    });
  });

  it("V5 keeps nanoseconds below the microsecond", async () => {
    const id = await createRun(bench.runs);
    const data = Float64Array.of(1, 2, 3);
    const times = Float64Array.of(NOW_US, NOW_US, NOW_US + 1);
    const nanos = Uint16Array.of(0, 1, 999);
    const withNanos = points({ kind: "number", data }, { times, nanos });
    const without = points(
      { kind: "number", data: Float64Array.of(4) },
      { times: Float64Array.of(NOW_US + 2) },
    );
    const series = [withNanos, without].map((one) => ({ key: "x", labels: [], points: one }));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      const back = await readPoints(bench.points, id, "x", { axis: "time" });
      expect(back.nanos).toEqual(Uint16Array.of(0, 1, 999, 0));
      const one = await readPoints(bench.points, id, "x", { axis: "time", from: NOW_US + 1, to: NOW_US + 1 });
      expect(one.nanos).toEqual(Uint16Array.of(999));
    });
  });

  it("V6 keeps the kind of the first point and refuses another", async () => {
    const kinds: Values[] = [
      { kind: "number", data: Float64Array.of(1) },
      { kind: "integer", data: BigInt64Array.of(1n) },
      { kind: "bool", data: Uint8Array.of(1) },
      { kind: "text", data: ["1"] },
    ];
    const id = await createRun(bench.runs);
    const copyOf = (values: Values) => points({ kind: values.kind, data: values.data.slice() } as Values);
    for (const [i, values] of kinds.entries()) {
      const series = [{ key: values.kind, labels: [], points: copyOf(values) }];
      await appendOne(bench.journal, envelope(id, i + 1, { series }));
    }
    await inEveryForm(bench, async () => {
      for (const { kind } of kinds) {
        for (const other of kinds.filter((values) => values.kind !== kind)) {
          const series = [{ key: kind, labels: [], points: copyOf(other) }];
          await expect(appendOne(bench.journal, envelope(id, 5, { series }))).rejects.toEqual(
            refused("invalid", "KIND_MISMATCH"),
          );
        }
        expect(await readPoints(bench.points, id, kind)).toMatchObject({ count: 1, values: { kind } });
      }
    });
  });
}
