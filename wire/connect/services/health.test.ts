import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { HealthCheckResponse_ServingStatus as Serving } from "#proto/grpc/health/v1/health_pb.ts";
import { Health, type HealthSource, registerHealth } from "#wire/connect/services/health.ts";

/** A source whose statuses the test sets. */
class Statuses implements HealthSource {
  readonly #serving = new Map<string, boolean>([["", true]]);
  readonly listeners = new Set<() => void>();

  serving(service: string): boolean | undefined {
    return this.#serving.get(service);
  }

  subscribe(onChange: () => void): () => void {
    this.listeners.add(onChange);
    return () => this.listeners.delete(onChange);
  }

  set(service: string, serving: boolean): void {
    this.#serving.set(service, serving);
    for (const listener of this.listeners) listener();
  }
}

async function open(): Promise<{ source: Statuses; client: Client<typeof Health> }> {
  const source = new Statuses();
  const handler = connectNodeAdapter({ routes: (router) => registerHealth(router, source) });
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  return { source, client: createClient(Health, createGrpcTransport({ baseUrl, sessionManager })) };
}

test("Check returns the status, and NOT_FOUND for an unknown service", async () => {
  const { source, client } = await open();
  expect((await client.check({})).status).toBe(Serving.SERVING);
  source.set("", false);
  expect((await client.check({ service: "" })).status).toBe(Serving.NOT_SERVING);
  const error: unknown = await client.check({ service: "no.Such" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectError);
  expect((error as ConnectError).code).toBe(Code.NotFound);
});

test("Watch sends the current status, then every change, and unsubscribes at the end", async () => {
  const { source, client } = await open();
  const stop = new AbortController();
  const seen: Serving[] = [];
  const done = (async () => {
    for await (const { status } of client.watch({ service: "late.Service" }, { signal: stop.signal })) {
      seen.push(status);
      if (seen.length === 1) source.set("late.Service", true);
      if (seen.length === 2) source.set("other.Service", true);
      if (seen.length === 2) source.set("late.Service", false);
      if (seen.length === 3) stop.abort();
    }
  })();
  await expect(done).rejects.toMatchObject({ code: Code.Canceled });
  expect(seen).toEqual([Serving.SERVICE_UNKNOWN, Serving.SERVING, Serving.NOT_SERVING]);
  await expect.poll(() => source.listeners.size).toBe(0);
});
