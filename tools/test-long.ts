/**
 * Runs the campaigns of tools/suites.ts one after the other, round after round, each with a seed of its own, until the
 * time is over:
 *
 *   npm run test:long -- --minutes 30
 *   npm run test:long -- --seed 1234 kills      one round of one campaign, as it was then
 *
 * What fails is printed, and added to long-failures.jsonl with the seed that repeats it. The last line is
 * `N passed, N failed`.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { campaignFiles } from "./runner/plan-run.ts";
import { runFiles } from "./runner/run-suite.ts";
import { ROOT } from "./sources.ts";
import { type Campaign, campaigns, needsOf, suitesOf } from "./suites.ts";
import { nameOf } from "./runner/test-report.ts";

const MINUTES = 30;
const SEED_MAX = 2 ** 31;
const FAILURES = "long-failures.jsonl";

interface Totals {
  rounds: number;
  seconds: number;
  passed: number;
  failed: number;
  /** The counts by unit, such as "kills". */
  tried: Map<string, number>;
}

/** The campaigns of these names, or all, that can run here. */
async function chooseCampaigns(names: readonly string[]): Promise<Campaign[]> {
  const unknown = names.find((name) => !campaigns.some((campaign) => campaign.name === name));
  if (unknown !== undefined) {
    const known = campaigns.map((campaign) => campaign.name).join(", ");
    throw new Error(`unknown campaign ${unknown}; campaigns are ${known}`);
  }
  const chosen: Campaign[] = [];
  for (const campaign of campaigns) {
    if (names.length > 0 && !names.includes(campaign.name)) continue;
    const needs = new Set((await campaignFiles(campaign)).flatMap(needsOf));
    const missing = [...needs].filter((need) => !need.isMet());
    for (const { name, remedy } of missing) {
      console.log(`campaign ${campaign.name} is left out: it needs ${name} (${remedy})`);
    }
    if (missing.length === 0) chosen.push(campaign);
  }
  return chosen;
}

function readNumber(text: string, name: string, max: number): number {
  const value = Number(text);
  if (!(value >= 0 && value <= max)) throw new Error(`--${name} ${text}: must be a number from 0 to ${max}`);
  return value;
}

async function runRound(campaign: Campaign, seed: number, totals: Totals): Promise<void> {
  const repeat = `npm run test:long -- --seed ${seed} ${campaign.name}`;
  console.log(`campaign ${campaign.name}, round ${totals.rounds + 1}; to repeat it: ${repeat}`);
  const folder = mkdtempSync(join(tmpdir(), "cairn-long-"));
  try {
    const tallies = join(folder, "tallies");
    const env = { CAIRN_LONG: "1", CAIRN_SEED: `${seed}`, CAIRN_TALLY: tallies };
    const files = await campaignFiles(campaign);
    const run = await runFiles(suitesOf(files[0]!)[0]!, files, { env, alone: true });
    totals.rounds += 1;
    totals.seconds += run.seconds;
    totals.passed += run.passed;
    totals.failed += run.failures.length;
    for (const line of existsSync(tallies) ? readFileSync(tallies, "utf8").trim().split("\n") : []) {
      const { unit, count } = JSON.parse(line) as { unit: string; count: number };
      totals.tried.set(unit, (totals.tried.get(unit) ?? 0) + count);
    }
    for (const failure of run.failures) {
      const { message } = failure;
      const entry = { at: new Date().toISOString(), test: nameOf(failure), seed, repeat, message };
      appendFileSync(join(ROOT, FAILURES), `${JSON.stringify(entry)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function printTotals(totalsOf: ReadonlyMap<Campaign, Totals>): void {
  for (const [{ name }, { rounds, seconds, passed, failed, tried }] of totalsOf) {
    const what = [...tried].map(([unit, count]) => `${count} ${unit}`).join(", ");
    const ended = `${passed} passed, ${failed} failed`;
    console.log(
      `${name.padEnd(20)} ${rounds} rounds, ${seconds.toFixed(0)} s: ${what || "not counted"}; ${ended}`,
    );
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { minutes: { type: "string" }, seed: { type: "string" } },
  });
  const minutes = readNumber(values.minutes ?? `${MINUTES}`, "minutes", 100_000);
  const firstSeed =
    values.seed === undefined
      ? Math.floor(Math.random() * SEED_MAX)
      : readNumber(values.seed, "seed", SEED_MAX);
  const chosen = await chooseCampaigns(positionals);
  // A given seed repeats one round of each.
  const roundsMax = values.seed === undefined || values.minutes !== undefined ? Infinity : 1;
  const endMs = performance.now() + minutes * 60_000;
  const fits = ({ minutes: needed }: Campaign): boolean =>
    roundsMax === 1 || performance.now() + needed * 60_000 <= endMs;
  const totalsOf = new Map<Campaign, Totals>();
  console.log(`seed ${firstSeed}, ${minutes} minutes, ${chosen.length} campaigns`);
  // It begins at a random one, so that short runs cover all of them over time.
  const begin = firstSeed % Math.max(1, chosen.length);
  const inTurn = [...chosen.slice(begin), ...chosen.slice(0, begin)];
  for (let round = 0; round < roundsMax && inTurn.some(fits); round++) {
    for (const campaign of inTurn) {
      if (!fits(campaign)) continue;
      const totals = totalsOf.get(campaign) ?? {
        rounds: 0,
        seconds: 0,
        passed: 0,
        failed: 0,
        tried: new Map(),
      };
      totalsOf.set(campaign, totals);
      await runRound(campaign, (firstSeed + round) % SEED_MAX, totals);
    }
  }
  printTotals(totalsOf);
  const sum = (of: (totals: Totals) => number): number =>
    [...totalsOf.values()].reduce((total, totals) => total + of(totals), 0);
  if (sum(({ failed }) => failed) > 0) {
    console.log(`what failed, and how to repeat it, is in ${FAILURES}`);
    process.exitCode = 1;
  }
  console.log(`${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
}

await main();
