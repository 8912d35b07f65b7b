import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { Server } from "#server/serve.ts";
import { EXPENSIVE } from "#wire/connect/open-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { startServer } from "#server/testing/servers.ts";

/** Enough points that to verify them takes many times as long as anything small. */
const ENVELOPES = 60;
const POINTS = 50_000;
const CALLS = 24;
const run = { alias: "large" };

describe("when the caller hangs up", () => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-hang-up-"));
  let server: Server;
  let clients: Clients;

  beforeAll(async () => {
    server = await startServer(["--data", folder]);
    clients = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
    await clients.runs.createRun({ namespace: "n", aliases: ["large"] });
    const values = Array.from({ length: POINTS }, (_, i) => Math.sin(i));
    for (let i = 0; i < ENVELOPES; i++) {
      await clients.metrics.writeEnvelope({ run, series: [{ key: `k${i}`, values }] });
    }
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  async function gauge(name: string): Promise<number> {
    const text = await (await fetch(`${server.listening.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)![1]);
  }

  async function timed(work: () => Promise<unknown>): Promise<number> {
    const start = performance.now();
    await work();
    return performance.now() - start;
  }

  it("K11 every expensive method is a method of the API", () => {
    for (const method of EXPENSIVE) expect(server.wire.permissions.has(method), method).toBe(true);
  });

  it.each([
    ["gRPC", () => createGrpcTransport({ baseUrl: server.listening.url })],
    ["JSON", () => createConnectTransport({ baseUrl: server.listening.url, httpVersion: "1.1" })],
  ])("K12, S27: work of a disconnected caller stops, and others continue (%s)", async (_, transport) => {
    const greedy = clientsOf(transport());
    const oneMs = await timed(() => greedy.system.verifyRun({ run }));
    const gone = new AbortController();
    const calls = Array.from({ length: CALLS }, () =>
      greedy.system.verifyRun({ run }, { signal: gone.signal }),
    );
    const settled = Promise.allSettled(calls);
    await expect.poll(() => gauge("cairn_work_waiting"), { interval: 1 }).toBeGreaterThan(0);
    expect(await gauge("cairn_work_running")).toBeLessThanOrEqual(limits.workPerPrincipalMax);
    gone.abort();
    await settled;
    const afterMs = await timed(async () => {
      await expect.poll(() => gauge("cairn_work_waiting"), { interval: 5 }).toBe(0);
      await expect.poll(() => gauge("cairn_work_running"), { interval: 5 }).toBe(0);
      // Every reader is free: as many as there are answer at once.
      await Promise.all(Array.from({ length: 3 }, () => clients.runs.getRun({ run })));
    });
    // All of them together would have taken CALLS times one, by three readers on few cores.
    expect(afterMs).toBeLessThan((CALLS / 4) * oneMs);
  });

  it("K12, S27: a deadline stops the work, as a disconnect does", async () => {
    const calls = Array.from({ length: CALLS }, () => clients.system.verifyRun({ run }, { timeoutMs: 20 }));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
    await expect.poll(() => gauge("cairn_work_running")).toBe(0);
    expect(await gauge("cairn_work_waiting")).toBe(0);
  });
});
