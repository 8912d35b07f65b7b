import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { writeCertificate } from "#server/testing/certificate.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { asNpmStart, rssBytes } from "../load/measure.ts";
import type { Target } from "./methods.ts";

export const VICTIMS = ["memory", "disk --auth", "TLS --auth"] as const;
export type VictimName = (typeof VICTIMS)[number];

/** More than the kernel buffers for a client that does not read. */
const LARGE_BYTES = 12 << 20;
const POINTS = 20_000;
const LINES = 1_000;
const QUIET_MS = 60_000;
const LOOK_EVERY_MS = 50;
const CLEAN_HEAP = fileURLToPath(new URL("../load/clean-heap.js", import.meta.url));
const ERROR_LEVEL = 50;
const LAST_WORDS_MS = 1_000;
const LAST_WORDS_MAX = 40;

/** What a server must have none of when only the test itself is connected. */
const HELD = ["cairn_bodies_bytes", "cairn_answers_bytes", "cairn_watchers"] as const;

export interface Vitals {
  handles: number;
  rssBytes: number;
}

/** A server in a process of its own, with something to read in it. */
export class Victim {
  readonly name: VictimName;
  readonly #server: ChildServer;
  readonly #folder: string;
  readonly #cert: string | undefined;
  readonly target: Target = { runId: "", token: undefined };
  #linesRead = 0;
  #isHarmed = false;

  static async start(name: VictimName): Promise<Victim> {
    const folder = mkdtempSync(join(tmpdir(), "cairn-aborts-"));
    const argv = ["--data", name === "disk --auth" ? join(folder, "data") : "memory:"];
    if (name !== "memory") argv.push("--auth");
    let cert: string | undefined;
    if (name === "TLS --auth") {
      const made = writeCertificate(folder);
      ({ cert } = made);
      argv.push(...made.argv);
    }
    const server = await startChild(argv, asNpmStart("--import", CLEAN_HEAP));
    const victim = new Victim(name, server, folder, cert);
    try {
      await victim.#plant();
    } catch (thrown) {
      await victim.stop();
      throw thrown;
    }
    return victim;
  }

  private constructor(name: VictimName, server: ChildServer, folder: string, cert: string | undefined) {
    this.name = name;
    this.#server = server;
    this.#folder = folder;
    this.#cert = cert;
    const token = server.greeting.map((line) => /^Admin token, .*: (\S+)$/.exec(line)?.[1]);
    this.target.token = token.find((found) => found !== undefined);
  }

  get isTls(): boolean {
    return this.#cert !== undefined;
  }

  get port(): number {
    return Number(new URL(this.#server.url).port);
  }

  /** Whether the server died or complained since it started. */
  get isHarmed(): boolean {
    const { child, log } = this.#server;
    this.#isHarmed ||= child.exitCode !== null || child.signalCode !== null;
    for (; this.#linesRead < log.length; this.#linesRead++) this.#isHarmed ||= isBad(log[this.#linesRead]!);
    return this.#isHarmed;
  }

  /** What became of the server; undefined when nothing is wrong with it. */
  async complaint(): Promise<string | undefined> {
    if (!this.isHarmed) return undefined;
    const { child, log, exited } = this.#server;
    // Last words come before the end, line by line.
    const gaveUp = AbortSignal.timeout(LAST_WORDS_MS);
    await Promise.race([exited, new Promise((resolve) => gaveUp.addEventListener("abort", resolve))]);
    const died = child.exitCode ?? child.signalCode;
    const words = log.filter(isBad).slice(0, LAST_WORDS_MAX);
    return `the server ${died === null ? "complained" : `ended with ${died}`}:\n${words.join("\n")}`;
  }

  /** Throws unless the server answers as it should. */
  async greet(): Promise<void> {
    const health = await this.#ask("GET", "/healthz");
    if (health.status !== 200) throw new Error(`/healthz answered ${health.status}`);
    const run = await this.#call("RunService/GetRun", { run: { id: this.target.runId } });
    if (run["id"] !== this.target.runId) throw new Error(`GetRun answered ${JSON.stringify(run)}`);
    await this.#call("MetricService/WriteEnvelope", { run: { alias: "scratch" }, params: { greeted: "1" } });
  }

  /** Handles and memory, once no client is connected and nothing is held for one. Throws when that does not come. */
  async quietVitals(): Promise<Vitals> {
    const child = this.#server.child;
    await until(QUIET_MS, async () => {
      const gauges = await this.#gauges();
      const open = gauges.get("cairn_connections_open");
      const held = HELD.filter((name) => gauges.get(name) !== 0);
      if (open === 1 && held.length === 0) return undefined;
      const rest = held.map((name) => `${name} ${gauges.get(name)}`);
      return `the server still holds something: ${[`cairn_connections_open ${open}`, ...rest].join(", ")}`;
    });
    // Collects garbage first, so that only what is still referenced is measured.
    child.kill("SIGUSR2");
    await this.greet();
    return { handles: readdirSync(`/proc/${child.pid}/fd`).length, rssBytes: rssBytes(child.pid!) };
  }

  async stop(): Promise<void> {
    this.#server.child.kill("SIGKILL");
    await this.#server.exited;
    rmSync(this.#folder, { recursive: true });
  }

  async #plant(): Promise<void> {
    const create = (alias: string) =>
      this.#call("RunService/CreateRun", { namespace: "aborts", name: alias, aliases: [alias] });
    const made = await create("target");
    this.target.runId = (made["run"] as { id: string }).id;
    await create("scratch");
    await this.#call("MetricService/WriteEnvelope", {
      run: { id: this.target.runId },
      series: [{ key: "loss", values: Array.from({ length: POINTS }, (_, i) => i / 7) }],
      log: [{ lines: Array.from({ length: LINES }, (_, i) => `line ${i}`) }],
    });
    const path = `/artifacts/${this.target.runId}/large`;
    const stored = await this.#ask("PUT", path, Buffer.alloc(LARGE_BYTES, "large"), "text/plain");
    if (stored.status >= 300) throw new Error(`PUT ${path} answered ${stored.status}: ${stored.body}`);
  }

  async #gauges(): Promise<Map<string, number>> {
    const { status, body } = await this.#ask("GET", "/metrics");
    if (status !== 200) throw new Error(`/metrics answered ${status}`);
    return new Map([...body.matchAll(/^(\w+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
  }

  async #call(method: string, message: object): Promise<Record<string, unknown>> {
    const bytes = Buffer.from(JSON.stringify(message));
    const { status, body } = await this.#ask("POST", `/cairn.v1.${method}`, bytes, "application/json");
    if (status !== 200) throw new Error(`${method} answered ${status}: ${body}`);
    return JSON.parse(body) as Record<string, unknown>;
  }

  /** On a connection of its own, which is closed with the answer. */
  async #ask(
    method: string,
    path: string,
    body?: Buffer,
    type?: string,
  ): Promise<{ status: number; body: string }> {
    const { token } = this.target;
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(type !== undefined && { "content-type": type }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const options = { method, headers, agent: false, timeout: QUIET_MS, ca: this.#cert };
    const asked = (this.isTls ? requestTls : request)(new URL(path, this.#server.url), options);
    asked.on("timeout", () => asked.destroy(new Error(`${method} ${path} was not answered`)));
    asked.on("error", reject);
    asked.on("response", (response) => {
      const { statusCode } = response;
      buffer(response).then((bytes) => resolve({ status: statusCode!, body: bytes.toString() }), reject);
    });
    asked.end(body);
    return promise;
  }
}

/** Standard error is pino's lines of JSON; anything else is Node's own last words. */
function isBad(line: string): boolean {
  if (line.includes('"uncaught')) return true;
  try {
    return (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL;
  } catch {
    return true;
  }
}

/** Asks again and again until there is nothing to say against it; throws what there was to say last. */
export async function until(deadlineMs: number, objection: () => Promise<string | undefined>): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const said = await objection();
    if (said === undefined) return;
    if (performance.now() > endMs) throw new Error(said);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
