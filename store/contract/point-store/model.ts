import fc from "fast-check";
import { expect, it } from "vitest";
import type { Points, SeriesKind, SeriesPoints, Values } from "#core/types/series.ts";
import type { BandData, ReadSeries, SeriesData, SeriesOwner } from "#core/ports/point-store.ts";
import { listPoints, NaiveSeries } from "../naive-series.ts";
import {
  appendOne,
  AUDIT,
  type Bench,
  createRun,
  envelope,
  EVERYTHING,
  expectIntact,
  hostEnvelope,
  NOW_US,
  type OpenStores,
  points,
  selectOf,
  useSharedStores,
} from "../stores.ts";

/** Points of one writer, all with or all without steps and times. */
interface Piece {
  writer: number;
  columns: { steps: boolean; times: boolean; nanos: boolean };
  rows: { step: number; time: number; nano: number; value: number }[];
  /** Goes into the same envelope as the piece before it, when that is of the same writer. */
  joined: boolean;
  settle: boolean;
  /** A deletion after it. */
  cut: Pick<ReadSeries, "axis" | "from" | "to"> | undefined;
}

interface Case {
  kind: SeriesKind;
  pieces: Piece[];
  reads: Pick<ReadSeries, "axis" | "from" | "to" | "buckets" | "includeReplaced" | "onlyReplaced">[];
}

const KINDS: readonly SeriesKind[] = ["number", "integer", "bool", "text"];
/** Sums of these are exact in any order. */
const NUMBERS = [0, 1, -1, 0.5, 2.25, -7.75, 1024, NaN, Infinity, -Infinity];
const TEXTS = ["", "a", "ä", "🐈"];

const stepArbitrary = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -3, max: 20 }) },
  fc.constant(2 ** 53),
);
const boundArbitrary = fc.option(fc.integer({ min: -5, max: 22 }), { nil: undefined, freq: 2 });

const caseArbitrary: fc.Arbitrary<Case> = fc.record({
  kind: fc.constantFrom(...KINDS, "number" as const),
  pieces: fc.array(
    fc.record({
      writer: fc.nat(3),
      columns: fc.record({
        steps: fc.boolean().map((dropped) => !dropped),
        times: fc.boolean(),
        nanos: fc.boolean(),
      }),
      rows: fc.array(
        fc.record({
          step: stepArbitrary,
          time: fc.integer({ min: -3, max: 20 }),
          nano: fc.nat(999),
          value: fc.nat(1000),
        }),
        { maxLength: 8 },
      ),
      joined: fc.boolean(),
      settle: fc.nat(20).map((n) => n === 0),
      cut: fc.option(
        fc.record({
          axis: fc.constantFrom("step" as const, "time" as const),
          from: boundArbitrary,
          to: boundArbitrary,
        }),
        { nil: undefined, freq: 3 },
      ),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  reads: fc.array(
    fc.record({
      axis: fc.constantFrom("step" as const, "time" as const),
      from: boundArbitrary,
      to: boundArbitrary,
      buckets: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 })),
      includeReplaced: fc.boolean(),
      onlyReplaced: fc.nat(3).map((n) => n === 0),
    }),
    { minLength: 2, maxLength: 4 },
  ),
});

function valuesOf(kind: SeriesKind, seeds: number[]): Values {
  switch (kind) {
    case "number":
      return { kind, data: Float64Array.from(seeds, (seed) => NUMBERS[seed % NUMBERS.length]!) };
    case "integer":
      // Neighbours above 2^53 share a double, which must not make them equal.
      return {
        kind,
        data: BigInt64Array.from(seeds, (seed) => 2n ** 53n * BigInt((seed % 3) - 1) + BigInt(seed % 5)),
      };
    case "bool":
      return { kind, data: Uint8Array.from(seeds, (seed) => seed % 2) };
    case "text":
      return { kind, data: seeds.map((seed) => TEXTS[seed % TEXTS.length]!) };
  }
}

function pointsOf(kind: SeriesKind, { columns, rows }: Piece): Points {
  return points(
    valuesOf(
      kind,
      rows.map(({ value }) => value),
    ),
    {
      steps: columns.steps ? Float64Array.from(rows, ({ step }) => step) : undefined,
      times: columns.times ? Float64Array.from(rows, ({ time }) => NOW_US + time) : undefined,
      nanos: columns.times && columns.nanos ? Uint16Array.from(rows, ({ nano }) => nano) : undefined,
    },
  );
}

/** Deletes in both; returns whether the series still exists. */
async function remove(
  bench: Bench,
  owner: SeriesOwner,
  naive: NaiveSeries,
  { axis, from, to }: NonNullable<Piece["cut"]>,
): Promise<boolean> {
  const shift = axis === "time" ? NOW_US : 0;
  const range = {
    axis,
    from: from === undefined ? undefined : from + shift,
    to: to === undefined ? undefined : to + shift,
  };
  const isWhole = from === undefined && to === undefined;
  const gone = naive.delete(range);
  const asked = { owner, matchers: [], after: undefined, pointsMax: 1, seriesMax: 1 };
  const deleted = await bench.points.deleteSeries({ ...asked, ...range }, AUDIT);
  expect(deleted.points).toBe(gone);
  return !isWhole && !(gone > 0 && naive.points.length === 0);
}

interface Written {
  owner: SeriesOwner;
  tested: Case;
  naive: NaiveSeries;
  isThere: boolean;
}

export type OwnerKind = "run" | "host";

/** Writes the pieces into a run, or a host, of their own and into the naive series. All points of a host are of one writer. */
async function write(bench: Bench, tested: Case, of: OwnerKind): Promise<Written> {
  const runId = await createRun(bench.runs);
  const host = { namespace: "lab/hosts", name: runId };
  const owner = of === "run" ? { runId } : { host };
  const naive = new NaiveSeries(tested.kind);
  const seqs = new Map<number, number>();
  let isThere = false;
  for (let at = 0; at < tested.pieces.length;) {
    const { writer, settle } = tested.pieces[at]!;
    const together: SeriesPoints[] = [];
    do {
      const all = pointsOf(tested.kind, tested.pieces[at]!);
      naive.add(of === "run" ? String(writer) : "", all);
      together.push({ key: "x", labels: [], points: all });
      at++;
    } while (at < tested.pieces.length && tested.pieces[at]!.joined && tested.pieces[at]!.writer === writer);
    const seq = (seqs.get(writer) ?? 0) + 1;
    seqs.set(writer, seq);
    const appended =
      of === "run"
        ? envelope(runId, seq, { writer: `w${writer}`, series: together })
        : hostEnvelope(host, together);
    await appendOne(bench.journal, appended);
    isThere = true;
    if (settle) await bench.under.settle();
    const { cut } = tested.pieces[at - 1]!;
    if (cut !== undefined) isThere = (await remove(bench, owner, naive, cut)) && isThere;
  }
  return { owner, tested, naive, isThere };
}

const ALL = { ...EVERYTHING, includeReplaced: true };

async function compare(bench: Bench, { owner, tested, naive, isThere }: Written): Promise<void> {
  const { series } = await selectOf(bench.points, owner, { limit: 10 });
  if (owner.host === undefined) {
    const { writers, ...verified } = await bench.runs.verifyRun(owner.runId);
    expect(verified).toMatchObject({ problems: [], points: naive.places(ALL).length });
    expect(writers.every(({ envelopes, lastSeq, gaps }) => envelopes === lastSeq && gaps.length === 0)).toBe(
      true,
    );
  }
  if (!isThere) {
    expect(series).toEqual([]);
    return;
  }
  expect(series).toEqual([{ ...owner, key: "x", labels: [], kind: tested.kind, summary: naive.summary() }]);
  for (const { from, to, ...rest } of tested.reads) {
    const shift = rest.axis === "time" ? NOW_US : 0;
    const request: ReadSeries = {
      ...EVERYTHING,
      ...rest,
      from: from === undefined ? undefined : from + shift,
      to: to === undefined ? undefined : to + shift,
      selectors: [{ ...owner, key: "x", labels: [] }],
    };
    const {
      series: [read],
      grid,
    } = await bench.points.readSeries(request);
    const places = naive.places(request);
    if (request.buckets === 0 || tested.kind === "text" || places.length <= request.buckets) {
      compareExact(read!, naive, places, request.includeReplaced);
      expect(grid).toBeUndefined();
      continue;
    }
    const expected = naive.band(request, grid!, request.buckets);
    compareBands(read!.data, expected);
    expect(read!.pointCount).toBe(expected.count.reduce((sum, count) => sum + count, 0));
  }
}

/** Only means depend on the order of summation. */
function compareBands(data: SeriesData["data"], expected: BandData): void {
  if (data.form !== "band") throw new Error("the answer is exact, although a band was expected");
  expect({ ...data, mean: undefined }).toEqual({ ...expected, mean: undefined });
  data.mean.forEach((mean, i) => {
    const size = Math.max(Math.abs(expected.min[i]!), Math.abs(expected.max[i]!), 1);
    if (Number.isFinite(size)) expect(Math.abs(mean - expected.mean[i]!) / size).toBeLessThan(1e-12);
    else expect(mean).toEqual(expected.mean[i]);
  });
}

function compareExact(
  read: SeriesData,
  naive: NaiveSeries,
  places: number[],
  includeReplaced: boolean,
): void {
  const { data, pointCount } = read;
  if (data.form !== "exact") throw new Error("the answer is a band, although it should be exact");
  expect(pointCount).toBe(places.length);
  expect(listPoints(data.points)).toEqual(
    places.map((at) => {
      const { writer: _, ...point } = naive.points[at]!;
      return point;
    }),
  );
  const marks = data.replaced && [...data.replaced];
  expect(marks).toEqual(includeReplaced ? places.map((at) => Number(naive.isReplaced(at))) : undefined);
}

const BATCH_MAX = 100;

export function modelContract(open: OpenStores, cases: number, of: OwnerKind = "run"): void {
  const bench = useSharedStores(open);
  const batch = Math.min(BATCH_MAX, cases);
  const rules = of === "run" ? "P2 O1 O2 O3 O4 O5 V7 V12" : "V16";

  it(`${rules} reads, summarizes and deletes from any series of a ${of} like the model`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(caseArbitrary, { minLength: batch, maxLength: batch }), async (some) => {
        const written = await Promise.all(some.map((tested) => write(bench, tested, of)));
        const compareAll = () =>
          Promise.all(
            written.map((one) =>
              compare(bench, one).catch((thrown: unknown) => {
                throw new Error(`with ${JSON.stringify(one.tested)}`, { cause: thrown });
              }),
            ),
          );
        await compareAll();
        await bench.under.settle();
        await compareAll();
        await bench.reopen();
        await compareAll();
        await expectIntact(bench);
      }),
      { numRuns: Math.ceil(cases / batch), endOnFailure: true },
    );
  });
}
