/** Downloads and uploads while the right to them ends. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { request as request1, type ClientRequest, type IncomingMessage } from "node:http";
import { connect, type ClientHttp2Session } from "node:http2";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { makeFolder, startServer } from "../testing/servers.ts";
import { forwardClock } from "../testing/walk-world.ts";

const SIZE_BYTES = 50 << 20;
const PIECE_BYTES = 1 << 20;
const DAY_US = 86_400_000_000;

const NAMESPACE = "lab";
const MODEL = "model.pt";

const clock = forwardClock();
const folder = makeFolder();
let server: Server;
let session: ClientHttp2Session;
/** The first one ends after a week, and the clock goes further. */
let adminToken: string;
/** It has the model. */
let runId: string;
beforeAll(async () => {
  server = await startServer(["--auth", "--data", folder], { clock });
  session = connect(server.listening.url);
  session.on("error", () => {});
  adminToken = server.newToken!;
  const access = createClient(AccessService, adminTransport());
  ({ secret: adminToken } = await access.createToken({ principal: "admin", name: "long" }));
  const { run } = await clientsOf(adminTransport()).runs.createRun({ namespace: NAMESPACE });
  runId = run!.id;
  const { status } = await fetch(`${server.listening.url}/artifacts/${runId}/${MODEL}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/octet-stream" },
    body: Buffer.alloc(SIZE_BYTES, 7),
  });
  expect(status).toBe(201);
});
afterAll(async () => {
  session.destroy();
  await server.close();
  rmSync(folder, { recursive: true });
});

function adminTransport() {
  const interceptor: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${adminToken}`);
    return next(request);
  };
  return createGrpcTransport({ baseUrl: server.listening.url, interceptors: [interceptor] });
}

let users = 0;

/** A new writer with a token of one day, an artifact that it is about to read or write, and an administrator. */
async function newWriter(artifact: string) {
  const name = `writer-${++users}`;
  const admin = createClient(AccessService, adminTransport());
  await admin.createPrincipal({ name, kind: PrincipalKind.USER });
  await admin.bindRole({ principal: name, role: Role.WRITER, scope: { namespace: NAMESPACE } });
  const { secret, token } = await admin.createToken({ principal: name, days: 1 });
  return { name, admin, artifact, tokenId: token!.id, authorization: `Bearer ${secret}` };
}
type Writer = Awaited<ReturnType<typeof newWriter>>;

/** Each takes away a right that a writer needs to continue. */
const ENDS: readonly (readonly [string, (writer: Writer) => Promise<unknown>])[] = [
  ["the token is revoked", ({ admin, tokenId }) => admin.revokeToken({ id: tokenId })],
  [
    "the role is taken",
    ({ admin, name }) => admin.unbindRole({ principal: name, scope: { namespace: NAMESPACE } }),
  ],
  ["the principal is disabled", ({ admin, name }) => admin.updatePrincipal({ name, disabled: true })],
  [
    "the artifact is closed",
    ({ admin, artifact }) => admin.setClosed({ scope: { runId, artifact }, closed: true }),
  ],
  [
    "the run is moved",
    () => clientsOf(adminTransport()).runs.moveRun({ run: { id: runId }, namespace: "away" }),
  ],
  ["the run is closed", ({ admin }) => admin.setClosed({ scope: { runId }, closed: true })],
  [
    "the token expires",
    async ({ admin }) => {
      clock.addUs += 2 * DAY_US;
      await admin.createPrincipal({ name: `other-${++users}`, kind: PrincipalKind.GROUP });
    },
  ],
];

/** For the next test. */
async function openAgain({ admin, artifact }: Writer): Promise<void> {
  await clientsOf(adminTransport()).runs.moveRun({ run: { id: runId }, namespace: NAMESPACE });
  for (const scope of [{ runId }, { runId, artifact }]) await admin.setClosed({ scope, closed: false });
}

/** How many bytes the folder has in files that are not content yet. */
async function arrivedBytes(): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const path = join(parentPath, name);
    if (path.includes("incoming"))
      bytes += await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
  }
  return bytes;
}

interface Exchange {
  out: Writable;
  /** The status and the body, once there is an answer. */
  answer: Promise<{ status: number; body: Readable }>;
}

type Open = (method: string, path: string, headers: Record<string, string>) => Exchange;

const PROTOCOLS: readonly (readonly [string, Open])[] = [
  [
    "HTTP/1.1",
    (method, path, headers) => {
      const { hostname, port } = new URL(server.listening.url);
      const out: ClientRequest = request1({ hostname, port, method, path, headers, agent: false });
      out.on("error", () => {});
      const answer = once(out, "response").then(([response]) => {
        const body = response as IncomingMessage;
        return { status: body.statusCode!, body };
      });
      return { out, answer };
    },
  ],
  [
    "HTTP/2",
    (method, path, headers) => {
      const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: false });
      stream.on("error", () => {});
      const answer = once(stream, "response").then(([head]) => ({
        status: (head as { ":status": number })[":status"],
        body: stream,
      }));
      return { out: stream, answer };
    },
  ],
];

/** Reads until the end. Returns how much that was, and whether the end was a regular one. */
async function readOn(body: Readable): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0;
  try {
    for await (const chunk of body) bytes += (chunk as Buffer).length;
  } catch {
    return { bytes, isWhole: false };
  }
  return { bytes, isWhole: bytes === SIZE_BYTES };
}

describe.each(PROTOCOLS)("content over %s", (protocol, open) => {
  const pathOf = ({ artifact }: Writer) => `/artifacts/${runId}/${artifact}`;

  /** A download whose reader has taken a little and takes no more. */
  async function beginDownload(writer: Writer): Promise<{ body: Readable; taken: number }> {
    const { out, answer } = open("GET", pathOf(writer), { authorization: writer.authorization });
    out.end();
    const { status, body } = await answer;
    expect(status).toBe(200);
    await once(body, "readable");
    return { body, taken: (body.read() as Buffer).length };
  }

  it.each(ENDS)("A42 a download ends when %s, also while its reader pauses", async (_what, end) => {
    const writer = await newWriter(MODEL);
    const { body, taken } = await beginDownload(writer);
    await end(writer);
    const { bytes, isWhole } = await readOn(body);
    expect(isWhole).toBe(false);
    expect(taken + bytes).toBeLessThan(SIZE_BYTES);
    await openAgain(writer);
  });

  it("A42 a download continues when something else changes", async () => {
    const [writer, other] = [await newWriter(MODEL), await newWriter("other.pt")];
    const { body, taken } = await beginDownload(writer);
    for (const [, end] of ENDS.slice(0, 4)) await end(other);
    const { bytes } = await readOn(body);
    expect(taken + bytes).toBe(SIZE_BYTES);
  });

  it.each(ENDS)("A42 an upload is refused when %s, and nothing of it is stored", async (what, end) => {
    const writer = await newWriter(`${protocol}-${what}`.replaceAll(/\W/g, "-"));
    const { out, answer } = open("PUT", pathOf(writer), {
      authorization: writer.authorization,
      "content-type": "application/octet-stream",
      "content-length": String(SIZE_BYTES),
    });
    out.write(Buffer.alloc(PIECE_BYTES));
    await expect.poll(arrivedBytes).toBeGreaterThan(0);
    await end(writer);
    const { status, body } = await answer;
    body.resume();
    expect([401, 403]).toContain(status);
    out.destroy();
    await expect.poll(arrivedBytes).toBe(0);
    await openAgain(writer);
    const { artifacts } = await clientsOf(adminTransport()).artifacts.listArtifacts({ run: { id: runId } });
    expect(artifacts.map(({ name }) => name)).toEqual([MODEL]);
  });
});
