/**
 * A run may have 34 MB of texts, and a connection 256 calls: what they would take together is more than any heap. The
 * server has a small one here, and the client does not read the answers.
 */
import { readFileSync, rmSync } from "node:fs";
import { connect, type ClientHttp2Session } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { frame } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { asNpmStart, cpuMs } from "./measure.ts";

const HEAP_MB = 768;
/** The heap and six loads are 1.9 to 2.1 GB; all calls together would be over 8. */
const RSS_BYTES_MAX = 2.5e9;
const CALLS = 256;
const PATIENCE_MS = 120_000;
/** Six loads and what else is under way; all 256 would take twenty times as long. */
const ROUND_CPU_MS_MAX = 5_000;

describe("S27, S28 answers that are large", () => {
  const folder = makeFolder();
  let server: ChildServer;
  let clients: Clients;
  let large: { id: string };
  let small: { id: string };

  beforeAll(async () => {
    const options = asNpmStart(`--max-old-space-size=${HEAP_MB}`);
    server = await startChild(["--data", folder], options);
    clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
    const { runs } = clients;
    const text = "y".repeat(60_000);
    const made = await runs.createRun({
      namespace: "large",
      aliases: ["large"],
      params: Object.fromEntries(Array.from({ length: 260 }, (_, i) => [`p${i}`, JSON.stringify(text)])),
      provenance: { command: Array.from({ length: 120 }, () => text) },
      notes: "n".repeat(1e6),
    });
    large = { id: made.run!.id };
    const tags = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`t${i}`, "z".repeat(8_000)]));
    await runs.updateRun({ run: large, tags });
    await clients.metrics.writeEnvelope({
      run: large,
      log: [{ lines: Array.from({ length: 80 }, () => text) }],
    });
    small = { id: (await runs.createRun({ namespace: "large", params: { lr: "0.1" } })).run!.id };
  }, PATIENCE_MS);

  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true });
  });

  /** Requests at once on a connection of their own, whose answers are not read; the status of each that has one. */
  function ask(path: string, message?: object): { session: ClientHttp2Session; statuses: number[] } {
    const session = connect(server.url);
    session.on("error", () => {});
    const statuses: number[] = [];
    for (let i = 0; i < CALLS; i++) {
      const isStream = path.endsWith("/TailLog");
      const stream = session.request({
        ":method": message === undefined ? "GET" : "POST",
        ":path": path.startsWith("/") ? path : `/cairn.v1.${path}`,
        ...(message !== undefined && { "content-type": `application/${isStream ? "connect+" : ""}json` }),
      });
      stream.on("error", () => {});
      stream.on("response", ({ ":status": status }) => statuses.push(status!));
      const body = Buffer.from(message === undefined ? "" : JSON.stringify(message));
      stream.end(isStream ? frame(body) : body);
    }
    return { session, statuses };
  }

  /** How many params the large run comes with, or the code of the refusal. */
  async function readLarge(): Promise<number | Code> {
    try {
      return Object.keys((await clients.runs.getRun({ run: large })).params).length;
    } catch (thrown) {
      return ConnectError.from(thrown).code;
    }
  }

  function peakRssBytes(): number {
    const status = readFileSync(`/proc/${server.child.pid!}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  it.each([
    ["RunService/GetRun", () => ({ run: large })],
    ["RunService/GetRun", () => ({ run: { alias: "large", namespace: "" } })],
    ["RunService/CreateRun", () => ({ namespace: "large", aliases: ["large"], getOrCreate: true })],
    ["/results/large/large", () => undefined],
    ["LogService/TailLog", () => ({ run: large, from: "0", follow: true })],
    // Tags are among what a run is found with.
    ["ArtifactService/GetArtifact", () => ({ run: large, name: "none" })],
  ])(
    "K7, S28: %s: many that are not read take bounded memory, and others are served",
    async (method, message) => {
      const { session, statuses } = ask(method, message());
      try {
        const startMs = performance.now();
        const { params } = await clients.runs.getRun({ run: small });
        expect(params).toEqual({ lr: "0.1" });
        expect(performance.now() - startMs).toBeLessThan(PATIENCE_MS / 4);
        await expect.poll(() => statuses.length, { timeout: PATIENCE_MS, interval: 50 }).toBe(CALLS);
        expect([...new Set(statuses)].filter((status) => ![200, 404, 429, 503].includes(status))).toEqual([]);
        expect(peakRssBytes()).toBeLessThan(RSS_BYTES_MAX);
      } finally {
        session.destroy();
      }
      // Until the server has noticed that the connection is gone, its answers take the room of this caller.
      await expect.poll(readLarge, { timeout: PATIENCE_MS, interval: 50 }).toBe(260);
    },
    2 * PATIENCE_MS,
  );

  it(
    "K12, S27: a large run is not loaded for those who have hung up",
    async () => {
      const pid = server.child.pid!;
      for (let round = 0; round < 3; round++) {
        const before = cpuMs(pid);
        const { session } = ask("RunService/GetRun", { run: large });
        // Once this is answered the others are under way.
        await clients.runs.getRun({ run: small });
        session.destroy();
        await idle(pid);
        expect(cpuMs(pid) - before).toBeLessThan(ROUND_CPU_MS_MAX);
      }
      expect(peakRssBytes()).toBeLessThan(RSS_BYTES_MAX);
    },
    2 * PATIENCE_MS,
  );
});

/** Resolves when the process does next to nothing. */
async function idle(pid: number): Promise<void> {
  let last = -Infinity;
  const rest = (): number => {
    const now = cpuMs(pid);
    const used = now - last;
    last = now;
    return used;
  };
  await expect.poll(rest, { timeout: PATIENCE_MS, interval: 500 }).toBeLessThan(100);
}
