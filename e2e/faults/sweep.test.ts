import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import { buildShim } from "./shim.ts";
import type { FaultTrial, SweepSummary } from "./sweep/harness.ts";

const HARNESS = fileURLToPath(new URL("./sweep/harness.ts", import.meta.url));
const TRIALS = 500;
const TRIALS_PER_FOLDER = 10;
const PROCESSES = 2;

/** CAIRN_FAULT=points:101-110 repeats what a failed trial says. */
const [onlyWorkload, onlyRange] = process.env["CAIRN_FAULT"]?.split(":") ?? [];

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = makeFolder();
  env = buildShim(folder);
});

afterAll(() => rmSync(folder, { recursive: true }));

async function sweep(workload: string, ranges: readonly string[], n: number): Promise<SweepSummary> {
  const place = join(folder, `${workload}-${n}`);
  mkdirSync(place);
  const child = spawn(process.execPath, [HARNESS, place, workload, ...ranges], {
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
    ({ range, nth, kind, hit, problem }) =>
      `${workload}, N = ${nth}, ${kind} (${hit}): ${problem}\nagain with CAIRN_FAULT=${workload}:${range}`,
  );
  expect(stories.join("\n\n")).toBe("");
  expect(code).toBe(0);
  return summary!;
}

const workloads = ["points", "artifacts", "grants"].filter((name) => name === (onlyWorkload ?? name));

describe.each(workloads)("%s", (workload) => {
  it("D3 R2 R3 whichever call on a file fails: what was acknowledged is there, and nothing is half", async () => {
    const started = performance.now();
    const ranges = Array.from({ length: TRIALS / TRIALS_PER_FOLDER }, (_, i) => {
      const first = i * TRIALS_PER_FOLDER + 1;
      return `${first}-${first + TRIALS_PER_FOLDER - 1}`;
    });
    const chosen = onlyRange === undefined ? ranges : [onlyRange];
    const shares = Array.from({ length: PROCESSES }, (_, n) =>
      chosen.filter((_range, i) => i % PROCESSES === n),
    );
    const done = await Promise.all(shares.map((share, n) => sweep(workload, share, n)));
    const sum = (of: keyof SweepSummary) => done.reduce((total, one) => total + one[of], 0);
    if (onlyRange === undefined) expect(sum("trials")).toBe(TRIALS);
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(
      `${sum("trials")} faults in ${seconds} s: ${sum("acknowledged")} acknowledged, ${sum("refused")} refused, opened ${sum("opened")} times`,
    );
  }, 900_000);
});
