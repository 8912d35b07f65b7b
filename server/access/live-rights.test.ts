import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { LogService } from "#proto/cairn/v1/log_pb.ts";
import { MetricService, type Envelope } from "#proto/cairn/v1/metric_pb.ts";
import { WatchService } from "#proto/cairn/v1/watch_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer(["--auth"]);

type MakeTransport = (options: { baseUrl: string; interceptors: Interceptor[] }) => Transport;

const TRANSPORTS: readonly [string, MakeTransport][] = [
  ["gRPC", createGrpcTransport],
  ["Connect", (options) => createConnectTransport({ ...options, httpVersion: "2" })],
];

function withToken(token: string, make: MakeTransport = createGrpcTransport): Transport {
  const interceptor: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return make({ baseUrl: server().listening.url, interceptors: [interceptor] });
}

let users = 0;

/** A new user who may write in a namespace of its own, with a run and a token. */
async function newUser(make?: MakeTransport) {
  const name = `user-${++users}`;
  const transport = withToken(server().newToken!);
  const admin = createClient(AccessService, transport);
  await admin.createPrincipal({ name, kind: PrincipalKind.USER, password: "correct horse" });
  await admin.bindRole({ principal: name, role: Role.WRITER, scope: { namespace: name } });
  const { run } = await clientsOf(transport).runs.createRun({ namespace: name });
  const { secret, token } = await admin.createToken({ principal: name });
  return { name, admin, runId: run!.id, tokenId: token!.id, own: withToken(secret, make) };
}
type User = Awaited<ReturnType<typeof newUser>>;

/** What a client sends over time. */
class Outbox<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #ring: () => void = () => {};

  send(item: T): void {
    this.#items.push(item);
    this.#ring();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift()!;
      await new Promise<void>((resolve) => (this.#ring = resolve));
    }
  }
}

/** Each opens a stream that has been answered once and is silent now; the next answer is awaited. */
const STREAMS: Readonly<Record<string, (user: User) => Promise<{ next: Promise<unknown> }>>> = {
  StreamEnvelopes: async ({ own, runId }) => {
    const outbox = new Outbox<Partial<Envelope>>();
    outbox.send({ run: { id: runId } } as Partial<Envelope>);
    const stream = createClient(MetricService, own).streamEnvelopes(outbox as never);
    const acks = stream[Symbol.asyncIterator]();
    await acks.next();
    return { next: acks.next() };
  },
  Watch: async ({ own }) => {
    const events = createClient(WatchService, own).watch({ runs: {} })[Symbol.asyncIterator]();
    await events.next();
    return { next: events.next() };
  },
  TailLog: async ({ own, runId }) => {
    await createClient(MetricService, own).writeEnvelope({ run: { id: runId }, log: [{ lines: ["one"] }] });
    const request = { run: { id: runId }, from: 0n, follow: true };
    const lines = createClient(LogService, own).tailLog(request)[Symbol.asyncIterator]();
    await lines.next();
    return { next: lines.next() };
  },
};

const ENDINGS: Readonly<Record<string, (user: User) => Promise<unknown>>> = {
  "its token was revoked": ({ admin, tokenId }) => admin.revokeToken({ id: tokenId }),
  "it logged out elsewhere": ({ own }) => createClient(AccessService, own).logOut({}),
  "it was disabled": ({ admin, name }) => admin.updatePrincipal({ name, disabled: true }),
  "it was deleted": ({ admin, name }) => admin.deletePrincipal({ name }),
};

describe("rights while a stream is open", () => {
  for (const [way, make] of TRANSPORTS) {
    for (const [method, open] of Object.entries(STREAMS)) {
      it.each(Object.keys(ENDINGS))(
        `A26 ${method} over ${way} ends, also without events, for a caller when %s`,
        async (ending) => {
          const user = await newUser(make);
          const { next } = await open(user);
          const refused = errorOf(next);
          await ENDINGS[ending]!(user);
          const ended = ["Unauthenticated", ...(ending.endsWith("disabled") ? ["PermissionDenied"] : [])];
          expect(ended).toContain((await refused).code);
        },
      );
    }
  }

  it("A26 the stream of a caller that lost its last role ends", async () => {
    for (const open of Object.values(STREAMS)) {
      const user = await newUser();
      const { next } = await open(user);
      const refused = errorOf(next);
      await user.admin.unbindRole({ principal: user.name, scope: { namespace: user.name } });
      expect(["PermissionDenied", "NotFound", "Aborted", "Canceled"]).toContain((await refused).code);
    }
  });

  it("A26 each envelope of a stream is judged by the rights of its moment", async () => {
    const user = await newUser();
    const { admin, name, runId } = user;
    // Other rights keep the stream open.
    await admin.bindRole({ principal: name, role: Role.WRITER, scope: { namespace: "elsewhere" } });
    const outbox = new Outbox<Partial<Envelope>>();
    const envelope = { run: { id: runId } } as Partial<Envelope>;
    const acks = createClient(MetricService, user.own).streamEnvelopes(outbox as never);
    const iterator = acks[Symbol.asyncIterator]();
    outbox.send(envelope);
    await iterator.next();
    await admin.bindRole({ principal: name, role: Role.VIEWER, scope: { namespace: name } });
    outbox.send(envelope);
    expect(await errorOf(iterator.next())).toMatchObject({ code: "PermissionDenied" });
    const transport = withToken(server().newToken!);
    const ledger = await clientsOf(transport).system.verifyRun({ run: { id: runId } });
    expect(ledger.unnumberedEnvelopes).toBe(1n);
  });

  it("A26 streams of others continue", async () => {
    const [one, other] = [await newUser(), await newUser()];
    const events = createClient(WatchService, other.own).watch({ runs: {} })[Symbol.asyncIterator]();
    await events.next();
    await one.admin.revokeToken({ id: one.tokenId });
    const next = events.next();
    await clientsOf(other.own).runs.updateRun({ run: { id: other.runId }, notes: "still here" });
    expect((await next).value).toMatchObject({ event: { case: "runs" } });
    await events.return?.();
  });
});
