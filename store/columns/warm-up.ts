import { setImmediate } from "node:timers/promises";
import { METRIC_FEED_STATS, type RunFeedRow } from "#core/ports/run-changes.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { BLOCK_ROWS } from "./cells/cells.ts";
import { RunIndex, type RunPart } from "./index.ts";

const ROUNDS = 150;
const WORDS = ["x", "y", "z"];
const QUERIES = [
  `params.a < 5 and params.b != "x" and metrics.m.last > 0.2 order by metrics.m.max desc`,
  `metrics.m.last >= 0 or not tags.t = "x" order by metrics.m.min asc`,
  `status = "running" and name like "run 1%" order by created desc`,
].map((text) => parseQuery(text, { nowUs: 0 }));

/**
 * Searches a small index of its own until the compiler has optimised the loops: without that, the first
 * hundred searches after a start take two to three times as long. Other work runs in between.
 */
export async function warmUp(): Promise<void> {
  const index = new RunIndex();
  index.apply(makeBatch());
  const all = { readable: undefined, under: "", trashed: false, limit: 50, after: undefined, metrics: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of QUERIES) index.search({ ...all, query });
    await setImmediate();
  }
}

function makeBatch(): RunPart {
  const keys = Array.from({ length: BLOCK_ROWS }, (_, key) => key);
  const metrics = {
    keys: ["m"],
    labels: [""],
    runs: Float64Array.from(keys),
    key: new Uint32Array(BLOCK_ROWS),
    label: new Uint32Array(BLOCK_ROWS),
    stats: Float64Array.from(
      { length: BLOCK_ROWS * METRIC_FEED_STATS },
      (_, at) => ((at * 7919) % 1000) / 1000,
    ),
  };
  return { reset: false, purged: [], runs: keys.map(makeRow), metrics };
}

function makeRow(key: number): RunFeedRow {
  const word = WORDS[key % WORDS.length]!;
  return {
    key,
    id: String(key),
    namespace: `n${key % 7}`,
    namespaceId: key % 7,
    name: `run ${key % 100}`,
    status: "running",
    notes: "",
    aliases: [],
    params: `{"a":${key % 10},"b":"${word}"}`,
    tags: [["t", word]],
    createdUs: key,
    startedUs: key,
    endedUs: undefined,
    updatedUs: key,
    deletedUs: undefined,
    creator: word,
    searchable: undefined,
  };
}
