import { idleMeter } from "./idle-meter.ts";

const LOOK_MS = 1_000;

/**
 * Collects what the start of a thread leaves behind, in the first idle second of the process: half of its heap is garbage from
 * loading code, which V8 would keep as long as the thread allocates little. Before that it would slow down the first requests,
 * and remove the compiled code of busy threads. Without `--expose-gc` nothing happens.
 */
export function collectAfterStart(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  const isIdle = idleMeter();
  const timer = setInterval(() => {
    if (!isIdle()) return;
    clearInterval(timer);
    gc({ type: "major", flavor: "last-resort" });
  }, LOOK_MS).unref();
}
