import { rmSync } from "node:fs";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let api: Clients;

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer(["--data", folder]);
  api = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function values(id: string): Promise<number[]> {
  const { series } = await api.metrics.readSeries({
    series: [{ run: { id }, key: "k" }],
    encoding: Encoding.NUMBERS,
  });
  return series[0]?.values?.numbers ?? [];
}

it("B1 a backup made while writes go on is consistent, and restoring it brings exactly that back", async () => {
  const { run } = await api.runs.createRun({ namespace: "b", aliases: ["kept"] });
  const { id } = run!;
  let acknowledged = 0;
  const stop = new AbortController();
  const writing = (async () => {
    for (let seq = 1; !stop.signal.aborted; seq++) {
      // Two points and a tag per envelope: a copy must hold all three or none.
      const series = [{ key: "k", values: [seq, seq], steps: [BigInt(seq), BigInt(seq)] }];
      await api.metrics.writeEnvelope({
        run: { id },
        writer: "w",
        seq: BigInt(seq),
        series,
        tags: { at: String(seq) },
      });
      acknowledged = seq;
    }
  })();
  await expect.poll(() => acknowledged).toBeGreaterThan(20);
  const before = acknowledged;
  const backup = await api.system.createBackup({ name: "one" });
  const after = acknowledged;
  expect(backup).toMatchObject({ name: "one" });
  expect(backup.sizeBytes).toBeGreaterThan(0n);
  stop.abort();
  await writing;
  await api.runs.createRun({ namespace: "b", aliases: ["later"] });
  expect(await errorOf(api.system.createBackup({ name: "one" }))).toMatchObject({ code: "AlreadyExists" });

  const { restored, keptAside } = await api.system.restoreBackup({ name: "one" });
  expect(restored).toEqual(backup);
  const stored = await values(id);
  const count = stored.length / 2;
  expect(count).toBeGreaterThanOrEqual(before);
  expect(count).toBeLessThanOrEqual(after + 1);
  expect(stored).toEqual(Array.from({ length: count }, (_, i) => [i + 1, i + 1]).flat());
  expect((await api.runs.getRun({ run: { id } })).tags).toEqual({ at: String(count) });
  expect((await api.runs.searchRuns({ namespace: "b" })).totalCount).toBe(1n);
  expect(await errorOf(api.runs.getRun({ run: { alias: "later" } }))).toMatchObject({ code: "NotFound" });
  expect(await api.system.checkIntegrity({})).toMatchObject({ ok: true });
  // The writer continues from the state of the backup.
  const next = { run: { id }, writer: "w", seq: BigInt(count + 1), series: [{ key: "k", values: [0] }] };
  expect(await api.metrics.writeEnvelope(next)).toMatchObject({ duplicate: false });

  // The replaced state is saved, and can be restored the same way.
  const listed = await api.system.listBackups({});
  expect(listed.backups.map(({ name }) => name).sort()).toEqual([keptAside!.name, "one"].sort());
  await api.system.restoreBackup({ name: keptAside!.name });
  expect(await values(id)).toHaveLength(acknowledged * 2);
  expect((await api.runs.searchRuns({ namespace: "b" })).totalCount).toBe(2n);
  expect((await api.runs.getRun({ run: { alias: "later" } })).aliases).toEqual(["later"]);
});

it("B1, W6 an unknown backup, and a name that leaves the folder, are refused", async () => {
  expect(await errorOf(api.system.restoreBackup({ name: "none" }))).toMatchObject({ code: "NotFound" });
  for (const name of ["../cairn", "a/b", "..", ".hidden", "a\u0000", "x".repeat(101)]) {
    expect(await errorOf(api.system.createBackup({ name }))).toMatchObject({ code: "InvalidArgument" });
    expect(await errorOf(api.system.restoreBackup({ name }))).toMatchObject({ code: "InvalidArgument" });
  }
  const unnamed = await api.system.createBackup({});
  expect(unnamed.name).toMatch(/^cairn-\d{8}-\d{6}/);
});
