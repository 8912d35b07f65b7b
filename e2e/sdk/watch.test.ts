import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { Cairn, watch, type Connection, type FollowOptions } from "#sdk/browser.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { useServer } from "#server/testing/servers.ts";
import { CuttableProxy } from "../cuttable-proxy.ts";
import { steadyPort } from "../steady-port.ts";
import { Watching, writeStep } from "./watching.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-watch-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

let watching: Watching | undefined;
afterEach(() => watching?.stop());

function follow(cairn: Cairn, request: Parameters<typeof watch>[1], options: FollowOptions = {}): Watching {
  watching = new Watching(cairn, request, options);
  return watching;
}

describe("watch() over a connection that breaks", () => {
  const server = useServer();
  let direct: Cairn;
  let proxy: CuttableProxy;
  beforeAll(async () => {
    direct = new Cairn({ url: server().listening.url });
    proxy = await CuttableProxy.open(direct.url);
  });
  afterAll(() => proxy.cut());

  const createRun = async (aliases: string[] = []) =>
    (await direct.runs.createRun({ namespace: "watched", aliases })).run!.id;

  it("C52 brings every point and every line once, in order, however often it is cut", async () => {
    const id = await createRun(["by-alias"]);
    const seen = follow(new Cairn({ url: proxy.url }), {
      runs: { namespace: "watched", columns: ["tags"] },
      series: [{ run: { id } }],
      logs: [{ run: { alias: "by-alias" }, from: 0n }],
    });
    await seen.began;
    let step = 0;
    for (let round = 0; round < 6; round++) {
      for (const end = step + 20; step < end; step++) await writeStep(direct, id, step);
      if (round % 2 === 0) await expect.poll(() => seen.steps.length).toBe(step);
      await proxy.cut();
      for (const end = step + 5; step < end; step++) await writeStep(direct, id, step);
      await direct.runs.updateRun({ run: { id }, tags: { round: String(round) } });
      await proxy.restore();
    }
    const all = Array.from({ length: step }, (_, each) => each);
    await expect.poll(() => seen.steps.length).toBe(step);
    await expect.poll(() => seen.lines.length).toBe(step);
    await expect.poll(() => seen.runs.at(-1)?.tags["round"]).toBe("5");
    expect(seen.steps).toEqual(all);
    expect(seen.lines).toEqual(all.map((each) => `line ${each}`));
    expect(seen.kinds.filter((kind) => kind === "started")).toEqual(["started"]);
    expect(seen.kinds).not.toContain("behind");
  });

  it("C64 begins at the position of a read, or at the earliest of several, however often it is cut", async () => {
    const id = await createRun();
    await writeStep(direct, id, 0);
    const run = await direct.runs.getRun({ run: { id } });
    await direct.runs.updateRun({ run: { id }, tags: { read: "before" } });
    await writeStep(direct, id, 1);
    const found = await direct.runs.searchRuns({ namespace: "watched", query: `id = "${id}"` });
    await writeStep(direct, id, 2);
    const request = { runs: { query: `id = "${id}"`, columns: ["tags"] }, series: [{ run: { id } }] };
    for (const begin of [
      { position: run.position },
      { since: [found.position, run.position] },
      { position: found.position, since: [run.position] },
    ]) {
      const seen = follow(new Cairn({ url: proxy.url }), { ...request, ...begin });
      await seen.began;
      await proxy.cut();
      await proxy.restore();
      await expect.poll(() => seen.steps.at(-1)).toBe(2);
      await expect.poll(() => seen.runs.at(-1)?.tags["read"]).toBe("before");
      // What was written just before the read may come again.
      expect(seen.steps.slice(-2)).toEqual([1, 2]);
      expect(seen.kinds).not.toContain("behind");
      seen.stop();
    }
  });

  it("C52 an event that was not processed comes again", async () => {
    const id = await createRun();
    const request = { series: [{ run: { id } }], logs: [{ run: { id }, from: 0n }] };
    const stop = new AbortController();
    let position = "";
    for await (const { event, position: at } of watch(direct, request, { signal: stop.signal })) {
      // Another watch continues before the points.
      if (event.case === "points") break;
      if (event.case === "started") await writeStep(direct, id, 7);
      position = at;
    }
    const seen = follow(direct, { ...request, position });
    await expect.poll(() => seen.steps).toEqual([7]);
    await expect.poll(() => seen.lines).toEqual(["line 7"]);
  });

  it("C53 reports the connection: connecting, live, lost since when and why, live", async () => {
    const states: Connection[] = [];
    const id = await createRun();
    const seen = follow(
      new Cairn({ url: proxy.url }),
      { series: [{ run: { id } }] },
      { onConnection: (connection) => states.push(connection) },
    );
    await seen.began;
    expect(states.map(({ state }) => state).slice(0, 2)).toEqual(["connecting", "live"]);
    await proxy.cut();
    await expect.poll(() => states.filter(({ state }) => state === "lost").length).toBeGreaterThan(1);
    const lost = states.filter(({ state }) => state === "lost");
    expect(new Set(lost.map(({ lostMs }) => lostMs)).size).toBe(1);
    expect(lost[0]!.heardMs).toBeGreaterThan(0);
    expect(lost[0]!.lostMs).toBeGreaterThanOrEqual(lost[0]!.heardMs);
    expect(lost.at(-1)!.failure).toMatchObject({ code: Code.Unavailable, reason: "UNREACHABLE" });
    await proxy.restore();
    await expect.poll(() => states.at(-1)?.state).toBe("live");
    expect(states.at(-1)).not.toHaveProperty("failure");
  });

  it("C53 treats silence as a lost connection, and misses nothing", async () => {
    const states: Connection[] = [];
    const id = await createRun();
    const seen = follow(
      new Cairn({ url: proxy.url }),
      { series: [{ run: { id } }] },
      { silenceMsMax: 1_500, onConnection: (connection) => states.push(connection) },
    );
    await seen.began;
    proxy.hush();
    await writeStep(direct, id, 1);
    await writeStep(direct, id, 2);
    await expect.poll(() => seen.steps).toEqual([1, 2]);
    expect(states.find(({ state }) => state === "lost")?.failure).toMatchObject({ reason: "SILENT" });
  });

  it.each([
    ["a wrong query", { runs: { query: "nope =" } }, Code.InvalidArgument],
    ["an unknown run", { series: [{ run: { id: "0".repeat(32) } }] }, Code.NotFound],
    ["an unknown log", { logs: [{ run: { alias: "unknown" } }] }, Code.NotFound],
    ["nothing", {}, Code.InvalidArgument],
  ])("C54 ends with a failure for %s", async (_, request, code) => {
    const seen = follow(direct, request);
    await expect(seen.ended).rejects.toMatchObject({ name: "Failure", code });
  });

  it("C54 refuses one log twice: its lines could not be distinguished after a break", async () => {
    const id = await createRun(["twice"]);
    const seen = follow(direct, { logs: [{ run: { id } }, { run: { alias: "twice" } }] });
    await expect(seen.ended).rejects.toThrow(`cannot watch the log of run "${id}" twice`);
  });

  it("C54 ends when the time for retries is over, and with the signal", async () => {
    const away = new Cairn({ url: `http://127.0.0.1:${await steadyPort()}` });
    const impatient = follow(away, { runs: {} }, { patienceMs: 500 });
    await expect(impatient.ended).rejects.toMatchObject({ code: Code.Unavailable, reason: "UNREACHABLE" });
    const waiting = follow(away, { runs: {} });
    waiting.stop(new Error("enough"));
    await expect(waiting.ended).rejects.toThrow("enough");
    const live = follow(direct, { runs: {} });
    await live.began;
    live.stop(new Error("enough"));
    await expect(live.ended).rejects.toThrow("enough");
  });
});

describe("watch() and a server that restarts", () => {
  let child: ChildServer | undefined;
  let port: number;
  beforeAll(async () => {
    port = await steadyPort();
  });
  const start = async (data: string, ...flags: string[]) => {
    child = await startChild(["--data", data, "--port", String(port), ...flags]);
    return new Cairn({ url: child.url });
  };
  const kill = async () => {
    child?.child.kill("SIGKILL");
    await child?.exited;
    child = undefined;
  };
  afterEach(kill);

  it("C52 continues after a kill: lines come once, and missed events are sent or reported as missing", async () => {
    const data = join(folder, "killed");
    const cairn = await start(data);
    const { id } = (await cairn.runs.createRun({ namespace: "killed" })).run!;
    const seen = follow(cairn, {
      runs: { namespace: "killed" },
      series: [{ run: { id } }],
      logs: [{ run: { id } }],
    });
    await seen.began;
    let step = 0;
    const write = async (until: number) => {
      for (; step < until; step++) await writeStep(cairn, id, step);
      await expect.poll(() => seen.lines.length).toBe(step);
    };
    await write(10);
    await kill();
    await start(data);
    await write(20);
    expect(seen.lines).toEqual(Array.from({ length: step }, (_, each) => `line ${each}`));
    await writeStep(cairn, id, step);
    await expect.poll(() => seen.steps.at(-1)).toBe(step);
    expect(new Set(seen.steps).size).toBe(seen.steps.length);
    const isWhole = seen.steps.length === step + 1;
    expect(isWhole || seen.behind.has("series")).toBe(true);
  });

  it("C52 passes on that a server lost the earlier events, and continues", async () => {
    const seen = follow(await start("memory:"), { runs: { namespace: "forgotten" } });
    await seen.began;
    await kill();
    const cairn = await start("memory:");
    await expect.poll(() => [...seen.behind]).toEqual(["runs"]);
    await cairn.runs.createRun({ namespace: "forgotten", name: "new" });
    await expect.poll(() => seen.runs.at(-1)?.name).toBe("new");
  });

  it("C52, C54: continues with other rights, and ends with the token", async () => {
    await start("memory:", "--auth");
    const { url, greeting } = child!;
    const admin = new Cairn({ url, token: /cairn_\S+/.exec(greeting.join("\n"))![0] });
    const principal = "eve";
    await admin.access.createPrincipal({ kind: PrincipalKind.SERVICE, name: principal });
    const bind = (namespace: string) =>
      admin.access.bindRole({ principal, scope: { namespace }, role: Role.VIEWER });
    await bind("open");
    const { secret, token } = await admin.access.createToken({ principal, name: "eve", days: 1 });
    const states: Connection[] = [];
    const onConnection = (connection: Connection) => states.push(connection);
    const seen = follow(new Cairn({ url, token: secret }), { runs: {} }, { onConnection });
    await seen.began;
    await bind("later");
    await admin.runs.createRun({ namespace: "later", name: "seen" });
    await expect.poll(() => seen.runs.map(({ name }) => name)).toContain("seen");
    expect(states.map(({ state }) => state)).not.toContain("lost");
    await admin.access.revokeToken({ id: token!.id });
    await expect(seen.ended).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});
