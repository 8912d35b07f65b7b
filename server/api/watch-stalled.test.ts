import { once } from "node:events";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, it, vi } from "vitest";
import { WatchRequestSchema } from "#proto/cairn/v1/watch_pb.ts";
import { frame } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, WAYS } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";
import { Watching } from "../testing/watching.ts";

const server = useServer();
const STALLED = 20;
/** More than a client's window, so that the first event fills it. */
const NOTES = "x".repeat(100_000);

/** Watches over gRPC and reads only the head of the answer. */
async function stalledWatch(session: ClientHttp2Session): Promise<ClientHttp2Stream> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/cairn.v1.WatchService/Watch",
    "content-type": "application/grpc+proto",
    te: "trailers",
  });
  stream.on("error", () => {});
  const request = create(WatchRequestSchema, { runs: { columns: ["notes"] } });
  stream.end(frame(toBinary(WatchRequestSchema, request)));
  await once(stream, "response");
  return stream;
}

async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${server().listening.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)![1]);
}

it("H5, H6 a client that does not read pauses its watch, and costs nothing after it disconnects", async () => {
  const { url } = server().listening;
  const { runs, watch } = clientsOf(WAYS[0]!.transport(url));
  const { run } = await runs.createRun({});
  const { id } = run!;
  const healthy = await Watching.open(watch, { runs: { columns: ["notes"] } });
  const sessions = Array.from({ length: STALLED }, () => connect(url).on("error", () => {}));
  for (const session of sessions) await stalledWatch(session);
  expect(await gauge("cairn_watchers")).toBe(STALLED + 1);
  const before = await gauge("cairn_watch_events");
  const rounds = 30;
  for (let i = 0; i < rounds; i++) {
    await runs.updateRun({ run: { id }, notes: `${i} ${NOTES}` });
    expect((await healthy.next("runs")).runs).toMatchObject([{ id, notes: `${i} ${NOTES}` }]);
  }
  // One in flight to each, and one that waits for the window.
  const made = (await gauge("cairn_watch_events")) - before;
  expect(made).toBeGreaterThanOrEqual(rounds);
  expect(made).toBeLessThanOrEqual(rounds + 3 * STALLED);
  for (const session of sessions) session.destroy();
  await vi.waitFor(async () => expect(await gauge("cairn_watchers")).toBe(1), { timeout: 30_000 });
  await runs.updateRun({ run: { id }, notes: "last" });
  expect((await healthy.next("runs")).runs).toMatchObject([{ id, notes: "last" }]);
  healthy.stop();
  await vi.waitFor(async () => expect(await gauge("cairn_watchers")).toBe(0), { timeout: 30_000 });
});
