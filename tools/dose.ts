/**
 * How much of a campaign runs. `npm test` runs a small dose of each with a fixed seed; `npm run test:long` runs
 * the whole of it, with another seed each round (tools/suites.ts lists the campaigns).
 */
import { appendFileSync } from "node:fs";

export const isLong: boolean = process.env["CAIRN_LONG"] === "1";

/** Decides every generated case of this run. */
export const seed: number = Number(process.env["CAIRN_SEED"] ?? 1);

export function dose(small: number, whole: number): number {
  return isLong ? whole : small;
}

/** Reports how much a campaign has really tried, such as `tally("kills", 200)`; `npm run test:long` adds it up. */
export function tally(unit: string, count: number): void {
  const file = process.env["CAIRN_TALLY"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ unit, count })}\n`);
}
