import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { EnvelopeAck } from "../types/envelope.ts";

/** The outcome of one of many envelopes. */
export type WriteOutcome = { ok: true; ack: EnvelopeAck } | { ok: false; error: CairnError };

/** A summary of the outcomes, for wires that have one answer for many. */
export interface WriteSummary {
  /** Duplicates, too. */
  accepted: number;
  rejected: number;
  /** Of the first that were refused, at most `writeReasonsMax`. */
  reasons: { index: number; error: CairnError }[];
}

export function refusalOf(thrown: unknown): WriteOutcome {
  return { ok: false, error: CairnError.from(thrown) };
}

export function summarizeWrites(outcomes: readonly WriteOutcome[]): WriteSummary {
  const summary: WriteSummary = { accepted: 0, rejected: 0, reasons: [] };
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.ok) {
      summary.accepted++;
      continue;
    }
    summary.rejected++;
    if (summary.reasons.length < limits.writeReasonsMax)
      summary.reasons.push({ index, error: outcome.error });
  }
  return summary;
}
