// Plain JavaScript, because both beginnings of a thread use it.
import { performance } from "node:perf_hooks";

const LOOK_MS = 1_000;
/** The part of a second in which a thread may work and still counts as idle. */
const IDLE = 0.1;

/**
 * Collects what the start of a thread leaves behind, in its first idle second: half of its heap is garbage from loading
 * code, which V8 would keep as long as the thread allocates little. A busy thread keeps its compiled code, which this
 * removes, too. Without `--expose-gc` nothing happens.
 */
export function collectAfterStart() {
  if (globalThis.gc === undefined) return;
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > IDLE) return;
    clearInterval(timer);
    globalThis.gc({ type: "major", flavor: "last-resort" });
  }, LOOK_MS).unref();
}
