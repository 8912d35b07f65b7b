import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { Encoding, type EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Way } from "#wire/connect/testing/ways.ts";
import { startServer, TWO_WAYS, useWays, WAYS } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

const json: Way = {
  name: "Connect with JSON over HTTP/2",
  server: "fast",
  json: true,
  duplex: true,
  transport: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
};
/** Two of those where both sides may stream at once; the others are in server/api/ways.test.ts. */
const DUPLEX = [TWO_WAYS[0]!, json];
const open = useWays(DUPLEX);

function envelope(id: string, seq: number): EnvelopeInit {
  return {
    run: { id },
    writer: "w",
    seq: BigInt(seq),
    series: [{ key: "k", values: [seq], steps: [BigInt(seq)] }],
  };
}

/** What a test feeds to a stream, one at a time. */
class Feed<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #wake = Promise.withResolvers<void>();
  #ended = false;

  push(item: T): void {
    this.#waiting.push(item);
    this.#wake.resolve();
  }

  end(): void {
    this.#ended = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!;
      if (this.#ended) return;
      this.#wake = Promise.withResolvers<void>();
      await this.#wake.promise;
    }
  }
}

async function valuesOf(transport: Transport, id: string): Promise<number[]> {
  const { metrics } = clientsOf(transport);
  const { series } = await metrics.readSeries({
    series: [{ run: { id }, key: "k" }],
    encoding: Encoding.NUMBERS,
  });
  return series[0]?.values?.numbers ?? [];
}

describe.each(DUPLEX)("$name", (way) => {
  it("W1, D4 envelopes of a stream are acknowledged one by one and in order", async () => {
    const { runs, metrics, url } = open(way);
    const { run } = await runs.createRun({});
    const { id } = run!;
    async function* sent(): AsyncGenerator<EnvelopeInit> {
      for (let seq = 1; seq <= 300; seq++) yield envelope(id, seq);
      yield envelope(id, 300);
    }
    const acks: [bigint, boolean][] = [];
    for await (const ack of metrics.streamEnvelopes(sent())) acks.push([ack.seq, ack.duplicate]);
    expect(acks.map(([seq]) => Number(seq))).toEqual([...Array.from({ length: 300 }, (_, i) => i + 1), 300]);
    expect(acks.filter(([, duplicate]) => duplicate)).toEqual([[300n, true]]);
    expect(await valuesOf(way.transport(url), id)).toHaveLength(300);
  });

  it("W1 an acknowledgement comes while the stream is open", async () => {
    const { runs, metrics } = open(way);
    const { run } = await runs.createRun({});
    const feed = new Feed<EnvelopeInit>();
    const acks = metrics.streamEnvelopes(feed)[Symbol.asyncIterator]();
    for (let seq = 1; seq <= 5; seq++) {
      feed.push(envelope(run!.id, seq));
      expect((await acks.next()).value).toMatchObject({ seq: BigInt(seq), duplicate: false });
    }
    feed.end();
    expect((await acks.next()).done).toBe(true);
  });

  it("W2, W6 an error ends the stream, and what was acknowledged stays", async () => {
    const { runs, metrics, url } = open(way);
    const { run } = await runs.createRun({});
    const { id } = run!;
    async function* sent(): AsyncGenerator<EnvelopeInit> {
      yield envelope(id, 1);
      yield envelope(id, 2);
      yield envelope(id, 7);
      yield envelope(id, 3);
    }
    const acks: bigint[] = [];
    const error = await errorOf(
      (async () => {
        for await (const ack of metrics.streamEnvelopes(sent())) acks.push(ack.seq);
      })(),
    );
    expect(acks).toEqual([1n, 2n]);
    expect(error).toMatchObject({
      code: "FailedPrecondition",
      details: [{ reason: "SEQ_GAP", facts: { expected: "3" } }],
    });
    expect(await valuesOf(way.transport(url), id)).toEqual([1, 2]);
    const refused = await errorOf(metrics.writeEnvelope(envelope(id, 7)));
    expect(error).toEqual(refused);
  });

  it("W4 malformed messages of a stream are refused by name", async () => {
    const { runs, metrics, url } = open(way);
    const { run } = await runs.createRun({});
    const { id } = run!;
    const bad: EnvelopeInit = { run: { id }, series: [{ key: "k", values: [1, 2], steps: [1n] }] };
    async function* sent(): AsyncGenerator<EnvelopeInit> {
      yield envelope(id, 1);
      yield bad;
    }
    const error = await errorOf(
      (async () => {
        for await (const ack of metrics.streamEnvelopes(sent())) expect(ack.seq).toBe(1n);
      })(),
    );
    expect(error).toMatchObject({ code: "InvalidArgument", details: [{ reason: "COLUMNS_UNEVEN" }] });
    expect(error).toEqual(await errorOf(metrics.writeEnvelope(bad)));
    expect(await valuesOf(way.transport(url), id)).toEqual([1]);
  });

  it("W4 abandoned streams lose nothing that was acknowledged, and do not affect others", async () => {
    const { runs, metrics, url } = open(way);
    const { run } = await runs.createRun({});
    const { id } = run!;
    const stop = new AbortController();
    const feed = new Feed<EnvelopeInit>();
    const acks = metrics.streamEnvelopes(feed, { signal: stop.signal })[Symbol.asyncIterator]();
    feed.push(envelope(id, 1));
    await acks.next();
    // Several are in flight when the client disconnects.
    for (let seq = 2; seq <= 20; seq++) feed.push(envelope(id, seq));
    stop.abort();
    await expect(acks.next()).rejects.toMatchObject({ code: Code.Canceled });
    feed.end();
    const silent = Array.from({ length: 50 }, () => {
      const quiet = new AbortController();
      const answers = metrics.streamEnvelopes(new Feed<EnvelopeInit>(), { signal: quiet.signal });
      const ended = expect(answers[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: Code.Canceled,
      });
      return { quiet, ended };
    });
    const stored = await valuesOf(way.transport(url), id);
    expect(stored).toEqual(stored.map((_, i) => i + 1));
    expect(stored.length).toBeGreaterThanOrEqual(1);
    for (const { quiet, ended } of silent) {
      quiet.abort();
      await ended;
    }
    // The writer continues where it stopped.
    const next = (await valuesOf(way.transport(url), id)).length + 1;
    expect(await metrics.writeEnvelope(envelope(id, next))).toMatchObject({ seq: BigInt(next) });
  });
});

it("B2 open streams are notified when the server stops, and do not delay it", async () => {
  // A server that waited for its clients would not stop before the test ends.
  const server = await startServer([], { closeRequestsMs: 600_000 });
  const { url } = server.listening;
  const ways = [...WAYS.filter((way) => way.server === "fast" && way.duplex), json];
  const clients = ways.map((way) => clientsOf(way.transport(url)));
  const ended: Promise<unknown>[] = [];
  for (const { runs, metrics } of clients) {
    const { run } = await runs.createRun({});
    const feed = new Feed<EnvelopeInit>();
    const acks = metrics.streamEnvelopes(feed)[Symbol.asyncIterator]();
    feed.push(envelope(run!.id, 1));
    expect((await acks.next()).value).toMatchObject({ seq: 1n });
    ended.push(errorOf(acks.next()));
  }
  await server.close();
  for (const error of await Promise.all(ended)) expect(error).toMatchObject({ code: "Unavailable" });
});
