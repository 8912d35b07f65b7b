import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { FLOODS } from "#server/testing/floods.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Attack } from "./flooder.ts";
import { dose, tally } from "../../tools/dose.ts";
import { asNpmStart, CLEAN_HEAP, cleanRssBytes, cpuMs, objections, Paired, rssBytes } from "./measure.ts";

const FLOODS_EACH = dose(10, 60);
const WARM_UP_CALLS = 300;
const WARM_UP_FLOODS = 20;
/** During each. */
const RSS_GROWTH_BYTES_MAX = 64e6;
/** After all of them. */
const RSS_LEFT_BYTES_MAX = 32e6;
/** What a flood may cost at most, in calls of a healthy client. Answering the 1,000 streams of one would cost ten times that. */
const CALLS_PER_FLOOD_MAX = 100;

interface Subject extends Clients {
  server: ChildServer;
}

interface Both {
  control: number;
  victim: number;
}

async function startSubject(): Promise<Subject> {
  const server = await startChild(["--data", "memory:"], asNpmStart(CLEAN_HEAP));
  const clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  await clients.runs.createRun({ aliases: ["job"] });
  return { ...clients, server };
}

describe("S6 floods", () => {
  let control: Subject;
  let victim: Subject;
  let flooder: ChildProcess;
  /** What the healthy client's calls take by themselves is in both. */
  let rssBefore: Both;
  /** Processor time that a call of the healthy client takes. */
  let callMs: number;

  beforeAll(async () => {
    flooder = fork(new URL("flooder.ts", import.meta.url), { execArgv: [] });
    control = await startSubject();
    victim = await startSubject();
    // What slows down the very first ones is the compiler.
    for (const subject of [control, victim]) await callMany(subject);
    const before = cpuMs(control.server.child.pid!);
    await callMany(control);
    callMs = (cpuMs(control.server.child.pid!) - before) / WARM_UP_CALLS;
    rssBefore = await cleanRss();
    await attack(FLOODS[0]![0], WARM_UP_FLOODS);
  });
  afterAll(async () => {
    flooder.kill("SIGKILL");
    for (const { server } of [control, victim]) {
      server.child.kill("SIGKILL");
      await server.exited;
    }
  });

  async function callMany(subject: Subject): Promise<void> {
    for (let call = 0; call < WARM_UP_CALLS; call++) await find(subject);
  }

  /** What a healthy client does. */
  function find({ runs }: Subject): Promise<unknown> {
    return runs.getRun({ run: { alias: "job" } });
  }

  /** Of both processes. */
  function both(of: (pid: number) => number): Both {
    return { control: of(control.server.child.pid!), victim: of(victim.server.child.pid!) };
  }

  async function cleanRss(): Promise<Both> {
    return {
      control: await cleanRssBytes(control.server.child, () => find(control)),
      victim: await cleanRssBytes(victim.server.child, () => find(victim)),
    };
  }

  /** How much more the victim has taken since then than the other one. */
  function excess(before: Both, now: Both): number {
    return now.victim - before.victim - Math.max(0, now.control - before.control);
  }

  async function attack(name: string, times: number): Promise<void> {
    const port = Number(new URL(victim.server.url).port);
    flooder.send({ port, name, times } satisfies Attack);
    const [said] = (await once(flooder, "message")) as unknown[];
    expect(said).toEqual({ done: true });
    tally("floods", times);
  }

  /** Floods while a healthy client goes on, and says what was too much. */
  async function flood(name: string): Promise<string | undefined> {
    // Of each round: what V8 takes once to have room, and gives back when it is quiet, does not grow again.
    const rss = await cleanRss();
    const cpu = both(cpuMs);
    const paired = new Paired();
    let growth = 0;
    const over = new AbortController();
    const attacked = attack(name, FLOODS_EACH).finally(() => over.abort());
    // It is awaited below; until then a failure must not count as one that was overlooked.
    attacked.catch(() => {});
    while (!over.signal.aborted) {
      await paired.time(
        () => find(control),
        () => find(victim),
      );
      growth = Math.max(growth, excess(rss, both(rssBytes)));
    }
    await attacked;
    const floodMs = excess(cpu, both(cpuMs)) / FLOODS_EACH;
    const said =
      `a flood takes ${floodMs.toFixed(1)} ms of processor time, as much as ${(floodMs / callMs).toFixed(0)} calls; ` +
      `memory +${Math.round(growth / 1e6)} MB`;
    console.log(`${said}; ${paired.toString()}`);
    const isGood = floodMs <= CALLS_PER_FLOOD_MAX * callMs && growth < RSS_GROWTH_BYTES_MAX;
    return isGood ? undefined : said;
  }

  it.each(FLOODS)("S6 %s", async (name) => {
    expect(await objections(() => flood(name))).toEqual([]);
  });

  it("S6 leaves nothing behind", async () => {
    const open = async (): Promise<number> => {
      const text = await (await fetch(`${victim.server.url}/metrics`)).text();
      return Number(/^cairn_connections_open (\d+)$/m.exec(text)?.[1]);
    };
    await expect.poll(open).toBeLessThan(5);
    // V8 gives empty pages back when it has been quiet for some seconds, and looking is not being quiet.
    await expect
      .poll(async () => excess(rssBefore, await cleanRss()), { interval: 15_000 })
      .toBeLessThan(RSS_LEFT_BYTES_MAX);
  });
});
