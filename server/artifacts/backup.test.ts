import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, it } from "vitest";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { httpClient, sha256, type HttpClient } from "../testing/artifact-client.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let api: Clients;
let http: HttpClient;
let run: string;

beforeEach(async () => {
  folder = makeFolder();
  server = await startServer(["--data", folder]);
  api = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  http = httpClient(server.listening.url, "HTTP/1.1");
  run = (await api.runs.createRun({ namespace: "b" })).run!.id;
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const put = async (name: string, content: string) =>
  expect((await http.call("PUT", `/artifacts/${run}/${name}`, {}, content)).status).toBe(201);
const get = async (name: string) => {
  const { status, body } = await http.call("GET", `/artifacts/${run}/${name}`);
  return status === 200 ? body.toString() : status;
};
const remove = (name: string) => http.call("DELETE", `/artifacts/${run}/${name}`);
const isStored = (content: string) =>
  existsSync(join(folder, "blobs", sha256(content).slice(0, 2), sha256(content)));

it("F15 B1 a backup has the content of artifacts, and restoring it restores that", async () => {
  await put("kept", "kept");
  await put("lost", "to be lost");
  await put("replaced", "first");
  await api.artifacts.recordArtifact({
    run: { id: run },
    artifact: { name: "inline", content: Buffer.from("i") },
  });
  await api.system.createBackup({ name: "one" });
  await remove("lost");
  await put("replaced", "second");
  await put("newer", "newer");
  await api.artifacts.purgeArtifacts({ run: { id: run } });
  expect([isStored("to be lost"), isStored("first")]).toEqual([false, false]);

  const { keptAside } = await api.system.restoreBackup({ name: "one" });
  expect(await Promise.all(["kept", "lost", "replaced", "newer", "inline"].map(get))).toEqual([
    "kept",
    "to be lost",
    "first",
    404,
    "i",
  ]);
  expect((await api.system.checkIntegrity({})).problems).toEqual([]);

  await api.system.restoreBackup({ name: keptAside!.name });
  expect(await Promise.all(["kept", "lost", "replaced", "newer"].map(get))).toEqual([
    "kept",
    404,
    "second",
    "newer",
  ]);
  expect((await api.system.checkIntegrity({})).problems).toEqual([]);
});

it("F15 the content of a backup outlives its store", async () => {
  await put("a", "only in the backup");
  await api.system.createBackup({ name: "one" });
  await remove("a");
  await api.artifacts.purgeArtifacts({ run: { id: run } });
  const digest = sha256("only in the backup");
  const copy = join(folder, "backups", "one.blobs", digest.slice(0, 2), digest);
  expect(existsSync(copy)).toBe(true);
  expect(isStored("only in the backup")).toBe(false);
  // Damage in the backup is detected: it is not served.
  writeFileSync(copy, "damaged in the backup");
  await api.system.restoreBackup({ name: "one" });
  expect(await get("a")).toBe(500);
  expect((await api.system.checkIntegrity({})).problems).toEqual([expect.stringContaining("damaged")]);
});

it("F15 B1 a backup without content, of an earlier version, can be restored", async () => {
  await put("a", "content");
  await api.system.createBackup({ name: "old" });
  rmSync(join(folder, "backups", "old.blobs"), { recursive: true });
  await api.system.restoreBackup({ name: "old" });
  expect(await get("a")).toBe("content");
  const names = readdirSync(join(folder, "backups")).filter((name) => name.endsWith(".partial"));
  expect(names).toEqual([]);
});
