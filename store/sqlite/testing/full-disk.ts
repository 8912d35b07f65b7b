/**
 * Runs in a process of its own, in a directory on a very small disk: fills it up, checks what still
 * works, frees space, continues, restarts. Prints what happened as JSON.
 */
import { closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { AppendOutcome } from "#core/ports/journal.ts";
import { digestOf, inline, putUploaded, uploaded } from "#store/contract/artifact-samples.ts";
import { buildCore } from "#store/contract/core-under-test.ts";
import { AUDIT, createRun, envelope, getRuns, NOW_US, numbers, readNumbers } from "#store/contract/stores.ts";
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
  /** What chores did on a disk without a byte to spare. */
  choresWhileFull: {
    refused: Record<string, string | undefined>;
    uploadsLeft: number;
    versionsLeft: number;
    blobsLeft: number;
    /** Whether a second time, with nothing to do, left the room that is kept for deletions alone. */
    roomKept: boolean;
  };
  /** Runs that could be deleted and purged on a disk without a byte to spare, also after a restart. */
  purgedWhileFull: [before: number, after: number];
  /** The answer to a write after a restart on such a disk. */
  refusedAfterRestart: string | undefined;
  readAtTheEnd: { values: number; problems: string[]; gaps: unknown[] };
}

const directory = process.argv[2]!;
const ballast = join(directory, "ballast");
writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES, 1));

let store = await openIn(directory, join(directory, "data"));
const runId = await createRun(store.runs);
const victims: string[] = [];
for (let i = 0; i < 40; i++) victims.push(await createRun(store.runs));

// An upload that was given up, and content of an old version.
const upload = { id: "0".repeat(64), turn: "given up", core: "one", again: false, begins: true };
await store.uploadLedger.takeUpload({ ...upload, nowUs: NOW_US, untilUs: NOW_US + 1 });
await putUploaded(store, runId, uploaded("old", { name: "file" }), NOW_US);
await store.artifacts.putArtifact(runId, inline("new", { name: "file" }), NOW_US);

const clock = { us: NOW_US, nowUs: () => clock.us };
let ms = 0;
const refusedChores: Record<string, string | undefined> = {};
const core = await buildCore(store, {
  clock,
  steadyMs: () => ms,
  onChoreFailure: (chore, thrown) => (refusedChores[chore] = CairnError.from(thrown).reason),
});

async function choresWhileFull(): Promise<FullDiskReport["choresWhileFull"]> {
  // Every chore once, long after.
  clock.us += 2 * limits.replacedDays * 86_400_000_000;
  ms = 1e9;
  await core.chores.tick();
  fill();
  const { ino } = statSync(join(directory, "data", "reserve"));
  const [nowUs, untilUs] = [clock.us, clock.us + 1];
  await Promise.allSettled([
    store.leases.acquireLease("again", "me", nowUs, untilUs),
    store.uploadLedger.takeExpired({ beforeUs: 0, turn: "me", nowUs, untilUs, limit: 1 }),
    store.blobLedger.markBlobs([digestOf("new")], "me", nowUs, untilUs),
  ]);
  const versions = { runId, prefix: "", after: undefined, limit: 1, bytesMax: 1 << 20 };
  return {
    refused: refusedChores,
    uploadsLeft: (await store.uploadLedger.findUploads([upload.id])).length,
    versionsLeft: (await store.artifacts.listReplaced(versions)).rows.length,
    blobsLeft: (await store.blobLedger.listUnusedBlobs(1)).length,
    roomKept: statSync(join(directory, "data", "reserve")).ino === ino,
  };
}

/** Leaves no byte on the disk. */
function fill(): void {
  const fd = openSync(join(directory, "fill"), "a");
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch {
    closeSync(fd);
  }
}

async function purge(count: number): Promise<number> {
  const runs = victims.splice(0, count);
  for (const id of runs) {
    await store.runs.setDeleted(id, NOW_US, AUDIT);
    await store.runs.purgeRun(id, AUDIT);
    fill();
  }
  return runs.length;
}

async function write(seq: number): Promise<AppendOutcome> {
  const values = Array.from({ length: POINTS }, (_, i) => Math.sin(seq * POINTS + i));
  const series = [numbers("loss", values, seq * POINTS)];
  return (await store.journal.append([envelope(runId, seq, { series })], NOW_US))[0]!;
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
  runs: (await getRuns(store.runs, [runId])).length,
  verified: (await store.runs.verifyRun(runId)).points,
};

fill();
const chores = await choresWhileFull();
await core.close();
const purgedBefore = await purge(20);
store = (await store.reopen!()) as typeof store;
fill();
const refused = await write(acknowledged + 1);
const refusedAfterRestart = refused.ok ? undefined : CairnError.from(refused.error).reason;
const purgedWhileFull: [number, number] = [purgedBefore, await purge(20)];

rmSync(ballast);
rmSync(join(directory, "fill"));
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
  choresWhileFull: chores,
  purgedWhileFull,
  refusedAfterRestart,
  readAtTheEnd: {
    values: (await readNumbers(store.points, runId, "loss")).length,
    problems: ledger.problems,
    gaps: ledger.writers.flatMap(({ gaps }) => gaps),
  },
};
await store.engine.close();
process.stdout.write(JSON.stringify(report));
