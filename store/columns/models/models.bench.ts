/**
 * Memory of models, and the time of searches of them, printed as one table:
 *
 *   node --expose-gc store/columns/models/models.bench.ts 300000
 *
 * Ten models per run, with names that differ from run to run.
 */
import { METRIC_FEED_STATS, type RunFeedRow } from "#core/ports/run-changes.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { RunIndex } from "../index.ts";

const PER_RUN = 10;
const BATCH_RUNS = 1_000;
const START_US = 1_700_000_000_000_000;
const ROUNDS = 30;

const QUERIES = [
  "",
  "model.step > 5000",
  'model.name like "%best%" order by model.size desc',
  "metrics.acc.max > 0.9",
  "model.step > 5000 and metrics.acc.max > 0.9 order by metrics.acc.max desc",
  "order by metrics.acc.max desc",
  "order by name",
  "not (model.step > 5000 or params.lr > 3)",
];

function runRow(key: number): RunFeedRow {
  const createdUs = START_US + key * 1_000_000;
  return {
    key,
    id: `r${String(key).padStart(31, "0")}`,
    namespace: `team${key % 7}`,
    namespaceId: key % 7,
    name: `run-${(key * 7_919) % 1_000_003}`,
    status: "finished",
    notes: "",
    aliases: [],
    params: `{"lr":${key % 10}}`,
    tags: [],
    createdUs,
    startedUs: createdUs,
    endedUs: createdUs,
    updatedUs: createdUs,
    deletedUs: undefined,
    creator: "ada",
    searchable: undefined,
  };
}

function modelRow(key: number) {
  const run = Math.floor(key / PER_RUN);
  const name = key % PER_RUN === 0 ? "best.pt" : `checkpoints/${run}/epoch-${key % PER_RUN}.pt`;
  const createdUs = START_US + run * 1_000_000 + key;
  return { key, run, name, step: (key % PER_RUN) * 1_000, sizeBytes: (key * 31) % 1e9, createdUs };
}

function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** In a function of its own, so that only the index is left of it. */
function build(): { buildMs: number; texts: number } {
  let texts = 0;
  let buildMs = 0;
  for (let first = 0; first < models; first += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, models - first) }, (_, at) => modelRow(first + at));
    texts += rows.reduce((sum, { name }) => sum + (name === "best.pt" ? 0 : name.length), 0);
    const batch = structuredClone({ ...nothing, models: { gone: [], rows } });
    const begin = performance.now();
    index.apply(batch);
    buildMs += performance.now() - begin;
  }
  return { buildMs, texts };
}

const models = Number(process.argv[2] ?? 300_000);
const runs = Math.ceil(models / PER_RUN);
const index = new RunIndex();
const nothing = { reset: false, runs: [], purged: [], metrics: undefined };
for (let first = 0; first < runs; first += BATCH_RUNS) {
  const keys = Array.from({ length: Math.min(BATCH_RUNS, runs - first) }, (_, at) => first + at);
  const stats = new Float64Array(keys.length * METRIC_FEED_STATS);
  for (const [at, key] of keys.entries()) {
    const value = ((key * 7_919) % 1_000) / 1_000;
    stats.set([10, 0, value, value, value, value, value, 9, 9, 9], at * METRIC_FEED_STATS);
  }
  const [key, label] = [new Uint32Array(keys.length), new Uint32Array(keys.length)];
  const metrics = { keys: ["acc"], labels: [""], runs: Float64Array.from(keys), key, label, stats };
  index.apply(structuredClone({ ...nothing, runs: keys.map(runRow), metrics }));
}
const before = memoryBytes();
const { buildMs, texts } = build();
const each = (memoryBytes() - before) / models;
const garbage = globalThis.gc === undefined ? " (with garbage: run with --expose-gc)" : "";
console.log(
  `${models} models of ${runs} runs: built in ${buildMs.toFixed(0)} ms, ${each.toFixed(0)} bytes each, ` +
    `of which ${(texts / models).toFixed(0)} are characters of names${garbage}`,
);
console.log(`${"ms".padEnd(80)}      p50   matches`);
for (const text of QUERIES) {
  const query = parseQuery(text, { nowUs: START_US, models: true });
  const request = { query, readable: undefined, hidden: new Map(), under: "", limit: 50, after: undefined };
  const times: number[] = [];
  let total = 0;
  for (let round = -ROUNDS / 3; round < ROUNDS; round++) {
    const begin = performance.now();
    ({ total } = index.searchModels(request));
    if (round >= 0) times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)]!.toFixed(2);
  console.log(`${text.padEnd(80)}${median.padStart(9)} ${String(total).padStart(9)}`);
}
const beginPurge = performance.now();
index.apply({ ...nothing, purged: [7] });
console.log(`a purge takes ${(performance.now() - beginPurge).toFixed(1)} ms`);
const beginCapture = performance.now();
index.capture();
console.log(`to begin a snapshot takes ${(performance.now() - beginCapture).toFixed(1)} ms`);
