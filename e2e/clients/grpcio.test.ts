import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { ROOT } from "../../tools/sources.ts";
import { pythonCommand } from "../../tools/needs.ts";

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", folder]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

it("W1, W7, V1, E2 Python's grpcio writes, reads back bit for bit, searches, and finds health and reflection", async () => {
  const script = join(import.meta.dirname, "grpcio_client.py");
  const { stdout } = await promisify(execFile)(
    pythonCommand(),
    [script, new URL(server.url).host, join(ROOT, "proto")],
    { timeout: 120_000 },
  );
  expect(stdout.trim()).toBe("ok");
});
