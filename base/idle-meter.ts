import { performance } from "node:perf_hooks";

/** The part of one core that may be in use while the process counts as idle. */
const IDLE = 0.1;

/** Each call of what it returns says whether the process, with all its threads, was idle since the call before. */
export function idleMeter(): () => boolean {
  let last = process.cpuUsage();
  let lastMs = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(last);
    const nowMs = performance.now();
    const share = (user + system) / 1000 / (nowMs - lastMs);
    last = process.cpuUsage();
    lastMs = nowMs;
    return share < IDLE;
  };
}
