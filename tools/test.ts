/**
 * Runs every suite this machine can run: `npm test`, or some of them: `npm test unit e2e`. `--list` only says which
 * files would run. A test file whose needs are not met is left out and named at the end, with the way to get them;
 * with CI=true that is a failure. In suites that start processes a test that failed is run once more, alone, at the
 * end: if it passes then, it is named as unsteady. The last line is `N passed, N failed` over all suites.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { runCommand } from "./command.ts";
import { makeProgramFolders } from "./runner/program-folders.ts";
import { type Plan, planRun } from "./runner/plan-run.ts";
import { repeatFailed } from "./runner/repeat-failed.ts";
import { runFiles, type SuiteRun } from "./runner/run-suite.ts";
import { allNeeds, suitesOf, type Suite } from "./suites.ts";
import { nameOf } from "./runner/test-report.ts";
import { leftOutLines, tableLines } from "./runner/test-summary.ts";

/** Decides generated cases: always the same, so that what a run says is about the change. */
const seed = (process.env["CAIRN_SEED"] ??= "1");

const inCi = process.env["CI"] === "true";

async function runPlan(plan: Plan, env: NodeJS.ProcessEnv): Promise<Map<Suite, SuiteRun>> {
  const runs = new Map<Suite, SuiteRun>();
  for (const [suite, files] of plan.filesOf) {
    console.log(`suite ${suite.name}: ${files.length} files`);
    const run = await runFiles(suite, files, { env, alone: suite.measures === true });
    console.log(`suite ${suite.name} took ${run.seconds.toFixed(1)} s`);
    runs.set(suite, run);
  }
  return runs;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: "boolean", default: false } },
  });
  const plan = await planRun(positionals);
  if (values.list) {
    for (const [suite, files] of plan.filesOf) console.log([`suite ${suite.name}`, ...files].join("\n  "));
    for (const line of leftOutLines(plan)) console.log(line);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "cairn-programs-"));
  try {
    const declarable = new Set(allNeeds().flatMap((need) => need.programs));
    makeProgramFolders(folder, process.env["PATH"] ?? "", declarable);
    const env = { CAIRN_TEST_PROGRAM_FOLDER: folder };
    // Concurrent suites would all begin with it.
    await runCommand(["node", "web/build.ts"], { show: true });
    const runs = await runPlan(plan, env);
    const all = [...runs.values()];
    const failures = all.flatMap((run) => run.failures);
    const { failed, unsteady } = await repeatFailed(failures, async (file) => {
      console.log(`once more, alone: ${file}`);
      return (await runFiles(suitesOf(file)[0]!, [file], { env, alone: true })).failures;
    });
    for (const line of tableLines(runs)) console.log(line);
    for (const line of leftOutLines(plan)) console.log(line);
    for (const name of all.flatMap((run) => run.skipped)) console.log(`skipped itself: ${name}`);
    for (const file of plan.stray)
      console.log(`${file} does not belong to exactly one suite of tools/suites.ts`);
    for (const failure of unsteady) console.log(`unsteady: ${nameOf(failure)}`);
    for (const failure of failed) console.log(`failed: ${nameOf(failure)}`);
    console.log(`CAIRN_SEED=${seed} generates the same cases again`);
    // CI leaves nothing out, except what the table allows.
    const lacking = inCi ? plan.leftOut.filter(({ isAllowed }) => !isAllowed).length : 0;
    const skipped = inCi ? all.flatMap((run) => run.skipped).length : 0;
    const failedCount = failed.length + plan.stray.length + lacking + skipped;
    const passedCount = all.reduce((sum, run) => sum + run.passed, unsteady.length);
    console.log(`${passedCount} passed, ${failedCount} failed`);
    if (failedCount > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main();
