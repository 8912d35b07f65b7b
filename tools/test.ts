/**
 * Runs every suite this machine can run: `npm test`, or some of them: `npm test unit e2e`. A suite whose
 * needs are not met is skipped and named at the end; with CI=true that is a failure. The last line is
 * `N passed, N failed` over all suites.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";

import { runCommand } from "./command.ts";
import { readSources } from "./sources.ts";
import { type Suite, suites } from "./suites.ts";
import { type Counts, countsFrom } from "./test-report.ts";

const inCi = process.env["CI"] === "true";

/** Generated cases begin here. CI repeats itself, so that what it says is about the change; others try new ones. */
const seed = (process.env["CAIRN_SEED"] ??= inCi ? "1" : `${Math.floor(Math.random() * 2 ** 31)}`);

function choose(names: readonly string[]): readonly Suite[] {
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    const known = suites.map((suite) => suite.name).join(", ");
    throw new Error(`unknown suite ${unknown}; there are ${known}`);
  }
  return names.length === 0 ? suites : suites.filter((suite) => names.includes(suite.name));
}

/** Test files by suite, and those that no suite would run or more than one would. */
async function assignFiles(): Promise<{ filesOf: Map<Suite, string[]>; stray: string[] }> {
  const filesOf = new Map<Suite, string[]>(suites.map((suite) => [suite, []]));
  const stray: string[] = [];
  for (const file of (await readSources(["**/*.test.ts"])).keys()) {
    const takers = suites.filter((suite) => suite.files.some((pattern) => matchesGlob(file, pattern)));
    if (takers.length === 1) filesOf.get(takers[0]!)!.push(file);
    else stray.push(file);
  }
  return { filesOf, stray };
}

async function runSuite(suite: Suite, files: readonly string[]): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), "cairn-test-"));
  try {
    const report = join(folder, "report.json");
    const { code } = await runCommand(
      [
        "vitest",
        "run",
        `--config=${suite.config}`,
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
        ...files,
      ],
      { show: true },
    );
    return countsFrom(await readFile(report, "utf8").catch(() => ""), code);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const chosen = choose(process.argv.slice(2));
const { filesOf, stray } = await assignFiles();
const total: Counts = { passed: 0, failed: stray.length, skipped: 0 };
const notRun: string[] = [];

for (const suite of chosen) {
  const files = filesOf.get(suite) ?? [];
  if (files.length === 0) continue;
  const missing = suite.needs.filter((need) => !need.isMet()).map((need) => need.name);
  if (missing.length > 0) {
    const why = suite.mayLack === undefined ? "" : `; no failure: ${suite.mayLack}`;
    notRun.push(`${suite.name} (${files.length} files): needs ${missing.join(" and ")}${why}`);
    if (inCi && suite.mayLack === undefined) total.failed += 1;
    continue;
  }
  console.log(`suite ${suite.name}`);
  const counts = await runSuite(suite, files);
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
}

console.log(`CAIRN_SEED=${seed} generates the same cases again`);
for (const file of stray) console.log(`${file} does not belong to exactly one suite of tools/suites.ts`);
if (notRun.length > 0) {
  console.log(inCi ? "suites that could not run, failures unless it says otherwise:" : "suites skipped:");
  for (const line of notRun) console.log(`  ${line}`);
}
if (total.skipped > 0) console.log(`tests skipped within suites: ${total.skipped}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
if (total.failed > 0) process.exitCode = 1;
