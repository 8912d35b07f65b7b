import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { FLOODS } from "#server/testing/floods.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Attack } from "./flooder.ts";
import { asNpmStart, Paired, rssBytes } from "./measure.ts";

const CLEAN_HEAP = new URL("clean-heap.js", import.meta.url).href;
const FLOODS_EACH = 30;
const PAUSE_MS = 100;
const WINDOW_MS = 1_500;
const WARM_UP_CALLS = 300;
const WARM_UP_FLOODS = 20;
/** During each, and after all of them. */
const RSS_GROWTH_BYTES_MAX = 64e6;
const P99_FACTOR_MAX = 2;
/** Half of it is what Node takes for one read of a socket that holds nothing but streams and resets. */
const SLACK_MS = 15;

interface Subject extends Clients {
  server: ChildServer;
}

async function startSubject(): Promise<Subject> {
  const server = await startChild(["--data", "memory:"], { env: asNpmStart(`--import=${CLEAN_HEAP}`) });
  const clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  await clients.runs.createRun({ aliases: ["job"] });
  return { ...clients, server };
}

describe("S6 floods", () => {
  let control: Subject;
  let victim: Subject;
  let flooder: ChildProcess;
  /** What the healthy client's calls take by themselves is in both. */
  let rssBefore: { control: number; victim: number };

  beforeAll(async () => {
    flooder = fork(new URL("flooder.ts", import.meta.url), { execArgv: [] });
    control = await startSubject();
    victim = await startSubject();
    for (const { runs } of [control, victim]) {
      for (let call = 0; call < WARM_UP_CALLS; call++) await runs.getRun({ run: { alias: "job" } });
    }
    rssBefore = await cleanRssBytes();
    // What slows down the very first ones is the compiler.
    await attack(FLOODS[0]![0], WARM_UP_FLOODS);
  });
  afterAll(async () => {
    flooder.kill("SIGKILL");
    for (const { server } of [control, victim]) {
      server.child.kill("SIGKILL");
      await server.exited;
    }
  });

  /** Without what nobody holds any more. */
  async function cleanRssBytes(): Promise<{ control: number; victim: number }> {
    for (const { server, runs } of [control, victim]) {
      server.child.kill("SIGUSR2");
      await runs.getRun({ run: { alias: "job" } });
    }
    return rssNow();
  }

  function rssNow(): { control: number; victim: number } {
    return { control: rssBytes(control.server.child.pid!), victim: rssBytes(victim.server.child.pid!) };
  }

  /** How much more memory the victim has taken since then than the other one. */
  function growthBytes(before: typeof rssBefore, now = rssNow()): number {
    return now.victim - before.victim - Math.max(0, now.control - before.control);
  }

  async function attack(name: string, times: number): Promise<void> {
    const port = Number(new URL(victim.server.url).port);
    flooder.send({ port, name, times, pauseMs: PAUSE_MS } satisfies Attack);
    const [said] = (await once(flooder, "message")) as unknown[];
    expect(said).toEqual({ done: true });
  }

  it.each(FLOODS)("S6 %s", async (name) => {
    const before = await cleanRssBytes();
    let growthMax = 0;
    const paired = new Paired(WINDOW_MS);
    const over = new AbortController();
    const attacked = attack(name, FLOODS_EACH).finally(() => over.abort());
    const find =
      ({ runs }: Subject) =>
      () =>
        runs.getRun({ run: { alias: "job" } });
    for (let round = 0; !over.signal.aborted; round++) {
      const pair = [() => paired.time("plain", find(control)), () => paired.time("loaded", find(victim))];
      if (round % 2 === 1) pair.reverse();
      for (const one of pair) await one();
      growthMax = Math.max(growthMax, growthBytes(before));
    }
    await attacked;
    const { plainMs, loadedMs, ratio, samples } = paired.summary(0.99);
    console.log(
      `${samples} samples, p99 ${plainMs.toFixed(1)} ms alone, ${loadedMs.toFixed(1)} ms beside, ` +
        `x${ratio.toFixed(2)} in the median window; RSS +${Math.round(growthMax / 1e6)} MB`,
    );
    expect(growthMax).toBeLessThan(RSS_GROWTH_BYTES_MAX);
    expect(paired.isBreached(0.99, P99_FACTOR_MAX, SLACK_MS)).toBe(false);
  });

  it("S6 leaves nothing behind", async () => {
    const open = async (): Promise<number> => {
      const text = await (await fetch(`${victim.server.url}/metrics`)).text();
      return Number(/^cairn_connections_open (\d+)$/m.exec(text)?.[1]);
    };
    await expect.poll(open).toBeLessThan(5);
    expect(growthBytes(rssBefore, await cleanRssBytes())).toBeLessThan(RSS_GROWTH_BYTES_MAX);
  });
});
