import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "../command.ts";
import { ROOT } from "../sources.ts";
import type { Suite } from "../suites.ts";
import { readReport, type Report } from "./test-report.ts";

/** A compile cache for servers and commands that tests start. */
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "cairn-test");

export interface SuiteRun extends Report {
  seconds: number;
  /** Of all its processes; undefined where the system does not report it. */
  cpuSeconds: number | undefined;
}

export interface RunOptions {
  env: NodeJS.ProcessEnv;
  /** One file after the other. */
  alone?: boolean;
}

/** Runs files of a suite and waits for their end; their output is shown live. */
export async function runFiles(
  suite: Suite,
  files: readonly string[],
  { env, alone = false }: RunOptions,
): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), "cairn-test-"));
  try {
    const json = join(folder, "report.json");
    const cpuBefore = childrenCpuSeconds();
    const { code, seconds } = await runCommand(
      [
        "vitest",
        "run",
        `--config=${suite.config}`,
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${json}`,
        ...(alone ? ["--no-file-parallelism"] : []),
        ...(suite.isWarm === true ? ["--no-isolate"] : []),
        ...files,
      ],
      { show: true, env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...env } },
    );
    const cpuAfter = childrenCpuSeconds();
    return {
      ...readReport(readIfThere(json), code),
      seconds,
      cpuSeconds: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What all children that have ended, and theirs, have taken. Linux counts it in hundredths of a second. */
export function childrenCpuSeconds(): number | undefined {
  const stat = readIfThere("/proc/self/stat");
  if (stat === "") return undefined;
  // Fields are counted after the name, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[13], fields[14]];
  return (Number(user) + Number(system)) / 100;
}
