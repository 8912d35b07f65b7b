import type { ReportProblem } from "./api.ts";

/** A notice on standard error, or in the console of a browser. */
export const reportToConsole: ReportProblem = (message) => console.warn(`cairn: ${message}`);

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
