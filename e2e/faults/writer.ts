import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { MetricService, type Envelope } from "#proto/cairn/v1/metric_pb.ts";
import { contentOf, type Content } from "./content.ts";

type Metrics = Client<typeof MetricService>;

/**
 * One writer of one run that outlives the servers it writes to, with the ledger of what they have
 * acknowledged. Its envelopes are generated from its name and their numbers, so that they need not be stored.
 */
export class Writer {
  readonly runId: string;
  readonly name: string;
  readonly #window: number;
  readonly #batch: number;
  #onAck: () => void = () => {};
  /** The last number that was acknowledged: from then on it must be there. */
  acknowledged = 0;
  /** The last number that was sent, whatever became of it. */
  sent = 0;

  /** With a window it streams and keeps so many on their way; with a batch it sends so many in one call. Else it waits for each answer. */
  constructor(runId: string, name: string, { window = 0, batch = 0 } = {}) {
    this.runId = runId;
    this.name = name;
    this.#window = window;
    this.#batch = batch;
  }

  /** Writes until the server is gone. `stored` is the last stored number of earlier writes. */
  async write(transport: Transport, stored: number, onAck: () => void): Promise<void> {
    this.#onAck = onAck;
    const client = createClient(MetricService, transport);
    try {
      if (this.#window > 0) await this.#stream(client, stored);
      else if (this.#batch > 0) await this.#callWithMany(client, stored);
      else await this.#call(client, stored);
    } catch (thrown) {
      if (thrown instanceof BrokenPromise) throw thrown;
      // The server was killed; its last answer is in the ledger.
    }
  }

  /** Writes so many, all of which must be acknowledged. */
  async writeSome(transport: Transport, count: number): Promise<void> {
    const client = createClient(MetricService, transport);
    for (let i = 0; i < count; i++) {
      const seq = ++this.sent;
      this.#note(await client.writeEnvelope(this.#envelope(seq)), seq, 0);
    }
  }

  content(seq: number): Content {
    return contentOf(this.name, seq);
  }

  async #call(client: Metrics, stored: number): Promise<void> {
    for (let seq = this.acknowledged + 1; ; seq++) {
      this.sent = Math.max(this.sent, seq);
      const ack = await client.writeEnvelope(this.#envelope(seq));
      this.#note(ack, seq, stored);
    }
  }

  async #callWithMany(client: Metrics, stored: number): Promise<void> {
    for (;;) {
      const seqs = Array.from({ length: this.#batch }, (_, i) => this.acknowledged + 1 + i);
      this.sent = Math.max(this.sent, seqs.at(-1)!);
      const { results } = await client.writeEnvelopes({ envelopes: seqs.map((seq) => this.#envelope(seq)) });
      for (const [i, seq] of seqs.entries()) {
        const { ack, error } = results[i]!;
        if (ack === undefined) {
          throw new BrokenPromise(`envelope ${seq} of ${this.name} was refused: ${error?.message}`);
        }
        this.#note(ack, seq, stored);
      }
    }
  }

  async #stream(client: Metrics, stored: number): Promise<void> {
    let wake = Promise.withResolvers<void>();
    const first = this.acknowledged + 1;
    const envelopes = async function* (this: Writer) {
      for (let seq = first; ; seq++) {
        while (seq - this.acknowledged > this.#window) {
          wake = Promise.withResolvers<void>();
          await wake.promise;
        }
        this.sent = Math.max(this.sent, seq);
        yield this.#envelope(seq);
      }
    };
    let seq = first;
    for await (const ack of client.streamEnvelopes(envelopes.call(this))) {
      this.#note(ack, seq++, stored);
      wake.resolve();
    }
  }

  #note(ack: { seq: bigint; duplicate: boolean; points: bigint }, seq: number, stored: number): void {
    const { series } = this.content(seq);
    const points = series.reduce((sum, { values }) => sum + values.length, 0);
    if (Number(ack.seq) !== seq || ack.duplicate !== seq <= stored || Number(ack.points) !== points) {
      const said = `${ack.seq}, duplicate ${ack.duplicate}, ${ack.points} points`;
      throw new BrokenPromise(
        `envelope ${seq} of ${this.name} was acknowledged as ${said}; ${stored} were stored`,
      );
    }
    this.acknowledged = seq;
    this.#onAck();
  }

  #envelope(seq: number): Pick<Envelope, "writer" | "seq"> & ReturnType<typeof envelopeOf> {
    return {
      ...envelopeOf(this.runId, this.content(seq), this.name, seq),
      writer: this.name,
      seq: BigInt(seq),
    };
  }
}

/** The server broke a guarantee. */
export class BrokenPromise extends Error {}

/** The name under which a writer records its artifacts, each at the step of its envelope. */
export function artifactName(writer: string): string {
  return `inline/${writer}`;
}

function envelopeOf(runId: string, content: Content, writer: string, seq: number) {
  const { series, params, lines, artifact } = content;
  const recorded = { name: artifactName(writer), step: BigInt(seq), content: artifact! };
  return {
    run: { id: runId },
    series: series.map(({ key, steps, values }) => ({ key, values, steps: steps.map(BigInt) })),
    params,
    log: lines.length > 0 ? [{ lines, stream: "stdout", rank: 0 }] : [],
    artifacts: artifact === undefined ? [] : [recorded],
  };
}
