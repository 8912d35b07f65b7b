import { launchChromium } from "../../e2e/browser/chromium.ts";
import { buildWeb } from "../../web/build.ts";
import { fillRuns } from "../fill.ts";
import type { Bench } from "../main.ts";
import { startServer } from "../server.ts";
import { measureCharts } from "../web/charts.ts";
import { measureLive } from "../web/live.ts";
import { measureMemory } from "../web/memory.ts";
import { measureStartUp } from "../web/start-up.ts";
import { measureTable } from "../web/table.ts";

const SPIN_MS = 500;

/** The bars of the pages, in a real browser against real servers. Frames are drawn without a graphics card. */
export async function benchWeb({ report, directory, scale }: Bench): Promise<void> {
  await buildWeb();
  report.add({
    what: "share of a core that a busy process gets",
    value: coreShare(),
    format: (value) => `${Math.round(100 * value)} %`,
    better: "higher",
    notes: "less than 100 %: other programs are running, and waits are longer by as much",
  });
  const browser = await launchChromium();
  try {
    const rows = 100_000 * scale;
    process.stderr.write(`filling a store with ${rows} runs\n`);
    const runIds = fillRuns(`${directory}/table`, rows, 20);
    const many = await startServer(`${directory}/table`);
    await measureStartUp(report, browser, many, runIds);
    await measureTable(report, browser, many, rows);
    await many.stop();
    const server = await startServer(`${directory}/charts`);
    await measureLive(report, browser, server);
    await measureCharts(report, browser, server, 100 * scale);
    await measureMemory(report, browser, server, scale);
    await server.stop();
  } finally {
    await browser.close();
  }
}

function coreShare(): number {
  const before = process.cpuUsage();
  const startMs = performance.now();
  while (performance.now() - startMs < SPIN_MS);
  const { user, system } = process.cpuUsage(before);
  return Math.min(1, (user + system) / 1_000 / (performance.now() - startMs));
}
