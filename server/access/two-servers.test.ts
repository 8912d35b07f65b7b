import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { openCore, type Core } from "#core/open-core.ts";
import { OWNER, type Caller } from "#core/access/caller.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";

const ADMIN: Caller = { ...OWNER, permission: "administer" };
const STREAMS = 2;
/** More than streams, several times over: some of them may find their token in time. */
const HANG_UPS = 20;

const server = useServer(["--auth", "--quota-streams", String(STREAMS)]);
/** What a second server on the same store has. */
let other: Core;
let clients: Clients;

beforeAll(async () => {
  other = await openCore(server().stores, {
    clock: systemClock,
    artifactSizeMax: 1_000,
    auditSigner: () => generateKeyPairSync("ed25519").privateKey,
    onSweepFailure: (thrown) => {
      throw thrown;
    },
    onChoreFailure: (_, thrown) => {
      throw thrown;
    },
    system: { version: "", engines: {}, backupDirectory: undefined },
  });
  clients = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
  await other.access.createPrincipal(ADMIN, { name: "ada", kind: "user", displayName: "", password: "" });
  const scope = { namespace: "", runId: "", artifact: "" };
  await other.access.bindRole(ADMIN, { principal: "ada", role: "writer", scope });
});
afterAll(() => other.close());

/** A token that the server has not seen. */
async function fresh(): Promise<{ id: string; headers: { authorization: string }; secret: string }> {
  const asked = { principal: "ada", name: "", role: undefined, namespaces: [], days: 0 };
  const { secret, token } = await other.access.createToken(ADMIN, asked);
  return { id: token.id, secret, headers: { authorization: `Bearer ${secret}` } };
}

it("A43 a token that another server gave out is good on every wire at once, and no longer than there", async () => {
  const { url } = server().listening;
  const json = { "content-type": "application/json" };
  const calls: ((token: Awaited<ReturnType<typeof fresh>>) => Promise<unknown>)[] = [
    ({ headers }) => clients.runs.createRun({}, { headers }),
    ({ headers }) => clients.runs.searchRuns({}, { headers }),
    async ({ headers }) => {
      const body = { method: "POST", headers: { ...json, ...headers }, body: "{}" };
      expect((await fetch(`${url}/cairn.v1.RunService/SearchRuns`, body)).status).toBe(200);
    },
    async ({ headers }) => expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200),
    async ({ secret }) => {
      const body = { method: "POST", headers: json, body: JSON.stringify({ token: secret }) };
      expect((await fetch(`${url}/session`, body)).status).toBe(204);
    },
  ];
  for (const call of calls) await call(await fresh());
  const { id, headers } = await fresh();
  await clients.runs.searchRuns({}, { headers });
  await other.access.revokeToken(ADMIN, id);
  const code = async () =>
    clients.runs.searchRuns({}, { headers }).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown).code,
    );
  await expect.poll(code, { timeout: 3_000 }).toBe(Code.Unauthenticated);
});

it("A43 K3 a caller that hangs up before its token was found takes no stream along", async () => {
  const { url } = server().listening;
  const session = connectHttp2(url);
  await once(session, "connect");
  const asked = [
    { ":method": "POST", ":path": "/cairn.v1.WatchService/Watch", "content-type": "application/grpc+proto" },
    { ":method": "GET", ":path": "/artifacts/x/y" },
  ];
  for (let i = 0; i < HANG_UPS; i++) {
    // Another token was just looked up, so that the look for the next one begins with a rest.
    await clients.runs.searchRuns({}, { headers: (await fresh()).headers });
    const stream = session.request({ ...asked[i % asked.length], ...(await fresh()).headers });
    stream.on("error", () => {});
    // An answer to this says that the server has the request.
    await new Promise((resolve) => session.ping(resolve));
    stream.close(constants.NGHTTP2_CANCEL);
    await once(stream, "close");
  }
  session.close();
  // What was shown before is found before this one is.
  const { headers } = await fresh();
  await clients.runs.createRun({}, { headers });
  const watching = new AbortController();
  for (let i = 0; i < STREAMS; i++) {
    const events = clients.watch.watch({ runs: {} }, { headers, signal: watching.signal });
    expect((await events[Symbol.asyncIterator]().next()).done).toBe(false);
  }
  watching.abort();
});
