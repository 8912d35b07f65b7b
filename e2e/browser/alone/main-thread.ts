import type { Page } from "playwright-core";

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** When it began, in µs. */
  ts: number;
  /** Time of the processor in µs: a machine that is busy with something else does not count. */
  tdur?: number;
  args?: { name?: string };
}

const MARK = "step ";

/**
 * The longest that the main thread of any page of the browser worked at a stretch during each of the steps, in ms of the processor. Clicks, keys and scrolling
 * wait for as long. The steps happen one after the other in a page that is not loaded again.
 */
export async function longestTasksMs(
  page: Page,
  steps: Readonly<Record<string, () => Promise<void>>>,
): Promise<Record<string, number>> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing"] });
  for (const [title, act] of Object.entries(steps)) {
    await page.evaluate(`performance.mark(${JSON.stringify(MARK + title)})`);
    await act();
  }
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const marks = traceEvents.filter(({ name }) => name.startsWith(MARK)).toSorted((a, b) => a.ts - b.ts);
  const tasks = mainThreadTasks(traceEvents);
  return Object.fromEntries(
    marks.map(({ name, ts }, i) => {
      const endTs = marks[i + 1]?.ts ?? Infinity;
      const own = tasks.filter((task) => task.ts >= ts && task.ts < endTs);
      return [name.slice(MARK.length), Math.max(...own.map(({ tdur = 0 }) => tdur)) / 1_000];
    }),
  );
}

function mainThreadTasks(events: readonly TraceEvent[]): TraceEvent[] {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return events.filter(
    ({ name, ph, pid, tid }) =>
      ph === "X" && name === "ThreadControllerImpl::RunTask" && mains.has(`${pid} ${tid}`),
  );
}
