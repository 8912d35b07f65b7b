import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { init } from "#sdk/run/init.ts";
import type { InitOptions } from "#sdk/run/init-options.ts";
import { encodeFrame } from "#sdk/spool/frame.ts";
import { readSegment } from "#sdk/spool/read-segment.ts";
import { listSegments } from "#sdk/spool/segments.ts";
import { sync } from "#sdk/sync.ts";
import { readNumbers, startJob, useWorld } from "./job.ts";

const world = useWorld();
const notices: string[] = [];

function begin(options: InitOptions = {}) {
  notices.length = 0;
  return init({
    server: world.server.url,
    spool: world.spool,
    capture: false,
    handleExit: false,
    env: { PATH: process.env["PATH"] },
    onNotice: (text) => notices.push(text),
    ...options,
  });
}

const connect = async (url: string) => new Cairn({ url });

describe("a run", () => {
  it("C2 comes back as it was logged", async () => {
    const run = await begin({
      namespace: "team/project",
      name: "first",
      notes: "a *note*",
      params: {
        lr: 0.1,
        big: 9_007_199_254_740_993n,
        nan: NaN,
        nested: { layers: [64, 64] },
        gone: undefined,
      },
      tags: { team: "vision", n: 3 },
    });
    run.log({ loss: NaN, n: 2n ** 62n, ok: true, note: "hello" }, { step: 5, labels: { host: "n1" } });
    run.params.set({ lr: 1e-3, extra: [-Infinity] });
    run.tag("best", true);
    run.tag({ a: "b" });
    run.line("one\ntwo\r\n");
    run.line("oops", { stream: "stderr" });
    run.source("s3://data/c4", "train");
    expect(run.params.get("lr")).toBe(1e-3);
    expect([...run.params.all().keys()]).toEqual(["lr", "big", "nan", "nested", "extra"]);
    expect(await run.finish()).toMatchObject({ delivered: true, runId: run.id, spool: undefined });
    const { client } = world;
    const stored = await client.runs.getRun({ run: { id: run.id! } });
    expect(stored).toMatchObject({
      namespace: "team/project",
      name: "first",
      notes: "a *note*",
      status: RunStatus.FINISHED,
      params: {
        lr: "0.001",
        big: "9007199254740993",
        nan: "NaN",
        nested: '{"layers":[64,64]}',
        extra: "[-Infinity]",
      },
      tags: { team: "vision", n: "3", best: "true", a: "b" },
    });
    expect(stored.endedUs).toBeGreaterThanOrEqual(stored.startedUs);
    const { series } = await client.metrics.listSeries({ run: { id: run.id! } });
    expect(series.map(({ key, kind, labels }) => [key, kind, labels])).toEqual([
      ["loss", SeriesKind.NUMBER, { host: "n1" }],
      ["n", SeriesKind.INTEGER, { host: "n1" }],
      ["note", SeriesKind.TEXT, { host: "n1" }],
      ["ok", SeriesKind.BOOL, { host: "n1" }],
    ]);
    const { lines } = await client.logs.readLog({ run: { id: run.id! } });
    expect(lines.map(({ text, stream }) => [stream, text])).toEqual([
      ["stdout", "one"],
      ["stdout", "two"],
      ["stderr", "oops"],
    ]);
    const { sources } = await client.lineage.listSources({ run: { id: run.id! } });
    expect(sources).toMatchObject([{ externalId: "s3://data/c4", artifact: "train" }]);
    expect(notices).toEqual([]);
  });

  it("C3 continues with the next step after a resume by id, path or alias, and is running again", async () => {
    const first = await begin({ alias: "job-3", namespace: "resumed" });
    for (let i = 0; i < 5; i++) first.log({ a: i });
    await first.finish("failed");
    for (const [i, resume] of [first.id!, `resumed/${first.id}`, "job-3"].entries()) {
      const next = await begin({ resume, params: { attempt: i } });
      expect(next.id).toBe(first.id);
      expect(await world.client.runs.getRun({ run: { id: next.id! } })).toMatchObject({
        status: i === 0 ? RunStatus.RUNNING : expect.anything(),
      });
      next.log({ a: 5 + i });
      await next.finish();
    }
    const { steps, values } = await readNumbers(world.client, first.id!, "a");
    expect(steps).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(values).toEqual(steps);
    const { params, status } = await world.client.runs.getRun({ run: { id: first.id! } });
    expect(params).toEqual({ attempt: "2" });
    expect(status).toBe(RunStatus.FINISHED);
  });

  it("C2 a series keeps the kind an earlier process gave it", async () => {
    const first = await begin({ alias: "kinds" });
    first.log({ a: 1n });
    await first.finish();
    const next = await begin({ alias: "kinds" });
    next.log({ a: 2 });
    next.log({ a: "no" });
    next.log({ b: 1 });
    expect(await next.finish()).toMatchObject({ delivered: true, refused: 0 });
    const { series } = await world.client.metrics.listSeries({ run: { id: next.id! } });
    expect(series.map(({ key, kind, summary }) => [key, kind, summary?.count])).toEqual([
      ["a", SeriesKind.INTEGER, 2n],
      ["b", SeriesKind.NUMBER, 1n],
    ]);
  });

  it.each<[string, InitOptions]>([
    ["a namespace that is not a text", { namespace: 5 as unknown as string }],
    ["a namespace that is not a path", { namespace: "a//b" }],
    ["an invalid address of a server", { server: "ftp://x" }],
    ["an alias and a run to resume", { alias: "a", resume: "b" }],
    ["an unknown run to resume", { resume: "0".repeat(32) }],
    ["an empty alias", { alias: "" }],
    ["params that are a list", { params: [1] as never }],
    ["a rank below 0", { rank: -1 }],
    ["another fsync", { fsync: "sometimes" as "every" }],
  ])("C9 init throws for %s, and leaves nothing", async (_, options) => {
    await expect(begin(options)).rejects.toThrow(/^cannot /);
    expect(existsSync(world.spool) ? readdirSync(world.spool) : []).toEqual([]);
  });

  it("C4 with fsync every, what was logged survives a kill at once", async () => {
    const code = `const run = await cairn.init({ server: "http://127.0.0.1:1", name: "synced", fsync: "every",
      spool: ${JSON.stringify(join(world.folder, "synced"))}, capture: false, openMs: 1, onNotice: () => {} });
      for (let i = 0; i < 50; i++) { run.log({ a: i }); }
      process.kill(process.pid, "SIGKILL");`;
    expect(await startJob(code).exited).toMatchObject({ signal: "SIGKILL" });
    const [writer] = readdirSync(join(world.folder, "synced"));
    const frames = listSegments(join(world.folder, "synced", writer!)).flatMap(
      ({ path }) => readSegment(readFileSync(path), writer!).frames,
    );
    // One more says that the run has begun.
    expect(frames.filter(({ seq }) => seq > 0).length).toBe(51);
  });

  it("C15 finish reports exactly what is left", async () => {
    const run = await begin({ server: "http://127.0.0.1:1", openMs: 50, spool: join(world.folder, "left") });
    run.log({ a: 1 });
    const report = await run.finish("finished", { deadlineMs: 100 });
    expect(report).toMatchObject({
      delivered: false,
      envelopesLeft: 3,
      othersLeft: 0,
      spool: run.spoolFolder,
    });
    expect(notices.at(-1)).toContain(`cairn sync ${run.spoolFolder}`);
    expect(readdirSync(run.spoolFolder).sort()).toEqual(["00000001.frames", "owner.json"]);
    expect(readFileSync(join(run.spoolFolder, "owner.json"), "utf8")).not.toContain("token");
  });

  it("C8 numbers that never come are declared lost, and what comes after them is stored", async () => {
    const spool = join(world.folder, "gaps");
    const run = await begin({ offline: true, alias: "gaps", spool });
    for (let i = 0; i < 6; i++) {
      run.log({ a: i });
      run.flush();
    }
    await run.finish();
    const [segment] = listSegments(run.spoolFolder);
    const bytes = readFileSync(segment!.path);
    const { frames } = readSegment(bytes, run.writer);
    const hit = frames.filter(({ seq }) => seq === 3 || seq === 4);
    for (const { body } of hit) body[body.length - 1]! ^= 1;
    writeFileSync(segment!.path, bytes);
    const [report] = await sync(spool, { connect, evenIfAlive: true });
    expect(report).toMatchObject({ isDone: true, lost: 2, damages: 1, refused: 0, envelopes: 6 });
    const verified = await world.client.system.verifyRun({ run: { alias: "gaps" } });
    expect(verified.verdict).toBe("6 of 8 envelopes, 2 declared lost, 0 gaps");
    expect(readdirSync(spool)).toEqual([]);
  });

  it("C8 a loss that was declared before a crash is the same content after it", async () => {
    const spool = join(world.folder, "declared");
    const run = await begin({ offline: true, alias: "declared", spool });
    for (let i = 0; i < 3; i++) {
      run.log({ a: i });
      run.flush();
    }
    await run.finish();
    const [segment] = listSegments(run.spoolFolder);
    const bytes = readFileSync(segment!.path);
    const { frames } = readSegment(bytes, run.writer);
    const damaged = frames.find(({ seq }) => seq === 2)!;
    damaged.body[damaged.body.length - 1]! ^= 1;
    writeFileSync(segment!.path, bytes);
    expect((await sync(spool, { connect, evenIfAlive: true }))[0]).toMatchObject({ isDone: true, lost: 1 });
    // As if the first delivery had died before it could remove the file.
    const again = join(spool, run.writer);
    mkdirSync(again, { recursive: true });
    writeFileSync(join(again, "00000001.frames"), bytes);
    writeFileSync(join(again, "owner.json"), JSON.stringify(ownerJson(run.writer)));
    const [report] = await sync(spool, { connect, evenIfAlive: true });
    expect(report).toMatchObject({ isDone: true, refused: 0, duplicates: 4 });
  });

  it("C8 what the server refuses for good is set aside, and the rest is delivered", async () => {
    const spool = join(world.folder, "refused");
    const run = await begin({ offline: true, alias: "refused", spool });
    for (let i = 0; i < 3; i++) {
      run.log({ a: i });
      run.flush();
    }
    await run.finish();
    const [segment] = listSegments(run.spoolFolder);
    const bytes = readFileSync(segment!.path);
    const pieces = readSegment(bytes, run.writer).frames.map(({ kind, seq, body }) => {
      // A status that does not exist.
      const wrong = seq === 3 ? Buffer.concat([body, Buffer.from([0x38, 99])]) : body;
      return encodeFrame(kind, seq, wrong);
    });
    writeFileSync(segment!.path, Buffer.concat([bytes.subarray(0, 12), ...pieces]));
    const refusals: string[] = [];
    const [report] = await sync(spool, {
      connect,
      evenIfAlive: true,
      onRefused: (what) => refusals.push(what),
    });
    expect(report).toMatchObject({ isDone: true, refused: 1, lost: 1, envelopes: 4, left: 0 });
    expect(refusals).toEqual(["envelope 3"]);
    expect(readdirSync(join(run.spoolFolder, "refused"))).toEqual(["3.frame", "3.json"]);
    const { id } = await world.client.runs.getRun({ run: { alias: "refused" } });
    expect((await readNumbers(world.client, id, "a")).values).toEqual([0, 2]);
    rmSync(spool, { recursive: true });
  });

  it("C17 eight processes with one alias write one run; only the first sets how it ended", async () => {
    const jobs = Array.from({ length: 8 }, (_, rank) =>
      startJob(
        `const run = await cairn.init({ server: ${JSON.stringify(world.server.url)}, spool: ${JSON.stringify(join(world.folder, "ranks"))},
           capture: { console: true, provenance: false, archive: false, system: false }, params: { world: 8 } });
         for (let i = 0; i < 20; i++) run.log({ loss: ${rank} * 100 + i });
         console.log("rank ${rank}");
         await run.finish(${rank} === 0 ? "finished" : "failed");`,
        {
          env: {
            RANK: String(rank),
            WORLD_SIZE: "8",
            LOCAL_RANK: String(rank),
            TORCHX_JOB_ID: "local://jobs/ranked",
          },
        },
      ),
    );
    for (const job of jobs) expect(await job.exited, job.stderr()).toMatchObject({ code: 0 });
    const { runs, totalCount } = await world.client.runs.searchRuns({
      query: 'alias = "local://jobs/ranked"',
    });
    expect(totalCount).toBe(1n);
    expect(runs[0]).toMatchObject({ status: RunStatus.FINISHED, params: { world: "8" } });
    const { series } = await world.client.metrics.listSeries({ run: { id: runs[0]!.id } });
    expect(series.map(({ labels }) => Number(labels["rank"])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 8 }, (_, rank) => rank),
    );
    for (const { summary } of series) {
      expect(summary).toMatchObject({ count: 20n, replacedCount: 0n, last: { step: 19n } });
    }
    const { lines } = await world.client.logs.readLog({ run: { id: runs[0]!.id } });
    expect(lines.length).toBe(8);
    for (const { rank, text } of lines) expect(text).toBe(`rank ${rank}`);
    const verified = await world.client.system.verifyRun({ run: { id: runs[0]!.id } });
    expect(verified.writers.length).toBe(8);
    expect(verified.verdict).toContain(", 0 gaps");
  });

  it("C9 an idle run sends heartbeats", async () => {
    const run = await begin({ heartbeatSeconds: 1 });
    const envelopes = async () => {
      const { writers } = await world.client.system.verifyRun({ run: { id: run.id! } });
      return Number(writers[0]?.envelopes ?? 0);
    };
    await expect.poll(envelopes).toBeGreaterThanOrEqual(3);
    await run.finish();
  });
});

function ownerJson(writer: string) {
  return {
    version: 1,
    writer,
    server: world.server.url,
    client: "test",
    host: "h",
    pid: 1,
    pidStart: "1",
    createdUs: 1,
  };
}
