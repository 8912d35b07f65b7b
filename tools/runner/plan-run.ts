import { type Need } from "../needs.ts";
import { readSources } from "../sources.ts";
import { needsOf, suites, suitesOf, type Campaign, type Suite } from "../suites.ts";

/** Files of a suite that cannot run here. */
export interface LeftOut {
  suite: Suite;
  files: string[];
  missing: Need[];
  /** Whether CI may do without. */
  isAllowed: boolean;
}

export interface Plan {
  /** What runs, in the order of the table. */
  filesOf: Map<Suite, string[]>;
  leftOut: LeftOut[];
  /** Test files that no suite would run, or more than one would. */
  stray: string[];
}

function chooseSuites(names: readonly string[]): readonly Suite[] {
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    const known = suites.map((suite) => suite.name).join(", ");
    throw new Error(`unknown suite ${unknown}; suites are ${known}`);
  }
  return names.length === 0 ? suites : suites.filter((suite) => names.includes(suite.name));
}

/** Which test files run on this machine, of these suites or of all. */
export async function planRun(names: readonly string[]): Promise<Plan> {
  const chosen = chooseSuites(names);
  const plan: Plan = { filesOf: new Map(), leftOut: [], stray: [] };
  const isMet = askOnce();
  for (const file of [...(await readSources(["**/*.test.ts"])).keys()].toSorted()) {
    const takers = suitesOf(file);
    if (takers.length !== 1) plan.stray.push(file);
    const suite = takers[0];
    if (suite === undefined || takers.length > 1 || !chosen.includes(suite)) continue;
    const missing = needsOf(file).filter((need) => !isMet(need));
    if (missing.length > 0) leaveOut(plan, suite, file, missing);
    else plan.filesOf.set(suite, [...(plan.filesOf.get(suite) ?? []), file]);
  }
  // In the order of the table.
  plan.filesOf = new Map(
    chosen.flatMap((suite) => {
      const files = plan.filesOf.get(suite);
      return files === undefined ? [] : [[suite, files] as const];
    }),
  );
  return plan;
}

function leaveOut(plan: Plan, suite: Suite, file: string, missing: Need[]): void {
  const same = plan.leftOut.find(
    (one) =>
      one.suite === suite &&
      one.missing.map((need) => need.name).join() === missing.map((need) => need.name).join(),
  );
  if (same === undefined) {
    const isAllowed = missing.every((need) => need.mayLack !== undefined);
    plan.leftOut.push({ suite, files: [file], missing, isAllowed });
  } else same.files.push(file);
}

/** Checks start programs, so their results are cached. */
function askOnce(): (need: Need) => boolean {
  const answers = new Map<Need, boolean>();
  return (need) => {
    const answer = answers.get(need) ?? need.isMet();
    answers.set(need, answer);
    return answer;
  };
}

/** The test files of a campaign. */
export async function campaignFiles({ files }: Campaign): Promise<string[]> {
  return [...(await readSources(files)).keys()].toSorted();
}
