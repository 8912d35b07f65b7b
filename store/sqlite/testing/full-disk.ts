/**
 * Runs in a process of its own, in a directory on a very small disk: fills it up, looks what still
 * works, makes space, goes on, starts again. Prints what happened as JSON.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CairnError } from "#core/errors.ts";
import type { AppendOutcome } from "#core/ports/run-store.ts";
import { createRun, envelope, NOW_US, numbers, readNumbers } from "#store/contract/stores.ts";
import { openIn } from "./under-test.ts";

const BALLAST_BYTES = 2 << 20;
const POINTS = 400;
const ENVELOPES_MAX = 5_000;

export interface FullDiskReport {
  refusals: { code: string; reason: string | undefined; ms: number }[];
  /** Envelopes acknowledged before the disk was full, and after there was space again. */
  acknowledged: [before: number, after: number];
  /** What could be read in between. */
  readWhileFull: { values: number; runs: number; verified: number };
  readAtTheEnd: { values: number; problems: string[]; gaps: unknown[] };
}

const directory = process.argv[2]!;
const ballast = join(directory, "ballast");
writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES, 1));

let store = await openIn(directory, join(directory, "data"));
const runId = await createRun(store.runs);

async function write(seq: number): Promise<AppendOutcome> {
  const values = Array.from({ length: POINTS }, (_, i) => Math.sin(seq * POINTS + i));
  const series = [numbers("loss", values, seq * POINTS)];
  return (await store.runs.append([envelope(runId, seq, { series })], NOW_US))[0]!;
}

const refusals: FullDiskReport["refusals"] = [];
let acknowledged = 0;
const REFUSALS = 3;
while (refusals.length < REFUSALS && acknowledged < ENVELOPES_MAX) {
  const start = performance.now();
  const outcome = await write(acknowledged + 1);
  if (outcome.ok) acknowledged++;
  else {
    const { code, reason } = CairnError.from(outcome.error);
    refusals.push({ code, reason, ms: performance.now() - start });
  }
}
const before = acknowledged;
const readWhileFull = {
  values: (await readNumbers(store.points, runId, "loss")).length,
  runs: (await store.runs.getRuns([runId])).length,
  verified: (await store.runs.verifyRun(runId)).points,
};

rmSync(ballast);
const MORE = 20;
while (acknowledged < before + MORE) {
  const outcome = await write(acknowledged + 1);
  if (!outcome.ok) throw outcome.error;
  acknowledged++;
}
await store.settle();
store = (await store.reopen!()) as typeof store;
const ledger = await store.runs.verifyRun(runId);
const report: FullDiskReport = {
  refusals,
  acknowledged: [before, acknowledged - before],
  readWhileFull,
  readAtTheEnd: {
    values: (await readNumbers(store.points, runId, "loss")).length,
    problems: ledger.problems,
    gaps: ledger.writers.flatMap(({ gaps }) => gaps),
  },
};
await store.runs.close();
process.stdout.write(JSON.stringify(report));
