import { rmSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { dose, seed, tally } from "../../../tools/dose.ts";
import { FLOOD, fileOf, generator } from "../content.ts";
import { Uploader } from "../uploader.ts";
import { WriterCheck } from "../writer-check.ts";
import { Writer } from "../writer.ts";
import { Disk, LOSSES } from "./disk.ts";
import { Recording, type FileCall } from "./recording.ts";

const IMAGES = dose(12, 100);
const ACKNOWLEDGED_MIN = 150;
/** Fewer would not be folded into chunks. */
const FLOOD_ENVELOPES = 14;

/** What a writer or an uploader knew at a position of the recording. */
interface Ack {
  position: number;
  name: string;
  number: number;
}

/** A server was recorded while clients wrote to it. */
interface Past {
  calls: FileCall[];
  acks: Ack[];
  runId: string;
  /** How much each writer and uploader had sent in the end. */
  sent: Map<string, number>;
}

/** Writes to a recorded server until it is killed. */
async function record(folder: string, data: string): Promise<Past> {
  const recording = new Recording(folder, data);
  const server = await startChild(["--data", data], { env: recording.env });
  const transport = createGrpcTransport({ baseUrl: server.url });
  const { run } = await clientsOf(transport).runs.createRun({ namespace: "faults/power" });
  const runId = run!.id;
  const acks: Ack[] = [{ position: recording.position, name: "run", number: 1 }];
  const enough = Promise.withResolvers<void>();
  const note = (one: Writer | Uploader) => () => {
    acks.push({ position: recording.position, name: one.name, number: one.acknowledged });
    const counts = Map.groupBy(acks, ({ name }) => name);
    if (acks.length > ACKNOWLEDGED_MIN && counts.has("files") && counts.has("many")) enough.resolve();
  };
  const flood = new Writer(runId, FLOOD);
  await flood.writeSome(transport, FLOOD_ENVELOPES);
  note(flood)();
  const writers = [new Writer(runId, "one"), new Writer(runId, "many", { batch: 5 })];
  const uploader = new Uploader(runId, "files");
  const writing = [
    flood.write(transport, FLOOD_ENVELOPES, note(flood)),
    ...writers.map((writer) => writer.write(transport, 0, note(writer))),
    uploader.write(server.url, note(uploader)),
  ];
  await Promise.race([enough.promise, Promise.all(writing)]);
  server.child.kill("SIGKILL");
  await Promise.all([server.exited, ...writing]);
  const sent = new Map([flood, ...writers].map((writer) => [writer.name, writer.sent]));
  sent.set(uploader.name, uploader.begun);
  return { calls: recording.read(), acks, runId, sent };
}

/** Everything that was acknowledged up to a position is there, and nothing in part. */
async function check(server: ChildServer, { acks, runId, sent }: Past, position: number): Promise<void> {
  const clients = clientsOf(createGrpcTransport({ baseUrl: server.url }));
  const known = new Map<string, number>();
  for (const ack of acks) if (ack.position <= position) known.set(ack.name, ack.number);
  expect(await clients.system.checkIntegrity({})).toMatchObject({ ok: true, problems: [] });
  if (!known.has("run")) return;
  const verified = await clients.system.verifyRun({ run: { id: runId } });
  expect(verified.problems).toEqual([]);
  expect(verified.verdict).toContain(", 0 gaps");
  for (const name of [FLOOD, "one", "many"]) {
    const writer = new Writer(runId, name);
    writer.acknowledged = known.get(name) ?? 0;
    writer.sent = sent.get(name)!;
    await new WriterCheck(writer).run(clients, verified);
  }
  for (let n = 1; n <= (known.get("files") ?? 0); n++) {
    const file = `files/${n}`;
    const response = await fetch(`${server.url}/artifacts/${runId}/${file}`);
    const body = Buffer.from(await response.arrayBuffer());
    expect([response.status, body.equals(fileOf(file))], file).toEqual([200, true]);
  }
}

it("B236 R5 acknowledged writes and files survive a loss of power, whatever was not synced is lost, kept or torn", async () => {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "data");
  const past = await record(folder, data);
  const random = generator(seed);
  const moments = Array.from({ length: IMAGES }, () => Math.floor(random() * past.calls.length));
  const disk = new Disk(data);
  let done = 0;
  for (const [i, moment] of moments.toSorted((a, b) => a - b).entries()) {
    for (; done < moment; done++) disk.apply(past.calls[done]!);
    const loss = LOSSES[i % LOSSES.length]!;
    const image = join(folder, `image-${i}`);
    disk.writeImage(image, loss, random);
    const position = moment === 0 ? 0 : past.calls[moment - 1]!.position;
    try {
      const server = await startChild(["--data", image]);
      onTestFinished(() => void server.child.kill("SIGKILL"));
      await check(server, past, position);
      server.child.kill("SIGKILL");
      await server.exited;
    } catch (thrown) {
      throw new Error(`image ${i} of CAIRN_SEED=${seed}: ${loss} lost after ${moment} calls`, {
        cause: thrown,
      });
    }
    rmSync(image, { recursive: true });
  }
  tally("power-loss images", IMAGES);
  console.log(`${IMAGES} images of ${past.calls.length} calls with ${past.acks.length} acknowledgements`);
}, 900_000);
