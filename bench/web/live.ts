import type { Browser } from "playwright-core";
import { call } from "../client.ts";
import { milliseconds, quantile, type Report } from "../report.ts";
import type { BenchServer } from "../server.ts";
import { ask, openPage, pause, spread } from "./open-page.ts";

const DRAWN_MS_MAX = 1_000;
const POINTS = 100;
const EVERY_MS = 200;
const NAMESPACE = "live";
const METRIC = "loss";

/** From the acknowledgement of a point to its paint in an open page with table and charts. */
export async function measureLive(report: Report, browser: Browser, server: BenchServer): Promise<void> {
  const { run } = await call<{ run: { id: string } }>(server.url, "RunService/CreateRun", {
    namespace: NAMESPACE,
    name: "live",
  });
  const log = (value: number) =>
    call(server.url, "MetricService/WriteEnvelope", {
      run: { id: run.id },
      series: [{ key: METRIC, steps: [value], values: [value] }],
    });
  await log(0);
  const columns = encodeURIComponent(JSON.stringify(["name", "status", `metrics.${METRIC}.last`]));
  const { page, close } = await openPage(browser, `${server.url}/n/${NAMESPACE}?cols=${columns}`);
  await page.locator('[role="img"] canvas').first().waitFor();
  await ask(page, "globalThis.drawn = probe.watchNumbers(); undefined");
  await ask(page, "probe.numbersPainted(drawn, 0)");
  const acked: number[] = [0];
  for (let value = 1; value <= POINTS; value++) {
    await log(value);
    acked.push(Date.now());
    // Points must not synchronize with timers of the page.
    await pause(EVERY_MS * (0.5 + Math.random()));
  }
  await ask(page, `probe.numbersPainted(drawn, ${POINTS})`);
  const drawn = await ask<Record<"chart" | "table", number[]>>(page, "drawn");
  await close();
  for (const place of ["chart", "table"] as const) {
    const late = acked.slice(1).map((ackMs, i) => Math.max(0, drawn[place][i + 1]! - ackMs));
    report.add({
      what: `web, point acknowledged to drawn in the ${place}, p95 of ${POINTS}`,
      value: quantile(late, 0.95),
      format: milliseconds,
      bar: DRAWN_MS_MAX,
      stretch: DRAWN_MS_MAX / 2,
      better: "lower",
      notes: spread(late),
    });
  }
}
