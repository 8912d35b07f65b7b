import type { Page } from "playwright-core";

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Time of the processor in µs: a machine that is busy with something else does not count. */
  tdur?: number;
  args?: { name?: string };
}

/** The longest that the main thread of any page of the browser worked at a stretch during `act`, in ms of the processor. Clicks, keys and scrolling wait for as long. */
export async function longestTaskMs(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ["toplevel"] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) =>
      ph === "X" && name === "ThreadControllerImpl::RunTask" && mains.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error("the browser traced no task of a page");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}
