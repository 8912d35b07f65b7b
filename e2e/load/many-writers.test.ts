import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { startChild } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { frame, WRITE_PATH } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { dose, tally } from "../../tools/dose.ts";
import { asNpmStart, percentile, rssBytes } from "./measure.ts";

const WRITERS = 1_000;
const ENVELOPES_EACH = dose(3, 20);
const POINTS_EACH = 10;
const RSS_BYTES_MAX = 1e9;

/** gRPC status of one envelope written over a connection of its own. */
async function write(session: ClientHttp2Session, message: Uint8Array): Promise<string> {
  const stream = session.request({
    ":method": "POST",
    ":path": WRITE_PATH,
    "content-type": "application/grpc+proto",
    te: "trailers",
  });
  let status: string | undefined;
  const note = (headers: IncomingHttpHeaders): void => void (status ??= headers["grpc-status"]?.toString());
  stream.on("response", note);
  stream.on("trailers", note);
  stream.resume();
  stream.end(frame(message));
  await once(stream, "close");
  return status ?? "none";
}

it("R9 a thousand writers with an envelope always in flight: no error, nothing lost, nothing twice", async () => {
  const folder = makeFolder();
  const server = await startChild(["--data", folder], asNpmStart());
  onTestFinished(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true });
  });
  const { runs, system } = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  const { run } = await runs.createRun({ namespace: "load" });
  const ref = { id: run!.id };
  const sessions = Array.from({ length: WRITERS }, () => connect(server.url));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
  });
  await Promise.all(sessions.map((session) => once(session, "connect")));

  const values = Array.from({ length: POINTS_EACH }, (_, at) => at / 3);
  const latencies: number[] = [];
  const failures: string[] = [];
  let rssMax = 0;
  await Promise.all(
    sessions.map(async (session, at) => {
      for (let seq = 1; seq <= ENVELOPES_EACH; seq++) {
        const steps = values.map((_, index) => BigInt(seq * POINTS_EACH + index));
        const series = [{ key: `loss`, labels: { rank: String(at) }, steps, values }];
        const init = { run: ref, writer: `writer ${at}`, seq: BigInt(seq), series };
        const startMs = performance.now();
        const status = await write(session, toBinary(EnvelopeSchema, create(EnvelopeSchema, init)));
        latencies.push(performance.now() - startMs);
        if (status !== "0") failures.push(`writer ${at}, envelope ${seq}: grpc-status ${status}`);
        if (at === 0) rssMax = Math.max(rssMax, rssBytes(server.child.pid!));
      }
    }),
  );
  console.log(
    `${latencies.length} envelopes, p50 ${percentile(latencies, 0.5).toFixed(0)} ms, ` +
      `p99 ${percentile(latencies, 0.99).toFixed(0)} ms, RSS ${Math.round(rssMax / 1e6)} MB`,
  );
  tally("envelopes of writers at once", latencies.length);
  expect(failures).toEqual([]);
  expect(rssMax).toBeLessThan(RSS_BYTES_MAX);
  const verified = await system.verifyRun({ run: ref });
  expect(Number(verified.points)).toBe(WRITERS * ENVELOPES_EACH * POINTS_EACH);
  expect(verified.writers).toHaveLength(WRITERS);
  expect(verified.writers.every(({ envelopes }) => Number(envelopes) === ENVELOPES_EACH)).toBe(true);
  expect(verified.problems).toEqual([]);
});
