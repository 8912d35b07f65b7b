/**
 * The cost of making JSON in slices, compared with toJsonString(): `node wire/connect/answer/json-slices.bench.ts`. Each
 * figure is the best of several rounds, because the machine is rarely idle. A stretch is how long no other work
 * had a turn; most of what is over 6 ms is the garbage collector.
 */
import {
  create,
  toJsonString,
  type DescMessage,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { memoryInUse } from "#base/testing/memory-in-use.ts";
import { ArtifactRecordSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { ReadLogResponseSchema } from "#proto/cairn/v1/log_pb.ts";
import { ReadSeriesResponseSchema, type ColumnSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunSchema, RunStatus, SearchRunsResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { jsonSlices } from "./json-slices.ts";
import { fromMap } from "../map/map.ts";

const LARGE_ROUNDS = 7;
const SMALL_ROUNDS = 400;
const SMALL_BATCH_BYTES = 256 << 10;

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const record = (count: number, value: (i: number) => string): Record<string, string> =>
  fromMap(new Map(times(count, (i) => [`group.name_${i}`, value(i)])));

const run = (i: number): MessageInitShape<typeof RunSchema> => ({
  id: `01J${String(i).padStart(23, "0")}`,
  namespace: "team/vision",
  name: `resnet-${i}`,
  status: RunStatus.FINISHED,
  params: record(20, (n) => String((i * 7 + n) / 1000)),
  tags: record(5, () => "baseline"),
  provenance: { command: ["python", "train.py"], code: { commit: "0f".repeat(20), branch: "main" } },
  createdUs: 1_700_000_000_000_000n,
  updatedUs: 1_700_000_100_000_000n,
  metrics: fromMap(new Map(times(10, (n) => [`val/metric_${n}`, Math.sin(i + n)]))),
});
const series = (values: MessageInitShape<typeof ColumnSchema>) =>
  create(ReadSeriesResponseSchema, { series: [{ runId: "01J", key: "loss", values }] });
const sines = (count: number): number[] => times(count, (i) => Math.sin(i));
const lines = (count: number) =>
  create(ReadLogResponseSchema, {
    lines: times(count, (i) => ({
      number: BigInt(i),
      timeUs: 1_700_000_000_000_000n,
      text: `step ${i} loss 0.1`,
    })),
  });

type Case = [name: string, schema: DescMessage, message: Message];

const large: readonly Case[] = [
  ["1,000,000 numbers", ReadSeriesResponseSchema, series({ numbers: sines(1_000_000) })],
  [
    "1,000,000 integers",
    ReadSeriesResponseSchema,
    series({ integers: times(1_000_000, (i) => BigInt(i) << 30n) }),
  ],
  ["30 MB of bytes", ReadSeriesResponseSchema, series({ bytes: new Uint8Array(30_000_000).fill(7) })],
  ["10,000 runs", SearchRunsResponseSchema, create(SearchRunsResponseSchema, { runs: times(10_000, run) })],
  [
    "map of 10,000",
    ArtifactRecordSchema,
    create(ArtifactRecordSchema, { metadata: record(10_000, () => "x".repeat(50)) }),
  ],
  ["text of 8 MB", RunSchema, create(RunSchema, { notes: 'a "quoted" line\n'.repeat(500_000) })],
  ["100,000 lines", ReadLogResponseSchema, lines(100_000)],
];

const small: readonly Case[] = [
  ["nothing", RunSchema, create(RunSchema)],
  ["a run", RunSchema, create(RunSchema, run(1))],
  ["20 runs", SearchRunsResponseSchema, create(SearchRunsResponseSchema, { runs: times(20, run) })],
  ["1,000 numbers", ReadSeriesResponseSchema, series({ numbers: sines(1_000) })],
  ["300 lines", ReadLogResponseSchema, lines(300)],
];

const encoder = new TextEncoder();

interface Measured {
  readonly ms: number;
  readonly stretchMs: number;
}

/** Runs the work beside a task that runs in every turn of the event loop. */
async function measure(work: () => Promise<unknown>): Promise<Measured> {
  let last = performance.now();
  let stretchMs = 0;
  let over = false;
  const tick = (): void => {
    const now = performance.now();
    stretchMs = Math.max(stretchMs, now - last);
    last = now;
    if (!over) setImmediate(tick);
  };
  setImmediate(tick);
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  over = true;
  await new Promise((resolve) => setImmediate(resolve));
  return { ms, stretchMs };
}

async function best(rounds: number, works: readonly (() => Promise<unknown>)[]): Promise<Measured[]> {
  const results = works.map(() => ({ ms: Infinity, stretchMs: Infinity }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, work] of works.entries()) {
      if (rounds === LARGE_ROUNDS) memoryInUse();
      const { ms, stretchMs } = await measure(work);
      results[i] = {
        ms: Math.min(results[i]!.ms, ms),
        stretchMs: Math.min(results[i]!.stretchMs, stretchMs),
      };
    }
  }
  return results;
}

function print(name: string, cells: readonly string[]): void {
  console.log(name.padEnd(20) + cells.map((cell) => cell.padStart(12)).join(""));
}

print("large", ["MB", "at once ms", "sliced ms", "stretch ms", "stretch ms"]);
for (const [name, schema, message] of large) {
  const [direct, sliced] = await best(LARGE_ROUNDS, [
    async () => encoder.encode(toJsonString(schema, message)),
    () => jsonSlices(schema, message),
  ]);
  const megabytes = toJsonString(schema, message).length / 1e6;
  const figures = [megabytes, direct!.ms, sliced!.ms, direct!.stretchMs, sliced!.stretchMs];
  print(
    name,
    figures.map((figure) => figure.toFixed(1)),
  );
}

print("\nsmall", ["KiB", "at once µs", "sliced µs", "more %"]);
for (const [name, schema, message] of small) {
  const size = toJsonString(schema, message).length;
  const count = Math.ceil(SMALL_BATCH_BYTES / (size + 1_000));
  const repeat = (work: () => unknown) => async () => {
    for (let i = 0; i < count; i++) await work();
  };
  const [direct, sliced] = await best(SMALL_ROUNDS, [
    repeat(async () => [encoder.encode(toJsonString(schema, message))]),
    repeat(() => jsonSlices(schema, message)),
  ]);
  const [before, after] = [(direct!.ms * 1000) / count, (sliced!.ms * 1000) / count];
  const more = (after / before - 1) * 100;
  print(name, [(size / 1024).toFixed(1), before.toFixed(1), after.toFixed(1), more.toFixed(1)]);
}
