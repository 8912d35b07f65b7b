import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, describe, it } from "vitest";
import { LogOrigin, type LogLine } from "#proto/cairn/v1/log_pb.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { callRaw, errorOf, PROTOCOLS } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS, type WayIn } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

const open = useWays();

async function newRun({ runs }: WayIn): Promise<string> {
  const { run } = await runs.createRun({ namespace: "logs" });
  return run!.id;
}

const textsOf = (lines: readonly LogLine[]) => lines.map(({ text }) => text);

describe.each(TWO_WAYS)("$name", (way) => {
  it("L2, W1, D4 lines are returned as they were sent, in the next read", async () => {
    const api = open(way);
    const id = await newRun(api);
    const envelope: EnvelopeInit = {
      run: { id },
      writer: "w",
      seq: 1n,
      log: [
        { lines: ["first", "größe 🐈", ""], timesUs: [5n, -7n, 2n ** 53n] },
        { origin: LogOrigin.SCHEDULER, stream: "events", rank: 0, lines: ["sched\u0000uled"] },
      ],
    };
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({ duplicate: false, points: 0n });
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({ duplicate: true });
    const read = await api.logs.readLog({ run: { id } });
    expect(read).toMatchObject({ next: 4n, total: 4n, more: false });
    const process = { origin: LogOrigin.PROCESS, stream: "stdout" };
    expect(read.lines).toMatchObject([
      { number: 0n, timeUs: 5n, text: "first", ...process },
      { number: 1n, timeUs: -7n, text: "größe 🐈", ...process },
      { number: 2n, timeUs: 2n ** 53n, text: "", ...process },
      { number: 3n, origin: LogOrigin.SCHEDULER, stream: "events", rank: 0, text: "sched\u0000uled" },
    ]);
    expect(read.lines[0]!.rank).toBeUndefined();
    expect(read.lines[3]!.timeUs).toBeGreaterThan(1_700_000_000_000_000n);
  });

  it("L4, L5 lines are found by source, time, text and pattern", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({
      run: { id },
      log: [
        { rank: 0, lines: ["loss 0.5", "Error: none"], timesUs: [10n, 20n] },
        { rank: 1, stream: "stderr", lines: ["loss 0.7", "error: some"], timesUs: [30n, 40n] },
      ],
    });
    const read = async (filter: object, more: object = {}) =>
      textsOf((await api.logs.readLog({ run: { id }, filter, ...more })).lines);
    expect(await read({ rank: 0 })).toEqual(["loss 0.5", "Error: none"]);
    expect(await read({ stream: "stderr" })).toEqual(["loss 0.7", "error: some"]);
    expect(await read({ origin: LogOrigin.SCHEDULER })).toEqual([]);
    expect(await read({ fromUs: 20n, toUs: 30n })).toEqual(["Error: none", "loss 0.7"]);
    expect(await read({}, { from: -1n })).toEqual(["error: some"]);
    expect(await read({}, { limit: 1 })).toEqual(["loss 0.5"]);
    const search = async (request: object) =>
      textsOf((await api.logs.searchLog({ run: { id }, ...request })).lines);
    expect(await search({ text: "Error" })).toEqual(["Error: none"]);
    expect(await search({ text: "Error", ignoreCase: true })).toEqual(["Error: none", "error: some"]);
    expect(await search({ regex: "0\\.[6-9]$" })).toEqual(["loss 0.7"]);
    expect(await search({ text: "o", filter: { rank: 1 }, from: 3n })).toEqual(["error: some"]);
    expect(await api.logs.searchLog({ run: { id }, text: "loss", limit: 1 })).toMatchObject({
      next: 1n,
      more: true,
      searched: 1n,
    });
    expect(await errorOf(api.logs.searchLog({ run: { id } }))).toMatchObject({ code: "InvalidArgument" });
    expect(await errorOf(api.logs.readLog({ run: { id }, limit: 10_001 }))).toMatchObject({
      code: "InvalidArgument",
    });
    const unknown = { id: "f".repeat(32) };
    expect(await errorOf(api.logs.readLog({ run: unknown }))).toMatchObject({ code: "NotFound" });
  });

  it("L10 a tail sends lines as they are acknowledged and ends with the run", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["before"] }] });
    const taken: string[] = [];
    let next = 0n;
    let wrote = 0;
    for await (const answer of api.logs.tailLog({ run: { id }, from: 0n })) {
      taken.push(...textsOf(answer.lines));
      ({ next } = answer);
      // Each answer makes the next lines, so that they come while the stream is open.
      if (wrote < 3) await api.metrics.writeEnvelope({ run: { id }, log: [{ lines: [`line ${++wrote}`] }] });
      else await api.runs.updateRun({ run: { id }, status: RunStatus.FINISHED });
    }
    expect(taken).toEqual(["before", "line 1", "line 2", "line 3"]);
    expect(next).toBe(4n);
  });

  it("L10 a tail without a reader is cancelled", async () => {
    const api = open(way);
    const id = await newRun(api);
    const abort = new AbortController();
    const tail = api.logs.tailLog({ run: { id } }, { signal: abort.signal });
    const [started] = [await tail[Symbol.asyncIterator]().next()];
    expect(started).toMatchObject({ done: false, value: { lines: [], next: 0n } });
    abort.abort();
    await api.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["x"] }] });
    expect((await api.logs.readLog({ run: { id } })).total).toBe(1n);
  });

  it("L9, E6 an envelope with a line that is too long is refused as a whole", async () => {
    const api = open(way);
    const id = await newRun(api);
    const write = (lines: string[]) =>
      api.metrics.writeEnvelope({ run: { id }, writer: "w", seq: 1n, tags: { t: "x" }, log: [{ lines }] });
    const error = await errorOf(write(["fine", "x".repeat(65_537)]));
    expect(error).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
    const many = await errorOf(write(Array.from({ length: 1_001 }, () => "")));
    expect(many).toMatchObject({ code: "ResourceExhausted" });
    expect((await api.logs.readLog({ run: { id } })).total).toBe(0n);
    expect((await api.runs.getRun({ run: { id } })).tags).toEqual({});
  });

  it("L12, W1 artifacts in an envelope are stored with it, once", async () => {
    const api = open(way);
    const id = await newRun(api);
    const envelope: EnvelopeInit = {
      run: { id },
      writer: "w",
      seq: 1n,
      series: [{ key: "loss", values: [1] }],
      artifacts: [
        { name: "sample.txt", step: 3n, content: Buffer.from("hello"), metadata: { b: "[ 1 ]", a: "1.0" } },
        { name: "model", uri: "s3://bucket/model", sizeBytes: 5n },
      ],
    };
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({ duplicate: false });
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({ duplicate: true });
    const other = { ...envelope, artifacts: [{ name: "model", uri: "s3://bucket/other" }] };
    expect(await errorOf(api.metrics.writeEnvelope(other))).toMatchObject({ code: "AlreadyExists" });
    const { artifacts } = await api.artifacts.listArtifacts({ run: { id } });
    expect(artifacts).toMatchObject([
      { name: "model", uri: "s3://bucket/model", sizeBytes: 5n },
      { name: "sample.txt", step: 3n, sizeBytes: 5n, metadata: { a: "1.0", b: "[1]" } },
    ]);
    const wrong = { ...envelope, seq: 2n, artifacts: [{ name: "../x", uri: "s3://x" }], tags: { t: "x" } };
    expect(await errorOf(api.metrics.writeEnvelope(wrong))).toMatchObject({ code: "InvalidArgument" });
    expect((await api.runs.getRun({ run: { id } })).tags).toEqual({});
  });
});

it("L9, W4 a broken line is refused by name on every protocol", async () => {
  const api = open(TWO_WAYS[0]!);
  const id = await newRun(api);
  const message = toBinary(
    EnvelopeSchema,
    create(EnvelopeSchema, { run: { id }, log: [{ lines: ["broken"] }] }),
  );
  message[Buffer.from(message).indexOf("broken")] = 0xff;
  for (const protocol of PROTOCOLS) {
    expect(await callRaw(api.url, { protocol, message })).toMatchObject({
      ok: false,
      code: "InvalidArgument",
      details: [{ reason: "BAD_UTF8" }],
    });
  }
  expect((await api.logs.readLog({ run: { id } })).total).toBe(0n);
});
