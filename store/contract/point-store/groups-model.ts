/** Statistics of random groups against those of ../naive-groups.ts. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Points, SeriesKind, SeriesPoints, Values } from "#core/types/series.ts";
import type { GroupColumns, ReadGroups } from "#core/ports/point-store.ts";
import { naiveGrid, naiveGroup, type NaiveRun } from "../naive-groups.ts";
import { NaiveSeries } from "../naive-series.ts";
import { ALL_GROUPS } from "./groups.ts";
import {
  appendOne,
  createRun,
  envelope,
  inEveryForm,
  NOW_US,
  points,
  useSharedStores,
  type Bench,
  type OpenStores,
} from "../stores.ts";

/** Points of one writer, all with or all without steps and times. */
interface Piece {
  writer: number;
  steps: boolean;
  times: boolean;
  rows: { step: number; time: number; value: number }[];
}

interface Case {
  /** Per run, per label set. */
  runs: { kind: SeriesKind; pieces: Piece[] }[][];
  groups: number[][];
  reads: (Pick<ReadGroups, "axis" | "from" | "to" | "buckets" | "quantiles"> & {
    label?: number;
    /** When each run began, beside the moment all times are near. */
    starts?: number[];
  })[];
}

const RUNS = 5;
const LABELS = [[], [["rank", "0"]], [["rank", "1"]]] as const;
const NUMBERS = [0.1, -0, 1e6 + 0.25, -7.3, 3e-9, 1 / 3, NaN, NaN, Infinity, -Infinity];

const bound = fc.option(fc.integer({ min: -5, max: 22 }), { nil: undefined, freq: 2 });
const caseArbitrary: fc.Arbitrary<Case> = fc.record({
  runs: fc.array(
    fc.array(
      fc.record({
        kind: fc.constantFrom<SeriesKind>("number", "number", "number", "integer", "bool"),
        pieces: fc.array(
          fc.record({
            writer: fc.nat(2),
            steps: fc.nat(5).map((n) => n > 0),
            times: fc.boolean(),
            rows: fc.array(
              fc.record({
                step: fc.integer({ min: -3, max: 20 }),
                time: fc.integer({ min: -3, max: 20 }),
                value: fc.nat(10_000),
              }),
              { maxLength: 6 },
            ),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      { maxLength: LABELS.length },
    ),
    { minLength: RUNS, maxLength: RUNS },
  ),
  groups: fc.array(fc.uniqueArray(fc.nat(RUNS - 1)), { minLength: 1, maxLength: 3 }),
  reads: fc.array(
    fc.record(
      {
        axis: fc.constantFrom("step" as const, "time" as const),
        from: bound,
        to: bound,
        buckets: fc.integer({ min: 1, max: 12 }),
        quantiles: fc.array(fc.constantFrom(0, 0.05, 0.25, 0.5, 0.9, 1), { maxLength: 3 }),
        label: fc.nat(LABELS.length - 1),
        starts: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: RUNS, maxLength: RUNS }),
      },
      { requiredKeys: ["axis", "from", "to", "buckets", "quantiles"] },
    ),
    { minLength: 2, maxLength: 4 },
  ),
});

function valuesOf(kind: SeriesKind, seeds: number[]): Values {
  switch (kind) {
    case "integer":
      return { kind, data: BigInt64Array.from(seeds, (seed) => BigInt(seed % 7) - 3n) };
    case "bool":
      return { kind, data: Uint8Array.from(seeds, (seed) => seed % 2) };
    default:
      // Mostly plain numbers, so that sums are rarely NaN.
      return {
        kind: "number",
        data: Float64Array.from(seeds, (seed) => NUMBERS[seed % 60] ?? Math.sin(seed)),
      };
  }
}

function pointsOf(kind: SeriesKind, { steps, times, rows }: Piece): Points {
  const seeds = rows.map(({ value }) => value);
  return points(valuesOf(kind, seeds), {
    steps: steps ? Float64Array.from(rows, ({ step }) => step) : undefined,
    times: times ? Float64Array.from(rows, ({ time }) => NOW_US + time) : undefined,
  });
}

interface Written {
  tested: Case;
  ids: string[];
  runs: NaiveRun[];
}

async function write(bench: Bench, tested: Case): Promise<Written> {
  const ids: string[] = [];
  const runs: NaiveRun[] = [];
  for (const sets of tested.runs) {
    const id = await createRun(bench.runs);
    const seqs = new Map<number, number>();
    const run = sets.map(({ kind }) => new NaiveSeries(kind));
    for (const [i, { kind, pieces }] of sets.entries()) {
      for (const piece of pieces) {
        const all = pointsOf(kind, piece);
        run[i]!.add(String(piece.writer), all);
        const seq = (seqs.get(piece.writer) ?? 0) + 1;
        seqs.set(piece.writer, seq);
        const series: SeriesPoints[] = [{ key: "x", labels: LABELS[i]!, points: all }];
        await appendOne(bench.journal, envelope(id, seq, { writer: `w${piece.writer}`, series }));
      }
    }
    ids.push(id);
    runs.push(run);
  }
  return { tested, ids, runs };
}

async function compare(bench: Bench, { tested, ids, runs }: Written): Promise<void> {
  for (const { label, starts: given, ...read } of tested.reads) {
    const startsUs = read.axis === "time" ? given?.map((start) => NOW_US + start) : undefined;
    const shift = read.axis === "time" && startsUs === undefined ? NOW_US : 0;
    const [from, to] = [read.from, read.to].map((one) => (one === undefined ? undefined : one + shift));
    const request: ReadGroups = {
      ...ALL_GROUPS,
      ...read,
      from,
      to: to !== undefined && from !== undefined ? Math.max(from, to) : to,
      labels: label === undefined ? undefined : LABELS[label]!,
      groups: tested.groups.map((members) => members.map((run) => ids[run]!)),
      startsUs: startsUs && tested.groups.map((members) => members.map((run) => startsUs[run]!)),
    };
    const chosen = runs.map((run, i) => {
      const own = label === undefined ? run : run.slice(label, label + 1);
      return startsUs === undefined ? own : own.map((series) => series.since(startsUs[i]!));
    });
    const groups = tested.groups.map((members) =>
      members.map((run) => chosen[run]!).filter(({ length }) => length > 0),
    );
    const grid = naiveGrid(groups.flat(), request);
    const answer = await bench.points.readGroups(request);
    expect(answer.grid).toEqual(grid);
    expect(answer.groups).toHaveLength(groups.length);
    for (const [i, group] of groups.entries()) {
      const expected = naiveGroup(group, grid ?? { start: 0, width: 1 }, request);
      compareColumns(answer.groups[i]!, expected);
    }
  }
}

function compareColumns(read: GroupColumns, expected: GroupColumns): void {
  const exact = ({ pointCount, bucket, count }: GroupColumns) => ({ pointCount, bucket, count });
  expect(exact(read)).toEqual(exact(expected));
  const pairs: [string, Float64Array, Float64Array][] = [
    ["mean", read.mean, expected.mean],
    ["median", read.median, expected.median],
    ["std", read.std, expected.std],
    ["stderr", read.stderr, expected.stderr],
    ["min", read.min, expected.min],
    ["max", read.max, expected.max],
    ...expected.quantiles.map((column, i): [string, Float64Array, Float64Array] => [
      `quantile ${i}`,
      read.quantiles[i]!,
      column,
    ]),
  ];
  expect(read.quantiles).toHaveLength(expected.quantiles.length);
  for (const [name, column, wanted] of pairs) {
    expect(column.length, name).toBe(wanted.length);
    wanted.forEach((value, row) => {
      const largest = Math.max(Math.abs(expected.min[row]!), Math.abs(expected.max[row]!));
      const tolerance = Number.isFinite(value) ? 1e-12 * largest : 0;
      const close = Object.is(column[row], value) || Math.abs(column[row]! - value) <= tolerance;
      if (!close) expect(column[row], `${name} in row ${row}`).toBe(value);
    });
  }
}

const BATCH_MAX = 40;

export function groupsModelContract(open: OpenStores, cases: number): void {
  const bench = useSharedStores(open);
  const batch = Math.min(BATCH_MAX, cases);

  it("G1 G2 G4 G7 makes the statistics of any groups like the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(caseArbitrary, { minLength: batch, maxLength: batch }), async (some) => {
        const written = await Promise.all(some.map((tested) => write(bench, tested)));
        await inEveryForm(bench, async () => {
          const all = written.map((one) =>
            compare(bench, one).catch((thrown: unknown) => {
              throw new Error(`with ${JSON.stringify(one.tested)}`, { cause: thrown });
            }),
          );
          await Promise.all(all);
        });
      }),
      { numRuns: Math.ceil(cases / batch), endOnFailure: true },
    );
  });
}
