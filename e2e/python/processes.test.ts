import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { runPythonTests } from "./python.ts";

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", join(folder, "data")]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

const tests = (...names: string[]) =>
  runPythonTests(
    names.map((name) => `tests.${name}`),
    { url: server.url },
  );

describe("the Python client and its processes", () => {
  it("Y7, R11: survives kills and outages, ends soon without a server, and `cairn sync` delivers the rest", () =>
    tests("test_outage"));

  it("Y8 goes on in forked children, children of multiprocessing and threads", () =>
    tests("test_processes.ForkTest"));

  it("Y9 ends with its process, by whatever that ends", () =>
    tests("test_critical", "test_processes.EndTest"));
});
