import { suitesOf } from "../suites.ts";
import type { Failure } from "./test-report.ts";

/** More unsteady tests than this fail the run. */
export const UNSTEADY_MAX = 3;

export interface Verdict {
  failed: Failure[];
  /** Failed beside others, passed alone: a defect of the test or of the product. */
  unsteady: Failure[];
}

/**
 * Runs the files of failed tests once more with `runAlone`, which returns the failures, if the suite starts processes
 * and the result can change.
 */
export async function repeatFailed(
  failures: readonly Failure[],
  runAlone: (file: string) => Promise<readonly Failure[]>,
): Promise<Verdict> {
  const mayRepeat = failures.every(({ file }) => suitesOf(file)[0]?.repeats === true);
  if (!mayRepeat || failures.length > UNSTEADY_MAX) return { failed: [...failures], unsteady: [] };
  const verdict: Verdict = { failed: [], unsteady: [] };
  for (const file of new Set(failures.map((failure) => failure.file))) {
    const again = await runAlone(file);
    if (again.length > 0) verdict.failed.push(...again);
    else verdict.unsteady.push(...failures.filter((failure) => failure.file === file));
  }
  return verdict;
}
