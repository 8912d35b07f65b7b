import { setTimeout } from "node:timers/promises";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { FLOODS } from "#server/testing/floods.ts";
import { FRAME, frame, PREFACE } from "#server/testing/frames.ts";
import { RawClient } from "#server/testing/raw-client.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { asNpmStart, Paired, rssBytes } from "./measure.ts";

const FLOODS_EACH = 30;
const PAUSE_MS = 100;
const WINDOW_MS = 1_500;
const RSS_BYTES_MAX = 400e6;
/** Beyond what it took to meet each of them for the first time. */
const RSS_GROWTH_BYTES_MAX = 128e6;
const FACTOR_MAX = 2;
/** The flood is made in this process, between the calls that are timed. */
const SLACK_MS = 20;

interface Subject extends Clients {
  server: ChildServer;
}

async function startSubject(): Promise<Subject> {
  const server = await startChild(["--data", "memory:"], { env: asNpmStart() });
  const clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  await clients.runs.createRun({ aliases: ["job"] });
  return { ...clients, server };
}

describe("S6 floods", () => {
  let control: Subject;
  let victim: Subject;
  /** The most memory it has had so far: what was in use once may be in use again. */
  let rssMax = 0;

  beforeAll(async () => {
    control = await startSubject();
    victim = await startSubject();
    // A server that has met each of them once has loaded and compiled what it takes.
    for (const [, bytes] of FLOODS) {
      await attack(bytes(), 15, 0);
      rssMax = Math.max(rssMax, rssBytes(victim.server.child.pid!));
    }
  });
  afterAll(async () => {
    for (const { server } of [control, victim]) {
      server.child.kill("SIGKILL");
      await server.exited;
    }
  });

  /** Again and again, each time until the server has closed the connection. */
  async function attack(bytes: Buffer, times: number, pauseMs: number): Promise<void> {
    const port = Number(new URL(victim.server.url).port);
    for (let time = 0; time < times; time++) {
      const attacker = await RawClient.connect(port);
      attacker.socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), bytes]));
      await attacker.closed();
      await setTimeout(pauseMs);
    }
  }

  it.each(FLOODS)("S6 %s", async (_name, bytes) => {
    const pid = victim.server.child.pid!;
    const before = Math.max(rssMax, rssBytes(pid));
    const paired = new Paired(WINDOW_MS);
    const over = new AbortController();
    const attacked = attack(bytes(), FLOODS_EACH, PAUSE_MS).finally(() => over.abort());
    const find =
      ({ runs }: Subject) =>
      () =>
        runs.getRun({ run: { alias: "job" } });
    for (let round = 0; !over.signal.aborted; round++) {
      const pair = [() => paired.time("plain", find(control)), () => paired.time("loaded", find(victim))];
      if (round % 2 === 1) pair.reverse();
      for (const one of pair) await one();
      rssMax = Math.max(rssMax, rssBytes(pid));
    }
    await attacked;
    const { plainMs, loadedMs, samples } = paired.summary(0.5);
    console.log(
      `${samples} samples, p50 ${plainMs.toFixed(1)} ms alone, ` +
        `${loadedMs.toFixed(1)} ms beside; RSS +${Math.round((rssMax - before) / 1e6)} to ${Math.round(rssMax / 1e6)} MB`,
    );
    expect(rssMax - before).toBeLessThan(RSS_GROWTH_BYTES_MAX);
    expect(rssMax).toBeLessThan(RSS_BYTES_MAX);
    expect(paired.isBreached(0.5, FACTOR_MAX, SLACK_MS)).toBe(false);
  });

  it("S6 leaves nothing behind", async () => {
    const open = async (): Promise<number> => {
      const text = await (await fetch(`${victim.server.url}/metrics`)).text();
      return Number(/^cairn_connections_open (\d+)$/m.exec(text)?.[1]);
    };
    await expect.poll(open, { timeout: 20_000 }).toBeLessThan(5);
  });
});
