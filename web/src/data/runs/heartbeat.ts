import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";

/** The last activity of a running run. */
export interface Heartbeat {
  heardUs: number;
  /** Longer ago than usual: there may be newer activity that this page has not seen, so it should ask the server. */
  isOverdue: boolean;
  /** So long ago that a promised heartbeat is missing. */
  isLate: boolean;
}

const SECOND_US = 1e6;
const OVERDUE_INTERVALS = 1.5;
/** The server marks the run as lost after three. */
const LATE_INTERVALS = 2;
/** The longest time that an answer takes. */
const ANSWER_US = 6 * SECOND_US;

/** Undefined for a run that is not running, or has no activity. Times are by the clock of the server; `heardMs` is the last activity that this page saw in a watch. */
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
