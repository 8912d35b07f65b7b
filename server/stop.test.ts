import { rmSync } from "node:fs";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it, onTestFinished } from "vitest";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { startChild, type ChildServer } from "./testing/child.ts";
import { makeFolder } from "./testing/servers.ts";

async function start(data: string): Promise<ChildServer & Clients> {
  const server = await startChild(["--data", data]);
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return { ...server, ...clientsOf(createGrpcTransport({ baseUrl: server.url })) };
}

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes until the server refuses. Gives how many envelopes were acknowledged. */
async function writeUntilRefused({ metrics }: Clients, id: string, writer: string): Promise<number> {
  for (let seq = 1; ; seq++) {
    const series = [{ key: writer, values: [seq, -seq], steps: [BigInt(seq), BigInt(seq)] }];
    try {
      await metrics.writeEnvelope({ run: { id }, writer, seq: BigInt(seq), series });
    } catch (thrown) {
      // Only the end of the connection or a retryable refusal.
      expect([Code.Unavailable, Code.Aborted, Code.Internal, Code.Canceled, Code.Unknown]).toContain(
        ConnectError.from(thrown).code,
      );
      return seq - 1;
    }
  }
}

it(
  "B2, D5 R23 SIGTERM under load finishes what was accepted, exits with 0, and everything is there at the next start",
  { timeout: 300_000 },
  async () => {
    const folder = folderForTest();
    const server = await start(folder);
    const { run } = await server.runs.createRun({});
    const { id } = run!;
    const writers = Array.from({ length: 8 }, (_, i) => `w${i}`);
    const writing = writers.map((writer) => writeUntilRefused(server, id, writer));
    // Under load: more than a hundred have been acknowledged.
    await expect.poll(async () => (await server.system.verifyRun({ run: { id } })).points > 300n).toBe(true);
    server.child.kill("SIGTERM");
    // After 10 s it would time out and exit with 1.
    expect(await server.exited).toEqual({ code: 0, signal: null });
    const acknowledged = await Promise.all(writing);

    const again = await start(folder);
    const { writers: ledgers, verdict, problems } = await again.system.verifyRun({ run: { id } });
    expect(verdict).toContain(", 0 gaps");
    expect(problems).toEqual([]);
    for (const [i, writer] of writers.entries()) {
      const stored = Number(ledgers.find((ledger) => ledger.writer === writer)!.envelopes);
      expect(stored).toBeGreaterThanOrEqual(acknowledged[i]!);
      expect(stored).toBeLessThanOrEqual(acknowledged[i]! + 1);
      const { series } = await again.metrics.readSeries({
        series: [{ run: { id }, key: writer }],
        encoding: Encoding.NUMBERS,
      });
      const expected = Array.from({ length: stored }, (_, at) => [at + 1, -at - 1]).flat();
      expect(series[0]!.values!.numbers).toEqual(expected);
    }
    again.child.kill("SIGTERM");
    expect(await again.exited).toEqual({ code: 0, signal: null });
  },
);

it("B2 an idle server with open connections stops at once, by SIGINT too", { timeout: 300_000 }, async () => {
  const stopped = (["SIGTERM", "SIGINT"] as const).map(async (signal) => {
    const server = await start("memory:");
    await server.system.getInfo({});
    await fetch(`${server.url}/healthz`);
    const asked = performance.now();
    server.child.kill(signal);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    // A request that does not end would have 7 s.
    expect(performance.now() - asked).toBeLessThan(7_000);
  });
  await Promise.all(stopped);
});

it("B2 a second SIGTERM ends at once", { timeout: 300_000 }, async () => {
  const server = await start("memory:");
  const { run } = await server.runs.createRun({});
  // A request whose body never ends keeps the server waiting for it.
  const upload = new AbortController();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"run": ')),
  });
  const pending = fetch(`${server.url}/cairn.v1.MetricService/WriteEnvelope`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    duplex: "half",
    signal: upload.signal,
  }).catch(() => undefined);
  expect((await server.runs.getRun({ run: { id: run!.id } })).id).toBe(run!.id);
  server.child.kill("SIGTERM");
  await expect
    .poll(() =>
      fetch(`${server.url}/healthz`).then(
        () => "open",
        () => "closed",
      ),
    )
    .toBe("closed");
  server.child.kill("SIGTERM");
  // With 0 it would have waited for the request.
  expect((await server.exited).code).toBe(1);
  upload.abort();
  await pending;
});
