import { performance } from "node:perf_hooks";

/** The part of the time in which a thread may work and still counts as idle. */
const IDLE = 0.1;

/** Each call of what it returns says whether this thread was idle since the call before. */
export function idleMeter(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization < IDLE;
  };
}
