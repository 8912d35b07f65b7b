/** How long a job may be held up by a server that is away or silent. */
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { init } from "#sdk/run/init.ts";
import type { InitOptions } from "#sdk/run/init-options.ts";
import type { Run } from "#sdk/run/run.ts";
import { AppRun } from "#sdk/tracker/app-run.ts";
import { CairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { allowedMs } from "../allowed-ms.ts";

/** Nothing listens there. */
const AWAY = "http://127.0.0.1:1";
const WRITERS = 20;

const folder = mkdtempSync(join(tmpdir(), "cairn-waits-"));
let silent: Server;
let silentUrl: string;

beforeAll(async () => {
  silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
});

afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await once(silent, "close");
  rmSync(folder, { recursive: true, force: true });
});

function begin(url: string, options: InitOptions = {}): Promise<Run> {
  return init({
    server: url,
    spool: join(folder, "spool"),
    capture: false,
    handleExit: false,
    heartbeatSeconds: 0,
    openMs: 300,
    backoff: { firstMs: 5, mostMs: 30, refusedMs: 30 },
    onNotice: () => {},
    ...options,
  });
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** All but one call in a hundred take no longer. */
function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

describe("how long a job waits", () => {
  it("C9 for a server that never answers: init for its deadline, log() and finish() not for it", async () => {
    let run!: Run;
    const beginMs = await tookMs(async () => (run = await begin(silentUrl)));
    expect(beginMs).toBeLessThan(await allowedMs(2_000));
    expect(run.id).toBeUndefined();
    const times: number[] = [];
    for (let i = 0; i < 20_000; i++) {
      const start = performance.now();
      run.log({ a: i });
      times.push(performance.now() - start);
    }
    expect(p99(times)).toBeLessThan(1);
    const endMs = await tookMs(async () => {
      const report = await run.finish("finished", { deadlineMs: 200 });
      expect(report).toMatchObject({ delivered: false, runId: undefined });
      expect(report.envelopesLeft).toBeGreaterThanOrEqual(21);
      expect(readdirSync(report.spool!)).toContain("00000001.frames");
    });
    expect(endMs).toBeLessThan(await allowedMs(2_000));
  });

  it(`C5 log() does not notice an outage of an hour, beside ${WRITERS - 1} other writers`, async () => {
    const runs = await Promise.all(
      Array.from({ length: WRITERS }, () => begin(AWAY, { backoff: { firstMs: 10, mostMs: 100 } })),
    );
    const times: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      for (let second = 0; second < 60; second++) {
        for (const run of runs) {
          const start = performance.now();
          run.log({ x: second }, { step: minute * 60 + second });
          times.push(performance.now() - start);
        }
      }
      for (const run of runs) run.flush();
      // What delivers them gets its turn.
      await sleep(1);
    }
    expect(p99(times)).toBeLessThan(1);
    await Promise.all(runs.map((run) => run.finish("finished", { deadlineMs: 1 })));
  });

  it("C15 for an unreachable server: finish() for its deadline", async () => {
    const run = await begin(AWAY, { openMs: 50 });
    run.log({ a: 1 });
    const endMs = await tookMs(() => run.finish("finished", { deadlineMs: 100 }));
    expect(endMs).toBeLessThan(await allowedMs(1_500));
  });

  it("X9 for an unreachable server: a tracker for its deadline, once", async () => {
    const tracker = new CairnTracker(new Cairn({ url: AWAY }), { timeoutMs: 1_000, report: () => {} });
    const run = new AppRun("job", [tracker], () => {});
    const allMs = await tookMs(async () => {
      await run.addSource("parent");
      for (let i = 0; i < 20; i++) await run.addMetadata({ i });
    });
    expect(run.failedWrites).toBe(20);
    expect(allMs).toBeLessThan(await allowedMs(5_000));
  });

  it("X9 for a server that never answers: a tracker for its deadline", async () => {
    const tracker = new CairnTracker(new Cairn({ url: silentUrl }), { timeoutMs: 1_000 });
    const readMs = await tookMs(() => expect(tracker.metadata("job")).rejects.toThrow());
    expect(readMs).toBeLessThan(await allowedMs(3_500));
  });
});
