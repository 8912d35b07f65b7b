import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "#proto/grpc/health/v1/health_pb.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { buildShim } from "./shim.ts";
import { WriterCheck } from "./writer-check.ts";
import { Writer } from "./writer.ts";

/** Of waits that should be short: a machine whose cores are busy takes longer, a server that hangs for ever. */
const UNREADY_MS_MAX = 20_000;
const STOP_MS_MAX = 60_000;
/** Calls on files that the start takes, and some more. */
const CALLS_OF_START = 600;
const ENVELOPES_MAX = 500;

let folder: string;
let data: string;
let server: ChildServer | undefined;
let clients: Clients;

beforeEach(() => {
  folder = makeFolder();
  data = join(folder, "data");
});

afterEach(async () => {
  server?.child.kill("SIGKILL");
  await server?.exited;
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function start(env?: NodeJS.ProcessEnv): Promise<void> {
  server = await startChild(["--data", data], env === undefined ? {} : { env });
  clients = clientsOf(transport());
}

const transport = () => createGrpcTransport({ baseUrl: server!.url });

async function reasonOf(work: Promise<unknown>): Promise<{ code: Code; reason: string | undefined } | "ok"> {
  try {
    await work;
    return "ok";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return { code: error.code, reason: error.findDetails(ErrorDetailSchema)[0]?.reason };
  }
}

/** The answer of /readyz once it is another than 200. */
async function unready(): Promise<{ status: number; body: unknown; ms: number }> {
  const started = performance.now();
  for (;;) {
    const response = await fetch(`${server!.url}/readyz`);
    const ms = performance.now() - started;
    if (response.status !== 200) return { status: response.status, body: await response.json(), ms };
    expect(ms).toBeLessThan(UNREADY_MS_MAX);
    await after(10);
  }
}

const servingOf = async () => (await createClient(Health, transport()).check({ service: "" })).status;

const put = (runId: string, name: string) =>
  fetch(`${server!.url}/artifacts/${runId}/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: `content of ${name}`,
  });

/** Gives how long it took. */
async function stop(): Promise<number> {
  const started = performance.now();
  server!.child.kill("SIGTERM");
  await server!.exited;
  return performance.now() - started;
}

describe("a server whose disk fails to sync", () => {
  it("D11 R3 acknowledges nothing any more, is not ready, and still reads", async () => {
    await start(buildShim(folder, { directory: data, kind: "sync", nth: CALLS_OF_START }));
    const { run } = await clients.runs.createRun({ namespace: "faults/sync" });
    expect(await servingOf()).toBe(Serving.SERVING);
    const check = new WriterCheck(new Writer(run!.id, "a"));
    const { writer } = check;
    let refused: Awaited<ReturnType<typeof reasonOf>> = "ok";
    for (let i = 0; i < ENVELOPES_MAX && refused === "ok"; i++) {
      refused = await reasonOf(writer.writeSome(transport(), 1));
    }
    const failed = { code: Code.Unavailable, reason: "STORAGE_FAILED" };
    expect(refused).toEqual(failed);
    const { status, body } = await unready();
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: "unavailable", reason: "STORAGE_FAILED" });
    expect(await servingOf()).toBe(Serving.NOT_SERVING);
    expect(await reasonOf(writer.writeSome(transport(), 1))).toEqual(failed);
    expect(await reasonOf(clients.runs.createRun({}))).toEqual(failed);
    expect(await reasonOf(clients.runs.deleteRun({ run: { id: run!.id } }))).toEqual(failed);
    expect((await put(run!.id, "a")).status).toBe(503);

    await check.run(clients, await clients.system.verifyRun({ run: { id: run!.id } }));
    expect(check.stored).toBe(writer.acknowledged);
    expect((await clients.runs.searchRuns({ namespace: "faults/sync" })).totalCount).toBe(1n);
    expect(await stop()).toBeLessThan(STOP_MS_MAX);

    await start();
    await check.run(clients, await clients.system.verifyRun({ run: { id: run!.id } }));
    expect(await clients.system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
    expect((await put(run!.id, "a")).status).toBe(201);
    expect((await fetch(`${server!.url}/readyz`)).status).toBe(200);
  });

  it("D11 R3 refuses files after a failed sync of one, and is not ready", async () => {
    await start(buildShim(folder, { directory: join(data, "blobs"), kind: "sync", nth: 20 }));
    const { run } = await clients.runs.createRun({ namespace: "faults/sync" });
    let files = 0;
    let response = await put(run!.id, String(files));
    for (; response.status === 201 && files < ENVELOPES_MAX; response = await put(run!.id, String(files))) {
      files++;
    }
    expect(response.status).toBe(503);
    expect(await unready()).toMatchObject({
      status: 503,
      body: { code: "unavailable", reason: "SYNC_FAILED" },
    });
    expect(await (await put(run!.id, "more")).json()).toMatchObject({ reason: "SYNC_FAILED" });
    // The database has a file of its own and never failed.
    await new Writer(run!.id, "a").writeSome(transport(), 1);
    expect(await stop()).toBeLessThan(STOP_MS_MAX);

    await start();
    for (let i = 0; i < files; i++) {
      const found = await fetch(`${server!.url}/artifacts/${run!.id}/${i}`);
      expect(await found.text()).toBe(`content of ${i}`);
    }
    expect((await fetch(`${server!.url}/artifacts/${run!.id}/${files}`)).status).toBe(404);
    expect((await put(run!.id, "more")).status).toBe(201);
  });
});
