import type { Plan } from "./plan-run.ts";
import type { SuiteRun } from "./run-suite.ts";
import type { Suite } from "../suites.ts";

const SLOWEST = 10;

/** How long each suite took, and the slowest files. */
export function tableLines(runs: ReadonlyMap<Suite, SuiteRun>): string[] {
  const lines = [row("suite", "files", "passed", "failed", "wall s", "CPU s")];
  const total = { files: 0, passed: 0, failed: 0, seconds: 0, cpuSeconds: 0 as number | undefined };
  for (const [suite, run] of runs) {
    lines.push(rowOf(suite.name, { ...run, files: run.files.length, failed: run.failures.length }));
    total.files += run.files.length;
    total.passed += run.passed;
    total.failed += run.failures.length;
    total.seconds += run.seconds;
    total.cpuSeconds =
      run.cpuSeconds === undefined || total.cpuSeconds === undefined
        ? undefined
        : total.cpuSeconds + run.cpuSeconds;
  }
  lines.push(rowOf("all", total));
  const files = [...runs.values()].flatMap((run) => run.files);
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  lines.push("slowest files:");
  for (const { file, seconds } of slowest) lines.push(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
  return lines;
}

function rowOf(
  name: string,
  figures: { files: number; passed: number; failed: number; seconds: number; cpuSeconds: number | undefined },
): string {
  const { files, passed, failed, seconds, cpuSeconds } = figures;
  return row(name, `${files}`, `${passed}`, `${failed}`, seconds.toFixed(1), cpuSeconds?.toFixed(1) ?? "?");
}

function row(name: string, ...cells: string[]): string {
  return name.padEnd(14) + cells.map((cell) => cell.padStart(9)).join("");
}

/** The tests that a run leaves out, and how to get their needs. */
export function leftOutLines({ leftOut }: Plan): string[] {
  if (leftOut.length === 0) return [];
  const lines = ["skipped, because this machine lacks their requirements:"];
  for (const { suite, files, missing } of leftOut) {
    lines.push(`  ${suite.name}: ${missing.map((need) => need.name).join(" and ")}`);
    for (const file of files) lines.push(`    ${file}`);
  }
  lines.push("how to get it:");
  const needs = new Map(leftOut.flatMap((one) => one.missing).map((need) => [need.name, need]));
  for (const need of needs.values()) {
    lines.push(`  ${need.name}: ${need.remedy}`);
    if (need.mayLack !== undefined) lines.push(`    not a failure in CI: ${need.mayLack}`);
  }
  return lines;
}
