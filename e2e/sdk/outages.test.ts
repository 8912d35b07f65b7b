import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { init } from "#sdk/run/init.ts";
import { sync } from "#sdk/sync.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { readNumbers, startJob, type Job } from "./job.ts";

const SEED = Number(process.env["CAIRN_SEED"] ?? Date.now() % 1_000_000);
const ROUNDS = 25;
const JOBS = 4;
const ROUND_MS = 1_200;

const folder = mkdtempSync(join(tmpdir(), "cairn-outages-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that is killed and started again on the same port and data. */
class Mortal {
  readonly data: string;
  port = 0;
  #server: ChildServer | undefined;

  constructor(data: string) {
    this.data = data;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.#server = await startChild(["--data", this.data, "--port", String(this.port)]);
    this.port = Number(new URL(this.#server.url).port);
  }

  async kill(): Promise<void> {
    this.#server?.child.kill("SIGKILL");
    await this.#server?.exited;
    this.#server = undefined;
  }
}

function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Logs one point after the other and says how many have reached the spool; some finish, most go on for ever. */
const JOB = `
const { SERVER, NAME, SPOOL, POINTS, CHUNK } = process.env;
const run = await cairn.init({
  server: SERVER, alias: NAME, namespace: "outages", spool: SPOOL, capture: false, openMs: 200,
  backoff: { firstMs: 20, mostMs: 150 }, tell: () => {},
});
for (let step = 0; step < Number(POINTS); step++) {
  run.log({ x: step * 1.5 }, { step });
  if (step % Number(CHUNK) !== 0) continue;
  run.flush();
  console.log(step + 1);
  await new Promise((resolve) => setTimeout(resolve, 1));
}
run.flush();
console.log(Number(POINTS));
await run.finish("finished", { deadlineMs: 100 });
`;

const value = (step: number) => step * 1.5;

describe("outages", () => {
  it(`R11, C5: ${ROUNDS * JOBS} schedules of killed servers and killed jobs lose and repeat nothing (seed ${SEED})`, async () => {
    const server = new Mortal(join(folder, "data"));
    const spool = join(folder, "spool");
    await server.start();
    const client = new Cairn({ url: server.url });
    let points = 0;
    let killed = 0;
    let leftovers = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const random = randomFrom(SEED + round);
      const jobs = Array.from({ length: JOBS }, (_, i) => {
        const name = `job-${round}-${i}`;
        const env = {
          SERVER: server.url,
          NAME: name,
          SPOOL: spool,
          POINTS: String(100 + random(4_000)),
          CHUNK: String(1 + random(30)),
        };
        const job = startJob(JOB, { env });
        const begun = Promise.race([once(job.child.stdout!, "data"), job.exited]);
        // Most are killed while they log, some already while they begin, some not at all.
        const chance = random(10);
        const doom = chance < 7 ? random(ROUND_MS) : undefined;
        return { name, job, begun: chance === 0 ? undefined : begun, doom };
      });
      const deaths = jobs.map(async ({ job, begun, doom }) => {
        if (doom === undefined) return;
        await begun;
        await sleep(doom);
        if (job.child.kill("SIGKILL")) killed++;
      });
      await Promise.race(jobs.map(({ begun, job }) => begun ?? job.exited));
      for (let outage = 0; outage < 1 + random(2); outage++) {
        await sleep(random(ROUND_MS / 2));
        await server.kill();
        await sleep(random(300));
        await server.start();
      }
      await Promise.all(deaths);
      await Promise.all(jobs.map(({ job }) => job.exited));
      leftovers += readdirSync(spool).length;
      const reports = await sync(spool, { connect: async (url) => new Cairn({ url }) });
      expect(
        reports.filter(({ isDone }) => !isDone),
        `round ${round}`,
      ).toEqual([]);
      expect(readdirSync(spool), `round ${round}`).toEqual([]);
      for (const { name, job } of jobs) points += await check(client, name, job, `round ${round}`);
    }
    await server.kill();
    // The schedules must be what they are meant to be: seven in ten are to be killed, and about half of these have not ended by then.
    expect(killed).toBeGreaterThan((ROUNDS * JOBS) / 5);
    expect(leftovers).toBeGreaterThan(ROUNDS / 2);
    expect(points).toBeGreaterThan(ROUNDS * 1_000);
  });

  it("R11, C5: an outage of an hour loses nothing of a hundred writers, and log() does not notice", async () => {
    const server = new Mortal(join(folder, "hour-data"));
    const spool = join(folder, "hour-spool");
    await server.start();
    const told: string[] = [];
    const runs = [];
    for (let i = 0; i < 100; i++) {
      const run = await init({
        server: server.url,
        name: `writer-${i}`,
        spool,
        capture: false,
        handleExit: false,
        backoff: { firstMs: 10, mostMs: 100 },
        tell: (text) => told.push(text),
      });
      runs.push(run);
    }
    await server.kill();
    // A minute of training at a time, one point a second; its times say so.
    const times: number[] = [];
    const beganUs = Date.now() * 1_000;
    for (let minute = 0; minute < 60; minute++) {
      for (let second = 0; second < 60; second++) {
        const step = minute * 60 + second;
        for (const run of runs) {
          const before = performance.now();
          run.log({ x: value(step) }, { step, time: beganUs + step * 1_000_000 });
          times.push(performance.now() - before);
        }
      }
      for (const run of runs) run.flush();
      await sleep(1);
    }
    times.sort((a, b) => a - b);
    expect(times[Math.floor(times.length * 0.99)]!).toBeLessThan(1);
    await server.start();
    const began = performance.now();
    const reports = await Promise.all(runs.map((run) => run.finish("finished", { deadlineMs: 120_000 })));
    const seconds = (performance.now() - began) / 1_000;
    expect(reports.filter(({ delivered, lost, refused }) => !delivered || lost > 0 || refused > 0)).toEqual(
      [],
    );
    const client = new Cairn({ url: server.url });
    for (const { id } of runs) {
      const { steps, values } = await readNumbers(client, id!, "x");
      expect(steps).toEqual(Array.from({ length: 3_600 }, (_, step) => step));
      expect(values).toEqual(steps.map(value));
      const { verdict } = await client.system.verifyRun({ run: { id: id! } });
      expect(verdict).toMatch(/^(\d+) of \1 envelopes, 0 gaps$/);
    }
    // Each is told once that the server is away, whatever the number of attempts.
    expect(told.filter((text) => text.includes("cannot reach")).length).toBe(100);
    console.log(`360000 points in ${seconds.toFixed(1)} s, ${Math.round(360_000 / seconds)} a second`);
    await server.kill();
  });
});

/** All that the job has said to be in the spool is there once, and nothing else. Gives how many points there are. */
async function check(client: Cairn, name: string, job: Job, what: string): Promise<number> {
  const told = Number(job.lines.at(-1) ?? 0);
  let id: string;
  try {
    id = (await client.runs.getRun({ run: { alias: name, namespace: "outages" } })).id;
  } catch (thrown) {
    // One that was killed before it had begun has left nothing.
    expect(Failure.from(thrown).code, `${what}, ${name}`).toBe(Code.NotFound);
    expect(told, `${what}, ${name}`).toBe(0);
    return 0;
  }
  const { steps, values } = await readNumbers(client, id, "x");
  expect(steps.length, `${what}, ${name}`).toBeGreaterThanOrEqual(told);
  expect(steps, `${what}, ${name}`).toEqual(Array.from({ length: steps.length }, (_, step) => step));
  expect(values, `${what}, ${name}`).toEqual(steps.map(value));
  const { verdict, writers } = await client.system.verifyRun({ run: { id } });
  expect(verdict, `${what}, ${name}`).toMatch(/^(\d+) of \1 envelopes, 0 gaps$/);
  expect(writers.length, `${what}, ${name}`).toBeLessThanOrEqual(1);
  return steps.length;
}
