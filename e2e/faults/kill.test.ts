import { rmSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { FLOOD, generator } from "./content.ts";
import { Writer } from "./writer.ts";

const TRIALS = 200;
const TRIALS_PER_FOLDER = 25;
const READY_MS_MAX = 2_000;

/** A data folder with the writers that write to it, over many servers that are killed. */
class Victim {
  readonly folder = makeFolder();
  readonly readyMs: number[] = [];
  #writers: Writer[] = [];
  /** Up to where each writer's envelopes are stored, as of the last check. */
  #stored = new Map<Writer, number>();
  #expected = new Map<Writer, Map<string, { steps: number[]; values: number[] }>>();
  #server: ChildServer | undefined;

  async start(): Promise<Clients> {
    this.#server = await startChild(["--data", this.folder]);
    this.readyMs.push(this.#server.readyMs);
    return clientsOf(createGrpcTransport({ baseUrl: this.#server.url }));
  }

  async prepare({ runs }: Clients): Promise<void> {
    for (const alias of ["one", "two"]) {
      const { run } = await runs.createRun({ namespace: "faults/kill", aliases: [alias] });
      const { id } = run!;
      this.#writers.push(
        new Writer(id, `${alias}-a`),
        new Writer(id, `${alias}-b`),
        new Writer(id, `${alias}-s`, 8),
      );
    }
    const flood = new Writer(this.#writers[0]!.runId, FLOOD);
    this.#writers.push(flood);
    // Nearly as much as the log holds before it is folded, so that the folding falls into the trials.
    await flood.writeSome(createGrpcTransport({ baseUrl: this.#server!.url }), 12);
    for (const writer of this.#writers) this.#stored.set(writer, 0);
  }

  /** Writes until the server is killed, `delayMs` after it has acknowledged something. */
  async writeAndKill(delayMs: number, flood: boolean): Promise<void> {
    const { url } = this.#server!;
    const grpc = createGrpcTransport({ baseUrl: url });
    const connect = createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true });
    const begun = Promise.withResolvers<void>();
    const writing = this.#writers
      .filter(({ name }) => flood || name !== FLOOD)
      .map((writer) => {
        const transport = writer.name.endsWith("-b") ? connect : grpc;
        return writer.write(transport, this.#stored.get(writer)!, begun.resolve);
      });
    // A writer that the server has lied to ends before it is killed.
    await Promise.race([begun.promise, Promise.all(writing)]);
    await after(delayMs);
    await this.kill();
    await Promise.all(writing);
  }

  async kill(): Promise<void> {
    this.#server!.child.kill("SIGKILL");
    await this.#server!.exited;
  }

  /** Ends a server before it is ready, or just as it is. */
  async killWhileStarting(delayMs: number): Promise<void> {
    const starting = startChild(["--data", this.folder], {
      onSpawn: (child) => setTimeout(() => child.kill("SIGKILL"), delayMs),
    });
    const server = await starting.catch(() => undefined);
    await server?.exited;
  }

  /** Everything acknowledged is there once and bit for bit; what was not is there as a whole or not at all. */
  async check({ runs, metrics, system }: Clients, thorough: boolean): Promise<void> {
    for (const runId of new Set(this.#writers.map((writer) => writer.runId))) {
      const verified = await system.verifyRun({ run: { id: runId } });
      expect(verified.problems).toEqual([]);
      expect(verified.verdict).toContain(", 0 gaps");
      const { params } = await runs.getRun({ run: { id: runId } });
      const own = this.#writers.filter((writer) => writer.runId === runId);
      const expectedParams: Record<string, string> = {};
      let points = 0;
      for (const writer of own) {
        const ledger = verified.writers.find(({ writer: name }) => name === writer.name);
        const stored = Number(ledger?.lastSeq ?? 0);
        expect(Number(ledger?.envelopes ?? 0), writer.name).toBe(stored);
        expect(stored, `${writer.name}: acknowledged`).toBeGreaterThanOrEqual(writer.acknowledged);
        expect(stored, `${writer.name}: sent`).toBeLessThanOrEqual(writer.sent);
        points += await this.#checkSeries(metrics, writer, stored);
        for (let seq = stored; seq > 0; seq--) {
          const last = Object.entries(writer.content(seq).params)[0];
          if (last === undefined) continue;
          expectedParams[last[0]] = last[1];
          break;
        }
      }
      expect(params).toEqual(expectedParams);
      expect(Number(verified.points)).toBe(points);
    }
    const found = await runs.searchRuns({ namespace: "faults/kill" });
    expect(found.totalCount).toBe(2n);
    if (thorough) expect(await system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
  }

  /** Gives how many points the writer has stored. */
  async #checkSeries(metrics: Clients["metrics"], writer: Writer, stored: number): Promise<number> {
    const series = this.#expected.get(writer) ?? new Map<string, { steps: number[]; values: number[] }>();
    this.#expected.set(writer, series);
    for (let seq = this.#stored.get(writer)! + 1; seq <= stored; seq++) {
      for (const { key, steps, values } of writer.content(seq).series) {
        const known = series.get(key) ?? { steps: [], values: [] };
        series.set(key, known);
        known.steps.push(...steps);
        known.values.push(...values);
      }
    }
    this.#stored.set(writer, stored);
    if (series.size === 0) return 0;
    const keys = [...series.keys()];
    const read = await metrics.readSeries({
      series: keys.map((key) => ({ run: { id: writer.runId }, key })),
    });
    let points = 0;
    for (const key of keys) {
      const { steps, values } = series.get(key)!;
      const data = read.series.find((one) => one.key === key);
      expect(
        Buffer.compare(data?.values?.bytes ?? Buffer.alloc(0), bytesOf(values)),
        `values of ${key}`,
      ).toBe(0);
      expect(Buffer.compare(data?.steps?.bytes ?? Buffer.alloc(0), bytesOf(steps)), `steps of ${key}`).toBe(
        0,
      );
      points += values.length;
    }
    return points;
  }

  get acknowledged(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  }

  get points(): number {
    let points = 0;
    for (const series of this.#expected.values()) {
      for (const { values } of series.values()) points += values.length;
    }
    return points;
  }

  async remove(): Promise<void> {
    this.#server?.child.kill("SIGKILL");
    await this.#server?.exited;
    rmSync(this.folder, { recursive: true });
  }
}

function bytesOf(values: readonly number[]): Buffer {
  return Buffer.from(Float64Array.from(values).buffer);
}

it("D2, E6 R1 what was acknowledged survives kill -9 at any moment, and envelopes are there whole or not at all", async () => {
  const seed = Number(process.env["CAIRN_SEED"] ?? Date.now() % 1_000_000);
  const random = generator(seed);
  const readyMs: number[] = [];
  let envelopes = 0;
  let points = 0;
  const started = performance.now();
  let victim = new Victim();
  onTestFinished(() => victim.remove());
  for (let trial = 0; trial < TRIALS; trial++) {
    if (trial % TRIALS_PER_FOLDER === 0 && trial > 0) {
      envelopes += victim.acknowledged;
      points += victim.points;
      await victim.remove();
      victim = new Victim();
    }
    try {
      if (trial % 10 === 9) await victim.killWhileStarting(random() * 500);
      const clients = await victim.start();
      if (trial % TRIALS_PER_FOLDER === 0) await victim.prepare(clients);
      else await victim.check(clients, trial % 20 === 0);
      readyMs.push(victim.readyMs.at(-1)!);
      await victim.writeAndKill(5 + random() * 145, trial % 3 === 2);
    } catch (thrown) {
      throw new Error(`trial ${trial} of seed ${seed}`, { cause: thrown });
    }
  }
  await victim.check(await victim.start(), true);
  envelopes += victim.acknowledged;
  points += victim.points;
  const seconds = Math.round((performance.now() - started) / 1_000);
  const slowest = Math.round(Math.max(...readyMs));
  console.log(
    `${TRIALS} kills in ${seconds} s, ${envelopes} envelopes with ${points} points, ready after ${slowest} ms at most`,
  );
  expect(slowest).toBeLessThan(READY_MS_MAX);
}, 900_000);
