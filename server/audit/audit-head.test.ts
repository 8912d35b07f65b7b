import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isSigned, type SignedAuditHead } from "#core/access/audit/audit-head.ts";
import { CHAIN_START } from "#core/access/audit/audit-chain.ts";
import { AccessService, type AuditHead } from "#proto/cairn/v1/access_pb.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let access: Client<typeof AccessService>;
let api: Clients;

async function start(): Promise<void> {
  server = await startServer(["--data", folder]);
  const transport = createGrpcTransport({ baseUrl: server.listening.url });
  access = createClient(AccessService, transport);
  api = clientsOf(transport);
}

beforeEach(async () => {
  folder = makeFolder();
  await start();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const plain = ({ count, hash, timeUs, server: id, publicKey, signature }: AuditHead): SignedAuditHead => ({
  count: Number(count),
  hash,
  timeUs: Number(timeUs),
  server: id,
  publicKey,
  signature,
});

it("A40 S22 signs the length of the audit and its last hash, with a persistent key", async () => {
  const empty = plain(await access.getAuditHead({}));
  expect(empty).toMatchObject({ count: 0, hash: CHAIN_START });
  await api.namespaces.createNamespace({ path: "lab" });
  const head = plain(await access.getAuditHead({}));
  const { entries } = await access.listAudit({});
  expect(head).toMatchObject({ count: 1, hash: entries[0]!.hash, server: empty.server });
  await server.close();
  await start();
  const later = plain(await access.getAuditHead({}));
  expect(later.publicKey).toBe(head.publicKey);
  for (const one of [empty, head, later]) expect(isSigned(one)).toBe(true);
  for (const forged of [
    { ...head, count: 2 },
    { ...head, hash: CHAIN_START },
    { ...head, timeUs: head.timeUs + 1 },
    { ...head, server: "0".repeat(32) },
    { ...head, signature: later.signature },
    { ...head, publicKey: "" },
  ]) {
    expect(isSigned(forged), JSON.stringify(forged)).toBe(false);
  }
});

it("A40 S22 keeps the key readable only by the owner of the process, and out of backups", async () => {
  await access.getAuditHead({});
  const file = join(folder, "audit-key.pem");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = readFileSync(file, "utf8").split("\n")[1]!;
  await api.system.createBackup({ name: "one" });
  for (const name of readdirSync(join(folder, "backups"), { recursive: true, encoding: "utf8" })) {
    const path = join(folder, "backups", name);
    if (statSync(path).isFile()) expect(readFileSync(path).includes(key), name).toBe(false);
  }
  expect((await api.system.listBackups({})).backups).toHaveLength(1);
});

it("A40 refuses to sign with a file that is not a key, and does not replace it", async () => {
  writeFileSync(join(folder, "audit-key.pem"), "nonsense");
  await expect(access.getAuditHead({})).rejects.toThrow(/cannot read .*audit-key\.pem/);
  expect(readFileSync(join(folder, "audit-key.pem"), "utf8")).toBe("nonsense");
});
