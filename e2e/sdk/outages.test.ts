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
import { dose, seed, tally } from "../../tools/dose.ts";
import { steadyPort } from "../steady-port.ts";
import { readNumbers, startJob, type Job } from "./job.ts";

const ROUNDS = dose(2, 25);
const ROUND_MS = 1_200;
const WRITERS = dose(10, 100);

/** What happens to the jobs of a round: each end is in every one of them. */
const ENDS = ["killed as it begins", "killed while it logs", "killed while it logs", "not killed"] as const;

const folder = mkdtempSync(join(tmpdir(), "cairn-outages-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that is killed and started again on the same port and data. */
class Mortal {
  readonly data: string;
  #port = 0;
  #server: ChildServer | undefined;

  constructor(data: string) {
    this.data = data;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#port ||= await steadyPort();
    this.#server = await startChild(["--data", this.data, "--port", String(this.#port)]);
  }

  async kill(): Promise<void> {
    this.#server?.child.kill("SIGKILL");
    await this.#server?.exited;
    this.#server = undefined;
  }
}

function randomFrom(start: number): (below: number) => number {
  let state = (start * 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Logs one point after the other and says how many have reached the spool. */
const JOB = `
const { SERVER, NAME, SPOOL, POINTS, CHUNK } = process.env;
const run = await cairn.init({
  server: SERVER, alias: NAME, namespace: "outages", spool: SPOOL, capture: false, openMs: 200,
  backoff: { firstMs: 20, mostMs: 150 }, onNotice: () => {},
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

interface Doomed {
  name: string;
  end: (typeof ENDS)[number];
  job: Job;
  points: number;
  /** It has said that something is in the spool. */
  begun: Promise<unknown>;
}

function startJobs(round: number, env: NodeJS.ProcessEnv, random: (below: number) => number): Doomed[] {
  return ENDS.map((end, i) => {
    const name = `job-${round}-${i}`;
    // One that is to be killed would run forever.
    const points = 100 + random(4_000);
    const job = startJob(JOB, {
      env: {
        ...env,
        NAME: name,
        POINTS: end === "not killed" ? String(points) : "Infinity",
        CHUNK: String(1 + random(30)),
      },
    });
    return { name, end, job, points, begun: Promise.race([once(job.child.stdout!, "data"), job.exited]) };
  });
}

/** Resolves when it was killed, or has ended by itself. */
async function endJob({ end, job, begun }: Doomed, afterMs: number): Promise<void> {
  if (end !== "not killed") {
    if (end === "killed while it logs") await begun;
    await sleep(afterMs);
    job.child.kill("SIGKILL");
  }
  await job.exited;
}

describe("outages", () => {
  it(`R11, C5: ${ROUNDS * ENDS.length} schedules of killed servers and killed jobs lose and repeat nothing (seed ${seed})`, async () => {
    const server = new Mortal(join(folder, "data"));
    const spool = join(folder, "spool");
    await server.start();
    const client = new Cairn({ url: server.url });
    for (let round = 0; round < ROUNDS; round++) {
      const what = `seed ${seed}, round ${round}`;
      const random = randomFrom(seed + round);
      const jobs = startJobs(round, { SERVER: server.url, SPOOL: spool }, random);
      const ends = jobs.map((job) => endJob(job, random(ROUND_MS)));
      await Promise.race(jobs.filter(({ end }) => end !== ENDS[0]).map(({ begun }) => begun));
      // One outage and two in turn.
      for (let outage = 0; outage <= (seed + round) % 2; outage++) {
        await sleep(random(ROUND_MS / 2));
        await server.kill();
        await sleep(random(300));
        await server.start();
        tally("outages", 1);
      }
      await Promise.all(ends);
      // Those that were killed while they logged have left something; or the schedules are not what they are meant to be.
      const left = readdirSync(spool).length;
      expect(left, what).toBeGreaterThanOrEqual(ENDS.filter((end) => end === "killed while it logs").length);
      const reports = await sync(spool, { connect: async (url) => new Cairn({ url }) });
      expect(
        reports.filter(({ isDone }) => !isDone),
        what,
      ).toEqual([]);
      expect(readdirSync(spool), what).toEqual([]);
      for (const { name, end, job, points } of jobs) {
        const { signal } = await job.exited;
        expect(signal, `${what}, ${name}: ${job.stderr()}`).toBe(end === "not killed" ? null : "SIGKILL");
        const found = await check(client, name, job, what);
        if (end === "not killed") expect(found, `${what}, ${name}`).toBe(points);
      }
      tally("outage schedules", jobs.length);
    }
    await server.kill();
  });

  it(`R11, C5: an outage of an hour loses nothing of ${WRITERS} writers`, async () => {
    const server = new Mortal(join(folder, "hour-data"));
    const spool = join(folder, "hour-spool");
    await server.start();
    const notices: string[] = [];
    const runs = [];
    for (let i = 0; i < WRITERS; i++) {
      const run = await init({
        server: server.url,
        name: `writer-${i}`,
        spool,
        capture: false,
        handleExit: false,
        backoff: { firstMs: 10, mostMs: 100 },
        onNotice: (text) => notices.push(text),
      });
      runs.push(run);
    }
    await server.kill();
    // A minute of training at a time, one point a second; its times say so.
    const beganUs = Date.now() * 1_000;
    for (let minute = 0; minute < 60; minute++) {
      for (let second = 0; second < 60; second++) {
        const step = minute * 60 + second;
        for (const run of runs) run.log({ x: value(step) }, { step, time: beganUs + step * 1_000_000 });
      }
      for (const run of runs) run.flush();
      // What delivers them gets its turn.
      await sleep(1);
    }
    await server.start();
    const reports = await Promise.all(runs.map((run) => run.finish("finished", { deadlineMs: 240_000 })));
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
    // Each reports once that the server is away, whatever the number of attempts.
    expect(notices.filter((text) => text.includes("cannot reach")).length).toBe(WRITERS);
    await server.kill();
  });
});

/** All that the job has said to be in the spool is there once, and nothing else. Returns how many points there are. */
async function check(client: Cairn, name: string, job: Job, what: string): Promise<number> {
  const printed = Number(job.lines.at(-1) ?? 0);
  let id: string;
  try {
    id = (await client.runs.getRun({ run: { alias: name, namespace: "outages" } })).id;
  } catch (thrown) {
    // One that was killed before it had begun has left nothing.
    expect(Failure.from(thrown).code, `${what}, ${name}`).toBe(Code.NotFound);
    expect(printed, `${what}, ${name}`).toBe(0);
    return 0;
  }
  const { steps, values } = await readNumbers(client, id, "x");
  expect(steps.length, `${what}, ${name}`).toBeGreaterThanOrEqual(printed);
  expect(steps, `${what}, ${name}`).toEqual(Array.from({ length: steps.length }, (_, step) => step));
  expect(values, `${what}, ${name}`).toEqual(steps.map(value));
  const { verdict, writers } = await client.system.verifyRun({ run: { id } });
  expect(verdict, `${what}, ${name}`).toMatch(/^(\d+) of \1 envelopes, 0 gaps$/);
  expect(writers.length, `${what}, ${name}`).toBeLessThanOrEqual(1);
  return steps.length;
}
