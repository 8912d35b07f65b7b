import { fork, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { dose, isLong, tally } from "../../tools/dose.ts";
import { asNpmStart, CLEAN_HEAP, cleanRssBytes, objections, Paired, rssBytes } from "./measure.ts";
import type { CrowdCounts, CrowdStart } from "./slow-crowd.ts";

const SHORT_LIMITS = `--import=${new URL("short-limits.ts", import.meta.url).href}`;
const FLAGS = isLong ? [CLEAN_HEAP] : [CLEAN_HEAP, SHORT_LIMITS];
const SENDERS = dose(50, 500);
const READERS = dose(30, 200);
const BYTE_MS = dose(100, 1_000);
/** Of each round that is measured. */
const ROUND_MS = dose(3_000, 60_000);
/** What a reader that stalls asks for. A healthy one must get it in time as well, on a machine that is busy. */
const POINTS = dose(2_000, 20_000);
const WAKE_ROUNDS = dose(2, 10);
const WARM_UP_MS = dose(500, 5_000);
/** A slow machine measures longer, so that it has as many samples. */
const SAMPLES_MIN = dose(60, 600);
/** All times of the server's policy are well below; who does not read has twice 75 s at worst. */
const CLOSED_MS_MAX = 240_000;
const RSS_GROWTH_BYTES_MAX = 256e6;
const RSS_LEFT_BYTES_MAX = 64e6;
const FACTOR_MAX = 2;
/** What two processes on one machine may differ by for no reason. */
const SLACK_MS = 10;

interface Subject extends Clients {
  server: ChildServer;
  runId: string;
  seq: number;
}

async function startSubject(): Promise<Subject> {
  const folder = makeFolder();
  const server = await startChild(["--data", folder], asNpmStart(...FLAGS));
  onTestFinished(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true });
  });
  const clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  const { run } = await clients.runs.createRun({ namespace: "load", aliases: ["job"] });
  const values = Array.from({ length: POINTS }, (_, at) => Math.sin(at));
  const steps = values.map((_, at) => BigInt(at));
  // More than goes into the window of a client that does not read, of each kind.
  const lines = values.slice(0, 1_000).map((value) => `the value is ${value}`);
  await clients.metrics.writeEnvelope({
    run: { id: run!.id },
    series: [{ key: "large", steps, values }],
    log: [{ lines }],
  });
  return { ...clients, server, runId: run!.id, seq: 0 };
}

/** What somebody with a healthy connection does: writes, reads it back, looks for the run. */
function works(subject: Subject): (() => Promise<unknown>)[] {
  const run = { id: subject.runId };
  return [
    () => {
      const seq = BigInt(++subject.seq);
      const series = [{ key: "loss", steps: [seq], values: [subject.seq] }];
      return subject.metrics.writeEnvelope({
        run,
        writer: "healthy",
        seq,
        series,
        log: [{ lines: [`step ${seq}`] }],
      });
    },
    async () => {
      const { series } = await subject.metrics.readSeries({ series: [{ run, key: "loss" }], buckets: 100 });
      expect(Number(series[0]!.pointCount)).toBe(subject.seq);
    },
    async () => {
      const { totalCount } = await subject.runs.searchRuns({ query: 'alias = "job"' });
      expect(totalCount).toBe(1n);
    },
  ];
}

/** The threads that read start when they are needed. From then on they are part of any server. */
async function wakeReaders({ metrics, runId }: Subject): Promise<void> {
  const request = { series: [{ run: { id: runId }, key: "large" }] };
  for (let round = 0; round < WAKE_ROUNDS; round++) {
    await Promise.all(Array.from({ length: 20 }, () => metrics.readSeries(request)));
  }
}

async function measure(
  plain: Subject,
  loaded: Subject,
  durationMs: number,
  samplesMin: number,
): Promise<Paired> {
  const paired = new Paired();
  const loadedWorks = works(loaded);
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs || paired.samples < samplesMin) {
    for (const [at, work] of works(plain).entries()) await paired.time(work, loadedWorks[at]!);
  }
  return paired;
}

function startCrowd(start: CrowdStart): { child: ChildProcess; counts(): CrowdCounts } {
  const child = fork(new URL("slow-crowd.ts", import.meta.url), { execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let counts: CrowdCounts = {};
  child.on("message", (said) => (counts = said as CrowdCounts));
  child.send(start);
  return { child, counts: () => counts };
}

function sum(counts: CrowdCounts, which: "open" | "closed"): number {
  return Object.values(counts).reduce((total, count) => total + count[which], 0);
}

async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

it("R8, S19 hundreds of slow clients do not slow down a healthy one, take little memory, and are all closed", async () => {
  const control = await startSubject();
  const victim = await startSubject();
  const { url, child } = victim.server;
  const open = () => gauge(url, "cairn_connections_open");
  const accepted = () => gauge(url, "cairn_connections_accepted");
  for (const subject of [control, victim]) await wakeReaders(subject);
  await measure(control, victim, WARM_UP_MS, 1);
  const rssBefore = await cleanRssBytes(child, open);

  const acceptedBefore = await accepted();
  const crowd = startCrowd({
    port: Number(new URL(url).port),
    runId: victim.runId,
    key: "large",
    senders: SENDERS,
    readers: READERS,
    byteMs: BYTE_MS,
  });
  await expect.poll(accepted).toBeGreaterThanOrEqual(acceptedBefore + SENDERS + READERS);
  let rssMax = 0;
  const sampling = setInterval(() => (rssMax = Math.max(rssMax, rssBytes(child.pid!))), 200);
  onTestFinished(() => clearInterval(sampling));
  const slow = await objections(async () => {
    const paired = await measure(control, victim, ROUND_MS, SAMPLES_MIN);
    console.log(paired.toString());
    return paired.objection(FACTOR_MAX, SLACK_MS);
  });
  const openAtEnd = sum(crowd.counts(), "open");

  const endMs = performance.now();
  crowd.child.send("enough");
  const kindsOpen = () =>
    Object.entries(crowd.counts())
      .filter(([, { open: count }]) => count > 0)
      .map(([kind]) => kind);
  await expect.poll(kindsOpen, { timeout: CLOSED_MS_MAX, interval: 200 }).toEqual([]);
  clearInterval(sampling);
  console.log(
    `RSS +${Math.round((rssMax - rssBefore) / 1e6)} MB at most; last one closed ${Math.round((performance.now() - endMs) / 1000)} s later; ` +
      `closed ${JSON.stringify(crowd.counts())}`,
  );
  tally("slow clients", sum(crowd.counts(), "closed"));
  expect(openAtEnd).toBe(SENDERS + READERS);
  for (const [kind, { closed }] of Object.entries(crowd.counts())) expect(closed, kind).toBeGreaterThan(0);
  expect(slow).toEqual([]);
  expect(rssMax - rssBefore).toBeLessThan(RSS_GROWTH_BYTES_MAX);

  // What they held is given back: to the next client at once, to the system when the heap is cleaned.
  for (const name of ["cairn_bodies_bytes", "cairn_answers_bytes"]) {
    await expect.poll(() => gauge(url, name)).toBe(0);
  }
  await expect.poll(open).toBeLessThan(10);
  await expect
    .poll(async () => (await cleanRssBytes(child, open)) - rssBefore)
    .toBeLessThan(RSS_LEFT_BYTES_MAX);
  expect(await victim.system.verifyRun({ run: { id: victim.runId } })).toMatchObject({ problems: [] });
}, 900_000);
