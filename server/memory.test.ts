import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { startChild } from "./testing/child.ts";
import { makeFolder } from "./testing/servers.ts";

it("D6 a server in memory writes no file anywhere", async () => {
  const empty = makeFolder();
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const places = {
    HOME: join(empty, "home"),
    TMPDIR: join(empty, "tmp"),
    XDG_CACHE_HOME: join(empty, "cache"),
  };
  for (const place of [...Object.values(places), join(empty, "cwd")]) mkdirSync(place);
  const before = readdirSync(empty, { recursive: true });
  const server = await startChild(["--data", "memory:"], {
    cwd: join(empty, "cwd"),
    env: { ...process.env, ...places },
  });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const { runs, metrics, system } = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  const { run } = await runs.createRun({ namespace: "a/b", aliases: ["x"] });
  const ref = { id: run!.id };
  // Enough for the log to be folded into chunks, and for SQLite to use a temporary file.
  const values = Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
  for (let seq = 1n; seq <= 6n; seq++) {
    await metrics.writeEnvelope({ run: ref, writer: "w", seq, series: [{ key: "k", values }] });
  }
  const { series } = await metrics.readSeries({ series: [{ run: ref, key: "k" }] });
  const read = new Float64Array(series[0]!.values!.bytes.slice().buffer);
  expect([...read]).toEqual(Array.from({ length: 6 }, () => values).flat());
  expect((await runs.searchRuns({ query: "order by metrics.k.max desc" })).totalCount).toBe(1n);
  expect(await system.checkIntegrity({})).toMatchObject({ ok: true, checkedPoints: 600_000n });
  expect(await errorOf(system.createBackup({}))).toMatchObject({
    code: "FailedPrecondition",
    details: [{ reason: "NO_DIRECTORY" }],
  });
  expect(readdirSync(empty, { recursive: true })).toEqual(before);
  server.child.kill("SIGTERM");
  expect((await server.exited).code).toBe(0);
  expect(readdirSync(empty, { recursive: true })).toEqual(before);
});
