import { rmSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { noteUncaught, startChild, uncaughtLines, type ChildServer } from "../testing/child.ts";
import { makeFolder } from "../testing/servers.ts";

const PROBE = new URL("../testing/uncaught-probe.js", import.meta.url).href;

interface LogLine {
  level: number;
  msg: string;
  incident?: string;
  err?: { message: string };
}

describe("an uncaught error", { timeout: 300_000 }, () => {
  const folder = makeFolder();
  let server: ChildServer | undefined;
  /** Lines of the log before the test. */
  let before = 0;

  beforeEach(() => (before = server?.log.length ?? 0));
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function stop(): Promise<void> {
    server?.child.kill("SIGKILL");
    await server?.exited;
    server = undefined;
    before = 0;
  }

  async function start(): Promise<ChildServer> {
    await stop();
    const nodeOptions = `${process.env["NODE_OPTIONS"] ?? ""} --import=${PROBE}`;
    const env = { ...process.env, NODE_OPTIONS: nodeOptions };
    server = await startChild(["--data", folder], { env, mayFail: true });
    return server;
  }

  /** Lines of the log with level error, once there are so many. */
  async function errors(count: number): Promise<LogLine[]> {
    const found = () =>
      server!.log
        .slice(before)
        .map((line) => JSON.parse(line) as LogLine)
        .filter(({ level }) => level >= 50);
    await expect.poll(found).toHaveLength(count);
    return found();
  }

  async function write(): Promise<number> {
    const { status } = await fetch(`${server!.url}/cairn.v1.RunService/CreateRun`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ namespace: "team", aliases: ["one"], getOrCreate: true }),
    });
    return status;
  }

  async function read(): Promise<number> {
    const { status } = await fetch(`${server!.url}/cairn.v1.RunService/SearchRuns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    return status;
  }

  const ready = async (): Promise<number> => (await fetch(`${server!.url}/readyz`)).status;

  it.each(["", "&reject"])("B5, S25: fails only the request that reads%s", async (how) => {
    const { url } = server ?? (await start());
    expect(await write()).toBe(200);
    // The route streams what it does not have yet, so the error comes before its answer.
    const run = "00000000000000000000000000";
    const failed = await fetch(`${url}/artifacts/${run}/a?throw-later=E_DEFECT${how}`).catch(() => undefined);
    expect(failed === undefined || failed.status >= 400).toBe(true);
    const [line] = await errors(1);
    expect(line).toMatchObject({ msg: "uncaught error", err: { message: "planted" } });
    expect(line!.incident).toMatch(/^[0-9a-f-]{36}$/);
    expect([await ready(), await read(), await write()]).toEqual([200, 200, 200]);
  });

  it("B5, S25: of a connection does not change the server", async () => {
    const { url } = server ?? (await start());
    expect((await fetch(`${url}/healthz?throw-later=ECONNRESET&outside`)).status).toBe(200);
    expect(await errors(1)).toMatchObject([{ msg: "uncaught error" }]);
    expect([await ready(), await read(), await write()]).toEqual([200, 200, 200]);
  });

  it("B5, B11: of connections, again and again, are a few lines", async () => {
    const started = performance.now();
    const { url } = await start();
    for (let n = 0; n < 40; n++) await fetch(`${url}/healthz?throw-later=ECONNRESET&outside`);
    await expect.poll(ready).toBe(200);
    const lines = server!.log.length;
    expect(lines).toBeGreaterThanOrEqual(10);
    expect(lines).toBeLessThanOrEqual(11 + (performance.now() - started) / 10_000);
  });

  it.each(["outside of requests", "in a request that writes"])(
    "B5, S25: %s stops all writing until a restart, and reads continue",
    async (where) => {
      const { url, child, exited } = await start();
      expect(await write()).toBe(200);
      if (where === "outside of requests") await fetch(`${url}/healthz?throw-later=E_DEFECT&outside`);
      else {
        const put = { method: "PUT", body: "x".repeat(1 << 20) };
        await fetch(`${url}/artifacts/00000000000000000000000000/a?throw-later=E_DEFECT`, put).catch(
          () => {},
        );
      }
      await expect.poll(ready).toBe(503);
      const lines = await errors(2);
      expect(lines.map(({ msg }) => msg)).toEqual(["uncaught error", "nothing is stored until a restart"]);
      const why = (await (await fetch(`${url}/readyz`)).json()) as { reason: string; message: string };
      expect(why).toMatchObject({ reason: "STATE_IN_DOUBT" });
      expect(why.message).toContain(lines[0]!.incident);
      expect([await read(), await write()]).toEqual([200, 503]);
      // It stops like any other server, and its data is there at the next start.
      child.kill("SIGTERM");
      expect(await exited).toEqual({ code: 0, signal: null });
      await start();
      expect([await ready(), await read(), await write()]).toEqual([200, 200, 200]);
    },
  );
});

describe("a server of a test", () => {
  afterAll(() => void uncaughtLines.splice(0));

  it("S25 that is ended by a signal which the test did not send is reported", async () => {
    for (const end of [
      (pid: number) => process.kill(pid, "SIGABRT"),
      (pid: number) => process.kill(pid, "SIGKILL"),
    ]) {
      const server = await startChild(["--data", "memory:"]);
      end(server.child.pid!);
      const { signal } = await server.exited;
      expect(uncaughtLines.splice(0)).toEqual([`process ${server.child.pid!} ended with ${signal}`]);
    }
    const server = await startChild(["--data", "memory:"]);
    server.child.kill("SIGKILL");
    await server.exited;
    expect(uncaughtLines).toEqual([]);
  });

  it("S25 that has no memory left is reported", () => {
    for (const line of [
      "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
      "Error [ERR_WORKER_OUT_OF_MEMORY]: Worker terminated due to reaching memory limit: JS heap out of memory",
    ]) {
      noteUncaught(line);
      expect(uncaughtLines.splice(0)).toEqual([line]);
    }
    noteUncaught('{"level":30,"msg":"stopping"}');
    expect(uncaughtLines).toEqual([]);
  });
});
