/**
 * What happens to unfinished runs when the process ends. One set of listeners serves all runs; they are removed with
 * the last one.
 */
export type EndStatus = "finished" | "failed" | "killed";

export interface ExitingRun {
  /** Everything that is in memory goes to the spool, now. */
  flush(): void;
  /** The uncaught error, before the process dies of it. */
  crashed(error: unknown): void;
  finish(status: EndStatus): Promise<unknown>;
  /** Ends the run without waiting for anything else; delivery may take this long. */
  endNow(status: EndStatus, deliverMs: number): void;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const DELIVER_MS = 5_000;

const runs = new Set<ExitingRun>();
let wasSignalled = false;

/** Returns a function that stops watching. */
export function watchExit(run: ExitingRun): () => void {
  if (runs.size === 0) listen();
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size === 0) leave();
  };
}

function listen(): void {
  process.on("beforeExit", onBeforeExit);
  process.on("exit", onExit);
  process.on("uncaughtExceptionMonitor", onCrash);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function leave(): void {
  process.off("beforeExit", onBeforeExit);
  process.off("exit", onExit);
  process.off("uncaughtExceptionMonitor", onCrash);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onBeforeExit(): void {
  const status = Number(process.exitCode ?? 0) === 0 ? "finished" : "failed";
  // Waiting for the server keeps the process alive until it is done.
  for (const run of runs) void run.finish(status);
}

function onExit(code: number): void {
  const status = code === 0 ? "finished" : wasSignalled ? "killed" : "failed";
  for (const run of runs) run.endNow(status, DELIVER_MS);
}

function onCrash(error: unknown): void {
  for (const run of runs) run.crashed(error);
}

function onSignal(signal: NodeJS.Signals): void {
  for (const run of runs) run.flush();
  // Other listeners decide what happens; if that is the end, `exit` follows.
  if (process.listenerCount(signal) > 1) {
    wasSignalled = true;
    return;
  }
  for (const run of runs) run.endNow("killed", DELIVER_MS);
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
