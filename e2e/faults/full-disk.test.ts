import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessService, PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { dose } from "../../tools/dose.ts";
import { FLOOD } from "./content.ts";
import { SmallDisk } from "./small-disk.ts";
import { Writer } from "./writer.ts";
import { WriterCheck } from "./writer-check.ts";

const DISK_BYTES = 24 << 20;
/** Of waits that should be short: a machine whose cores are busy takes longer, a server that hangs for ever. */
const REFUSED_MS_MAX = 20_000;
const RECOVERED_MS_MAX = 60_000;
const CYCLES = dose(2, 6);
const FILE_BYTES = 3 << 20;
const PASSWORD = "correct horse battery staple";
/** After so many big ones the log is folded, a few milliseconds at a time. */
const ENVELOPES_BEFORE_FOLD = 13;

let disk: SmallDisk;
let server: ChildServer | undefined;
let clients: Clients;

beforeEach(async () => {
  disk = await SmallDisk.mount(DISK_BYTES);
});

afterEach(async () => {
  server?.child.kill("SIGKILL");
  await server?.exited;
  server = undefined;
  await disk.unmount();
});

async function start(): Promise<void> {
  server = await startChild(["--data", join(disk.folder, "data")], { through: disk.through });
  clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
}

const access = () => createClient(AccessService, createGrpcTransport({ baseUrl: server!.url }));

/** Sends one more envelope and returns how it was refused, or undefined. */
async function refusalOf(writer: Writer): Promise<{ code: Code; reason: string; ms: number } | undefined> {
  const started = performance.now();
  try {
    await writer.writeSome(createGrpcTransport({ baseUrl: server!.url }), 1);
    return undefined;
  } catch (thrown) {
    // The next attempt sends the same again, as a client does.
    writer.sent = writer.acknowledged;
    const error = ConnectError.from(thrown);
    const [detail] = error.findDetails(ErrorDetailSchema);
    expect(Number(detail?.facts["retry_after_ms"])).toBeGreaterThan(0);
    return { code: error.code, reason: detail!.reason, ms: performance.now() - started };
  }
}

async function requireRefusals(writer: Writer): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const refused = await refusalOf(writer);
    expect(refused).toMatchObject({ code: Code.Unavailable, reason: "DISK_FULL" });
    expect(refused!.ms).toBeLessThan(REFUSED_MS_MAX);
  }
}

/** Waits until a write goes through, without touching the server otherwise. */
async function requireRecovery(writer: Writer): Promise<void> {
  const started = performance.now();
  while ((await refusalOf(writer)) !== undefined) {
    expect(performance.now() - started).toBeLessThan(RECOVERED_MS_MAX);
    await after(100);
  }
}

async function check(checks: readonly WriterCheck[]): Promise<void> {
  for (const one of checks) {
    const verified = await clients.system.verifyRun({ run: { id: one.writer.runId } });
    expect(verified.problems).toEqual([]);
    await one.run(clients, verified);
    expect(one.stored).toBe(one.writer.acknowledged);
  }
}

const put = (runId: string, name: string, body: NonNullable<RequestInit["body"]>) =>
  fetch(`${server!.url}/artifacts/${runId}/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body,
    duplex: "half",
  });

async function newRun(): Promise<string> {
  const { run } = await clients.runs.createRun({ namespace: "faults/full" });
  return run!.id;
}

describe("a server on a disk that is full repeatedly", () => {
  it("D10 R4 refuses writes at once, still reads, searches, deletes and authenticates, and recovers by itself", async () => {
    await start();
    await access().createPrincipal({ name: "ada", kind: PrincipalKind.USER, password: PASSWORD });
    const spare: string[] = [];
    for (let i = 0; i < CYCLES + 1; i++) spare.push(await newRun());
    const checks = [
      new WriterCheck(new Writer(await newRun(), "a")),
      new WriterCheck(new Writer(await newRun(), "b")),
    ];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      for (const { writer } of checks) {
        await writer.writeSome(createGrpcTransport({ baseUrl: server!.url }), 20);
      }
      disk.fill();
      for (const { writer } of checks) await requireRefusals(writer);
      await check(checks);
      const [id] = spare.splice(0, 1);
      await clients.runs.deleteRun({ run: { id: id! } });
      await clients.runs.purgeRun({ run: { id: id! } });
      // A deletion needs a signed-in user: the login must not fail either.
      const { secret } = await access().logIn({ name: "ada", password: PASSWORD });
      expect(secret).toMatch(/^cairn_/);
      const found = await clients.runs.searchRuns({ namespace: "faults/full" });
      expect(Number(found.totalCount)).toBe(spare.length + checks.length);
      if (cycle === CYCLES - 1) {
        // A server that is killed now starts again on the full disk.
        server!.child.kill("SIGKILL");
        await server!.exited;
        disk.fill();
        await start();
        await check(checks);
        await clients.runs.deleteRun({ run: { id: spare.pop()! } });
        await requireRefusals(checks[0]!.writer);
      }
      disk.clear();
      for (const { writer } of checks) await requireRecovery(writer);
      await check(checks);
    }
    expect(await clients.system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
  });

  it("D10 R4 loses nothing when the disk becomes full in the middle of a fold", async () => {
    await start();
    const flood = new WriterCheck(new Writer(await newRun(), FLOOD));
    for (let cycle = 0; cycle < 2; cycle++) {
      disk.fill(5 << 20);
      let refused: Awaited<ReturnType<typeof refusalOf>>;
      for (let i = 0; i < 100 && refused === undefined; i++) refused = await refusalOf(flood.writer);
      expect(refused).toMatchObject({ code: Code.Unavailable, reason: "DISK_FULL" });
      expect(flood.writer.acknowledged).toBeGreaterThan(ENVELOPES_BEFORE_FOLD);
      await requireRefusals(flood.writer);
      await check([flood]);
      disk.clear();
      await requireRecovery(flood.writer);
      await check([flood]);
    }
    expect(await clients.system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
  });

  it("D10 R4 stores nothing of an upload during which the disk becomes full", async () => {
    await start();
    const runId = await newRun();
    const content = randomBytes(FILE_BYTES);
    expect((await put(runId, "before", content)).status).toBe(201);
    const freeBytes = disk.freeBytes;
    const body = async function* () {
      yield content.subarray(0, 1 << 20);
      disk.fill(256 << 10);
      yield content.subarray(1 << 20);
    };
    const response = await put(runId, "during", body());
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ code: "unavailable", reason: "DISK_FULL" });
    const url = `${server!.url}/artifacts/${runId}`;
    expect((await fetch(`${url}/during`)).status).toBe(404);
    const before = await fetch(`${url}/before`);
    expect(Buffer.from(await before.arrayBuffer()).equals(content)).toBe(true);
    disk.clear();
    // What came of it is gone again; a little of the log may have grown.
    expect(disk.freeBytes).toBeGreaterThan(freeBytes - (1 << 20));
    expect((await put(runId, "during", content)).status).toBe(201);
    const during = await fetch(`${url}/during`);
    expect(Buffer.from(await during.arrayBuffer()).equals(content)).toBe(true);
  });

  it("D3 exits with a message when its data directory is not writable", async () => {
    await start();
    server!.child.kill("SIGTERM");
    await server!.exited;
    await disk.remountReadOnly();
    await expect(start()).rejects.toThrow(
      /ended with 1: cairn: cannot open data directory .*EROFS.* must be writable/s,
    );
    await expect(startChild(["--data", join(disk.folder, "other")], disk)).rejects.toThrow(
      /ended with 1: cairn: cannot make data directory .* --data/s,
    );
  });
});
