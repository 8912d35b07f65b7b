/**
 * Searches per second over many runs, printed as one table:
 *
 *   node store/columns/index.bench.ts 100000 1000000
 *
 * 20 params (half numbers; cardinality from 2 to unique) and 10 metrics per run.
 */
import { inSlices } from "#base/threads/in-slices.ts";
import { importanceOf } from "#core/explore/importance.ts";
import { METRIC_FEED_STATS, type RunFeedRow } from "#core/ports/run-changes.ts";
import type { SearchableProvenance } from "#lang/query/provenance-fields.ts";
import type { FieldsRequest } from "#core/ports/run-search.ts";
import type { Field } from "#lang/query/ast.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { OpenTables } from "./analysis/open-tables.ts";
import { RunIndex, type RunPart } from "./index.ts";

const BATCH_RUNS = 1_000;
const METRICS = 10;
const METRIC_KEYS = Array.from({ length: METRICS }, (_, at) => `metric${at}`);
const DAY_US = 86_400_000_000;
const START_US = 1_700_000_000_000_000;

const QUERIES: readonly (readonly [name: string, query: string])[] = [
  [
    "2 params, 1 range, by metric",
    `params.p0 = "v3" and params.p10 <= 4 and metrics.metric1 > 0.2 order by metrics.metric0.max desc`,
  ],
  ["all match, by metric", `order by metrics.metric0.max desc`],
  ["all match, newest first", ``],
  ["all match, by unique text", `order by name`],
  ["all match, by few texts", `order by params.p0, metrics.metric3`],
  ["half match", `metrics.metric2 > 0.5 order by metrics.metric0.min`],
  [
    "rare match",
    `params.p10 = 3 and params.p9 = "v57" and metrics.metric4.mean > 0.99 order by metrics.metric0`,
  ],
  ["no match", `params.p0 = "v3" and metrics.metric1 > 2 order by metrics.metric0`],
  ["key that no run has", `params.none = 1 order by metrics.none`],
  ["order by a key no run has", `params.p0 = "v3" order by metrics.none`],
  ["key of every 1000th run", `metrics.rare > 0.1 order by metrics.rare desc`],
  ["order by key of every 1000th run", `order by metrics.rare desc`],
  ["is null on a rare key", `metrics.rare is null order by metrics.metric0`],
  [
    "or, not",
    `(params.p0 = "v1" or params.p1 = "v2" or metrics.metric5 < 0.1) and not params.p2 = "v0" order by metrics.metric0`,
  ],
  ["pattern on few texts", `params.p0 ~ "[13]$" order by metrics.metric0`],
  ["pattern on unique texts", `name ~ "9{3}" order by metrics.metric0`],
  ["range on unique texts", `name < "run-5" order by metrics.metric0`],
  ["one id", `id = "r000000000000000000000042"`],
  ["one alias", `alias = "job-77"`],
];

/** A generator with a seed, so that two measurements see the same runs (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function makeRun(key: number, random: () => number): RunFeedRow {
  const params: string[] = [];
  for (let at = 0; at < 10; at++) params.push(`"p${at}":"v${Math.floor(random() * (5 + at * at))}"`);
  for (let at = 10; at < 19; at++) params.push(`"p${at}":${Math.floor(random() * (at - 5) * (at - 5))}`);
  params.push(`"p19":${random() * 1e-3}`);
  const createdUs = START_US + key * 1_000_000 + Math.floor(random() * 1e6);
  return {
    key,
    id: `r${String(key).padStart(24, "0")}`,
    namespace: `team${key % 7}/project${key % 91}`,
    namespaceId: (key % 7) * 91 + (key % 91),
    name: `run-${Math.floor(random() * 1e12)}`,
    status: key % 20 === 0 ? "running" : "finished",
    notes: "",
    aliases: key % 10 === 0 ? [`job-${key}`] : [],
    params: `{${params.join(",")}}`,
    tags: [["team", `t${key % 5}`]],
    createdUs,
    startedUs: createdUs,
    endedUs: key % 20 === 0 ? undefined : createdUs + DAY_US,
    updatedUs: createdUs + DAY_US,
    deletedUs: undefined,
    creator: `user-${key % 40}`,
    searchable: makeSearchable(key),
  };
}

function makeSearchable(key: number): SearchableProvenance {
  const project = `project${key % 91}`;
  return {
    user: `u${key % 40}`,
    host: `node-${key % 300}`,
    study: key % 3 === 0 ? `sweep-${Math.floor(key / 500)}` : "",
    initial_state: `s3://models/${project}/base@v${key % 5}`,
    training_data: [`s3://data/${project}/train@v${key % 9}`, "s3://data/c4@v3"],
    test_data: [`s3://data/${project}/test@v1`],
    feature_pipeline: "git@example.org:team/features.git@4f2a91c",
    logs_location: "",
    repository: `git@example.org:team/${project}.git`,
    commit: `${(Math.floor(key / 20) * 2_654_435_761) % 2 ** 32}`,
    branch: key % 4 === 0 ? `try-${key % 200}` : "main",
  };
}

function makeBatch(first: number, count: number, random: () => number): RunPart {
  const runs = Array.from({ length: count }, (_, at) => makeRun(first + at, random));
  const rare = runs.filter((run) => run.key % 1000 === 0);
  const entries = count * METRICS + rare.length;
  const metrics = {
    keys: [...METRIC_KEYS, "rare"],
    labels: [""],
    runs: new Float64Array(entries),
    key: new Uint32Array(entries),
    label: new Uint32Array(entries),
    stats: new Float64Array(entries * METRIC_FEED_STATS),
  };
  for (let at = 0; at < entries; at++) {
    const isRare = at >= count * METRICS;
    metrics.runs[at] = isRare ? rare[at - count * METRICS]!.key : first + Math.floor(at / METRICS);
    metrics.key[at] = isRare ? METRICS : at % METRICS;
    const values = new Float64Array(4).map(random).sort();
    metrics.stats.set(
      [1000, 0, values[1]!, values[2]!, values[0]!, values[3]!, random() * 1000, 999],
      at * METRIC_FEED_STATS,
    );
  }
  return { reset: false, runs, purged: [], metrics };
}

function memoryMb(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

function percentile(sorted: readonly number[], share: number): string {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(3).padStart(9);
}

function measure(runs: number): RunIndex {
  const random = randomFrom(7);
  const before = memoryMb();
  const index = new RunIndex();
  let buildMs = 0;
  for (let first = 0; first < runs; first += BATCH_RUNS) {
    // As received over a port: texts concatenated here would be ropes.
    const batch = structuredClone(makeBatch(first, Math.min(BATCH_RUNS, runs - first), random));
    const begin = performance.now();
    index.apply(batch);
    buildMs += performance.now() - begin;
  }
  const usedMb = memoryMb() - before;
  const gc = globalThis.gc === undefined ? " (with garbage: run with --expose-gc)" : "";
  console.log(`\n${runs} runs: built in ${buildMs.toFixed(0)} ms, ${usedMb.toFixed(0)} MB${gc}`);
  console.log(`${"ms".padEnd(34)}      p50       p95   matches`);
  for (const [name, text] of QUERIES) {
    const query = parseQuery(text, { nowUs: START_US });
    const request = {
      query,
      readable: undefined,
      under: "",
      trashed: false,
      limit: 50,
      after: undefined,
      metrics: [],
    };
    const times: number[] = [];
    let total = 0;
    const rounds = runs > 200_000 ? 40 : 200;
    // The first fifth lets the compiler catch up.
    for (let round = -rounds / 4; round < rounds; round++) {
      const begin = performance.now();
      total = index.search(request).total;
      if (round >= 0) times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    console.log(
      `${name.padEnd(34)}${percentile(times, 0.5)} ${percentile(times, 0.95)} ${String(total).padStart(9)}`,
    );
  }
  return index;
}

/** Questions about all runs at once, each asked a few times. */
async function measureMany(index: RunIndex, runs: number): Promise<void> {
  const selection = { query: parseQuery("", { nowUs: START_US }), readable: undefined, under: "" };
  const tables = new OpenTables(index);
  const goals = Array.from({ length: 91 }, (_, at) => ({
    under: `team${at % 7}`,
    key: METRIC_KEYS[at % METRICS]!,
    stat: "max" as const,
  }));
  const fields: FieldsRequest = {
    ...selection,
    kinds: new Set(["param", "tag", "metric"]),
    find: "",
    known: { objective: "metric0", described: new Set() },
    valuesMax: 50,
    offset: 0,
    limit: 1_000,
  };
  const questions: readonly (readonly [name: string, ask: () => unknown])[] = [
    [
      "best of 91 goals, 10 metrics",
      () => inSlices(index.best({ readable: undefined, goals }), () => undefined),
    ],
    ["fields and values", () => inSlices(index.fields(fields), () => undefined)],
    [
      "importance of 20 params",
      async () => {
        const table = await inSlices(tables.open(selection, true), () => undefined);
        const column = async (field: Field) => tables.column(table.id, field);
        const objective: Field = { of: "metric", key: "metric0", stat: "max" };
        await importanceOf({ ...table, column }, objective, { paramsMax: 100, valuesMax: Infinity });
        tables.close(table.id);
      },
    ],
  ];
  for (const [name, ask] of questions) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = performance.now();
      await ask();
      times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    console.log(
      `${name.padEnd(34)}${percentile(times, 0.5)} ${percentile(times, 0.95)} ${String(runs).padStart(9)}`,
    );
  }
}

const sizes = process.argv.slice(2).map(Number);
for (const runs of sizes.length > 0 ? sizes : [100_000]) await measureMany(measure(runs), runs);
