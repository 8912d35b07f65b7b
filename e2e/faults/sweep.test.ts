import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import { buildShim, type FaultKind } from "./shim.ts";
import type { FaultTrial, SweepSummary } from "./sweep/harness.ts";

const HARNESS = fileURLToPath(new URL("./sweep/harness.ts", import.meta.url));
/** Each of the first calls of a workload fails once. */
const EVERY_CALL = dose(0, 500);
const TRIALS_PER_FOLDER = 10;
const PROCESSES = 2;

const WRITING: readonly FaultKind[] = ["eio", "enospc", "short", "torn"];
const SYNCING: readonly FaultKind[] = ["eio", "sync", "torn"];
const MAKING: readonly FaultKind[] = ["eio", "enospc", "torn"];
const OTHER: readonly FaultKind[] = ["eio", "torn"];

/** The calls that each workload makes, and all the ways in which they can fail. */
const FAULTS: Readonly<Record<string, Readonly<Record<string, readonly FaultKind[]>>>> = {
  points: { pwrite: WRITING, fsync: SYNCING, ftruncate: OTHER },
  artifacts: {
    write: WRITING,
    pwrite: WRITING,
    fsync: SYNCING,
    open: MAKING,
    rename: MAKING,
    mkdir: MAKING,
    unlink: OTHER,
  },
  grants: { pwrite: WRITING, fsync: SYNCING },
};
/** How often each is tried, with how many calls before it: up to this many, chosen by the seed. */
const TIMES_EACH = 2;
const CALLS_BEFORE_MAX = 120;
const STRIDE = 29;

/** CAIRN_FAULT=points:101-110 repeats what a failed trial says. */
const [onlyWorkload, onlyTrials] = process.env["CAIRN_FAULT"]?.split(":") ?? [];

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = makeFolder();
  env = buildShim(folder);
});

afterAll(() => rmSync(folder, { recursive: true }));

async function sweep(workload: string, trials: readonly string[], n: number): Promise<SweepSummary> {
  const place = join(folder, `${workload}-${n}`);
  mkdirSync(place);
  const child = spawn(process.execPath, [HARNESS, place, workload, ...trials], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const failed: FaultTrial[] = [];
  let summary: SweepSummary | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as FaultTrial | SweepSummary;
    if ("problem" in said) failed.push(said);
    else summary = said;
  }
  const [code] = (await exited) as [number | null];
  const stories = failed.map(
    ({ trials: again, nth, kind, hit, problem }) =>
      `${workload}, N = ${nth}, ${kind} (${hit}): ${problem}\nagain with CAIRN_FAULT=${workload}:${again}`,
  );
  expect(stories.join("\n\n")).toBe("");
  expect(code).toBe(0);
  return summary!;
}

/** Every kind of call fails in every way. */
function byKind(workload: string): string[] {
  const pairs = Object.entries(FAULTS[workload]!).flatMap(([call, kinds]) =>
    kinds.map((kind) => `${kind}/${call}`),
  );
  const all = Array.from({ length: TIMES_EACH * pairs.length }, (_, i) => {
    const nth = 1 + ((seed + i * STRIDE) % CALLS_BEFORE_MAX);
    return `${nth}/${pairs[i % pairs.length]}`;
  });
  const folders = Math.ceil(all.length / TRIALS_PER_FOLDER);
  return Array.from({ length: folders }, (_, folderAt) =>
    all.filter((_trial, i) => i % folders === folderAt).join(","),
  );
}

function everyCall(): string[] {
  return Array.from({ length: EVERY_CALL / TRIALS_PER_FOLDER }, (_, i) => {
    const first = i * TRIALS_PER_FOLDER + 1;
    return `${first}-${first + TRIALS_PER_FOLDER - 1}`;
  });
}

const workloads = Object.keys(FAULTS).filter((name) => name === (onlyWorkload ?? name));

describe.each(workloads)("%s", (workload) => {
  it("D3 R2 R3 whichever call on a file fails: acknowledged writes are there, and no write is stored in part", async () => {
    const started = performance.now();
    const chosen = onlyTrials === undefined ? [...byKind(workload), ...everyCall()] : [onlyTrials];
    const shares = Array.from({ length: PROCESSES }, (_, n) =>
      chosen.filter((_trials, i) => i % PROCESSES === n),
    );
    const done = await Promise.all(
      shares.filter((share) => share.length > 0).map((share, n) => sweep(workload, share, n)),
    );
    const sum = (of: keyof SweepSummary) => done.reduce((total, one) => total + one[of], 0);
    tally("faults", sum("trials"));
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(
      `${sum("trials")} faults in ${seconds} s: ${sum("acknowledged")} acknowledged, ${sum("refused")} refused, opened ${sum("opened")} times`,
    );
  }, 900_000);
});
