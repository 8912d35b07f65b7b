import type { Delivery } from "../delivery/delivery.ts";
import type { Spool } from "../spool/spool.ts";

/** The delivery of a run's data when it was finished. */
export interface FinishReport {
  runId: string | undefined;
  /** Whether the server has everything. */
  delivered: boolean;
  /** Envelopes, and other frames (files, sources), that are left in the spool. */
  envelopesLeft: number;
  othersLeft: number;
  /** Frames that the server refused for good, and envelopes that were lost on the way. */
  refused: number;
  lost: number;
  /** Where the rest is; undefined when there is none. */
  spool: string | undefined;
}

export function reportOf(spool: Spool, delivery: Delivery): FinishReport {
  const { envelopes, others } = spool.waiting;
  const delivered = envelopes + others === 0;
  return {
    runId: delivery.runId,
    delivered,
    envelopesLeft: envelopes,
    othersLeft: others,
    refused: delivery.counts.refused,
    lost: delivery.counts.lost,
    spool: delivered && delivery.counts.refused === 0 ? undefined : spool.folder,
  };
}

/** For the person: how much, where, and what to do. */
export function leftText(
  { envelopesLeft, othersLeft, spool, runId }: FinishReport,
  preparing: number,
): string {
  const others = othersLeft > 0 ? ` and ${othersLeft} files or sources` : "";
  const run = runId === undefined ? "this run" : `run ${runId}`;
  const unsafe = preparing > 0 ? `; ${preparing} files had not been read and are lost` : "";
  return `${envelopesLeft} envelopes${others} of ${run} are not delivered yet; they are kept in ${spool}${unsafe}
  deliver them with \`cairn sync ${spool}\``;
}
