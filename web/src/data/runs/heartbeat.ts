import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";

/** When a run that goes on was last heard. */
export interface Heartbeat {
  heardUs: number;
  /** Longer ago than usual: perhaps it was heard since, and nobody told this page. Worth a question. */
  isOverdue: boolean;
  /** So long ago that a promised heartbeat is missing. */
  isLate: boolean;
}

const SECOND_US = 1e6;
const OVERDUE_INTERVALS = 1.5;
/** The server gives up after three. */
const LATE_INTERVALS = 2;
/** An answer to a question takes that long at most. */
const ANSWER_US = 6 * SECOND_US;

/** Undefined for a run that does not run, or was never heard. Times are by the clock of the server; `heardMs` is when this page heard of it otherwise. */
export function heartbeatOf(
  { status, lastHeardUs, heartbeatSeconds }: Pick<Run, "status" | "lastHeardUs" | "heartbeatSeconds">,
  nowMs: number,
  heardMs = 0,
): Heartbeat | undefined {
  const heardUs = Math.max(Number(lastHeardUs), heardMs * 1_000);
  if (status !== RunStatus.RUNNING || heardUs === 0) return undefined;
  const silentUs = nowMs * 1_000 - heardUs;
  const intervalUs = heartbeatSeconds * SECOND_US;
  const overdueUs = OVERDUE_INTERVALS * intervalUs;
  return {
    heardUs,
    isOverdue: intervalUs > 0 && silentUs > overdueUs,
    isLate: intervalUs > 0 && silentUs > Math.max(LATE_INTERVALS * intervalUs, overdueUs + ANSWER_US),
  };
}
