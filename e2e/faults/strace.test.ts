import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { findEvents } from "./trace.ts";

const WRITES = 20;

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  const calls = "write,writev,pwrite64,pwritev,pwritev2,sendmsg,sendto,fsync,fdatasync";
  // Every byte in hex, sockets and files by their names; as a bystander, so that signals reach the server.
  const how = ["-D", "-f", "-yy", "-xx", "-s", "65536"];
  const strace = ["strace", ...how, "-e", `trace=${calls}`, "-o", join(folder, "trace")];
  server = await startChild(["--data", join(folder, "data")], { through: strace });
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

const ways = [
  ["gRPC", () => createGrpcTransport({ baseUrl: server.url })],
  [
    "Connect",
    () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  ["JSON", () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" })],
] as const;

describe.each(ways)("%s", (name, transport) => {
  it("D1 the reply is sent only after the sync of the log with the write has returned", async () => {
    const { runs, metrics } = clientsOf(transport());
    const { run } = await runs.createRun({});
    const marks = Array.from({ length: WRITES }, (_, i) => `mark-${name}-${i}`);
    for (const [i, mark] of marks.entries()) {
      const series = [{ key: mark, values: [i] }];
      await metrics.writeEnvelope({ run: { id: run!.id }, writer: mark, seq: 1n, series });
    }
    const events = findEvents(readFileSync(join(folder, "trace"), "latin1"), marks);
    for (const mark of marks) {
      const first = events.findIndex((event) => event.kind === "log write" && event.marks.includes(mark));
      expect(first, `${mark} is in the log`).toBeGreaterThanOrEqual(0);
      const replied = events.findIndex((event, at) => at > first && event.kind === "reply");
      expect(replied, `${mark} was answered`).toBeGreaterThan(first);
      // Nothing else was written meanwhile: each call waited for the one before.
      const written = events.findLastIndex((event, at) => at < replied && event.kind === "log write");
      const synced = events.findIndex((event, at) => at > written && event.kind === "log synced");
      expect(synced, `the reply to ${mark} came after the sync`).toBeLessThan(replied);
      expect(synced, `${mark} was synced`).toBeGreaterThan(written);
    }
  });
});
