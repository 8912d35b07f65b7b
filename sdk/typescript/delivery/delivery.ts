import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { unlink } from "node:fs/promises";
import { isRunId } from "#base/run-id.ts";
import { DescribeKeyRequestSchema } from "#proto/cairn/v1/key_pb.ts";
import { SourceRefSchema } from "#proto/cairn/v1/lineage_pb.ts";
import type { ForbiddenCapture } from "#proto/cairn/v1/namespace_pb.ts";
import { CreateRunRequestSchema, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "../client.ts";
import { Failure } from "../failure.ts";
import { isFinal } from "../retry.ts";
import { FRAME_KIND } from "../spool/frame.ts";
import type { FrameSource, SpooledFrame } from "../spool/frame-source.ts";
import { sendEnvelope, type Sent, type SeqRange } from "./send-envelope.ts";
import { upload, UploadOrder, UploadRefused, type OnUploadProgress } from "./upload.ts";

/** The results of the delivery. */
export interface DeliveryCounts {
  /** Envelopes that the server has, also those it had before. */
  envelopes: number;
  duplicates: number;
  /** Numbers that were declared lost. */
  lost: number;
  /** Frames that the server will never take; they were set aside. */
  refused: number;
  uploads: number;
  sources: number;
  /** Descriptions of metric keys. */
  descriptions: number;
  /** Of kinds that this client does not know. */
  skipped: number;
}

export interface DeliveryOptions {
  cairn: Cairn;
  source: FrameSource;
  /** The body of the open frame, where it does not come from the source. */
  open?: Uint8Array | undefined;
  /** The run is known from now on; undefined for one that was named by its id. */
  onOpen?(run: Run | undefined, created: boolean): void;
  /** The server has taken something of the run, for the first time. */
  onAnswer?(): void;
  /** Something will never be delivered. `kept` says where it is; undefined when nothing is kept. */
  onRefused?(what: string, why: string, kept: string | undefined): void;
  /** What must not be captured for the run. With `wasSent` the server has left something of it out. */
  onForbidden?(forbidden: ForbiddenCapture, wasSent: boolean): void;
  onLost?(range: SeqRange): void;
  onEnvelope?(): void;
  onUploadProgress?: OnUploadProgress | undefined;
}

const CREATE_MS_MAX = 30_000;
/** Envelopes in flight at once. The server takes them in order; one that overtakes another is sent again. */
const WINDOW = 8;
const WINDOW_BYTES_MAX = 4 << 20;
const GAPS_MAX = 5;

interface Queued {
  frame: SpooledFrame;
  order: UploadOrder;
}

/**
 * Brings the frames of one writer to the server. `drain` and `drainUploads` continue until there is nothing more to read;
 * they throw Failure when the server refuses something for now, and continue there when they are called again. The
 * two may run at the same time, each once.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly counts: DeliveryCounts = {
    envelopes: 0,
    duplicates: 0,
    lost: 0,
    refused: 0,
    uploads: 0,
    sources: 0,
    descriptions: 0,
    skipped: 0,
  };
  #cairn: Cairn;
  #open: Uint8Array | undefined;
  #runId: string | undefined;
  #frames: readonly SpooledFrame[] = [];
  #at = 0;
  readonly #done = new Set<SpooledFrame>();
  /** Of envelopes whose predecessors will never come. */
  readonly #lost = new Map<number, SeqRange>();
  readonly #asked = new Set<number>();
  readonly #uploads: Queued[] = [];
  /** After a failure one at a time: only then a gap is real. */
  #alone = false;
  #hasAnswered = false;
  #gaps = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#cairn = options.cairn;
    this.#open = options.open;
  }

  /** The same server from now on, with another token. */
  use(cairn: Cairn): void {
    this.#cairn = cairn;
  }

  /** undefined until the server has named it. */
  get runId(): string | undefined {
    return this.#runId;
  }

  get uploadsLeft(): number {
    return this.#uploads.length;
  }

  /** Envelopes and sources; uploads are put in their own queue. */
  async drain(signal: AbortSignal): Promise<void> {
    if (this.#open !== undefined) await this.#openRun(signal);
    for (;;) {
      if (this.#at >= this.#frames.length) {
        const frames = this.#options.source.read();
        if (frames === undefined) return;
        this.#frames = frames;
        this.#at = 0;
        this.#done.clear();
      }
      const frame = this.#frames[this.#at]!;
      if (this.#done.has(frame)) this.#at++;
      else if (frame.kind === FRAME_KIND.envelope) await this.#sendSome(signal);
      else await this.#takeOther(frame, signal);
      signal.throwIfAborted();
    }
  }

  async #takeOther(frame: SpooledFrame, signal: AbortSignal): Promise<void> {
    switch (frame.kind) {
      case FRAME_KIND.open:
        if (this.#runId === undefined) {
          this.#open = frame.body;
          await this.#openRun(signal);
        }
        this.#finish(frame);
        break;
      case FRAME_KIND.upload: {
        const order = parseOrder(frame.body);
        if (order === undefined) this.#refuse(frame, "an upload", "it cannot be read");
        else this.#uploads.push({ frame, order });
        this.#done.add(frame);
        break;
      }
      case FRAME_KIND.source:
        await this.#call(frame, "a source", async (cairn) => {
          const [run, source] = [{ id: this.#requireRun() }, fromBinary(SourceRefSchema, frame.body)];
          await cairn.lineage.addSource({ run, source }, { signal });
          this.counts.sources++;
        });
        break;
      case FRAME_KIND.describe:
        await this.#call(frame, describedKey(frame.body), async (cairn) => {
          await cairn.metrics.describeKey(fromBinary(DescribeKeyRequestSchema, frame.body), { signal });
          this.counts.descriptions++;
        });
        break;
      default:
        this.counts.skipped++;
        this.#finish(frame);
    }
  }

  async #openRun(signal: AbortSignal): Promise<void> {
    if (this.#runId !== undefined) return;
    const request = fromBinary(CreateRunRequestSchema, this.#open!);
    const given = request.aliases.find((alias) => alias.startsWith(ID_ALIAS))?.slice(ID_ALIAS.length);
    if (given !== undefined && isRunId(given)) {
      this.#runId = given;
      this.#options.onOpen?.(undefined, false);
      return;
    }
    const cairn = this.#cairn;
    try {
      const answer = await cairn.runs.createRun(request, { signal, timeoutMs: CREATE_MS_MAX });
      const { run, created, forbiddenCapture } = answer;
      if (run === undefined || !isRunId(run.id))
        throw new Failure(Code.Unavailable, `cannot use the answer of ${cairn.url}: it has no run`);
      this.#runId = run.id;
      if (forbiddenCapture !== undefined) this.#options.onForbidden?.(forbiddenCapture, false);
      this.#options.onOpen?.(run, created);
      this.#answered();
    } catch (thrown) {
      throw Failure.from(thrown, cairn.url);
    }
  }

  #answered(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#options.onAnswer?.();
  }

  #requireRun(): string {
    if (this.#runId !== undefined) return this.#runId;
    throw new Failure(Code.DataLoss, "cannot deliver: the run of these frames is unknown", {
      reason: "NO_OPEN",
    });
  }

  async #sendSome(signal: AbortSignal): Promise<void> {
    const group = this.#nextGroup();
    const results = await Promise.all(
      group.map((frame) => this.#send(frame, signal).catch((thrown: unknown) => Failure.from(thrown))),
    );
    const wasAlone = group.length === 1;
    let failure: Failure | undefined;
    for (const [i, frame] of group.entries()) {
      const result = results[i]!;
      if (result instanceof Failure) {
        failure ??= result;
        this.#alone = true;
      } else if (result.kind === "stored") {
        this.#stored(frame, result);
      } else if (!wasAlone) {
        // It may only have overtaken another one.
        this.#alone = true;
      } else {
        await this.#answerAlone(frame, result, signal);
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** Consecutive envelopes that are not delivered yet. */
  #nextGroup(): SpooledFrame[] {
    const group: SpooledFrame[] = [];
    let sizeBytes = 0;
    for (let i = this.#at; i < this.#frames.length; i++) {
      const frame = this.#frames[i]!;
      if (this.#done.has(frame)) continue;
      if (frame.kind !== FRAME_KIND.envelope) break;
      sizeBytes += frame.body.length;
      if (group.length > 0 && (this.#alone || group.length === WINDOW || sizeBytes > WINDOW_BYTES_MAX)) break;
      group.push(frame);
    }
    return group;
  }

  #send({ seq, body }: SpooledFrame, signal: AbortSignal): Promise<Sent> {
    const runId = this.#requireRun();
    return sendEnvelope(this.#cairn, { runId, seq, body, lost: this.#lost.get(seq) }, signal);
  }

  #stored(frame: SpooledFrame, { duplicate, withheld }: Sent & { kind: "stored" }): void {
    if (withheld?.forbidden !== undefined) this.#options.onForbidden?.(withheld.forbidden, true);
    this.counts.envelopes++;
    if (duplicate) this.counts.duplicates++;
    const lost = this.#lost.get(frame.seq);
    if (lost !== undefined && !duplicate) {
      this.counts.lost += lost.last - lost.first + 1;
      this.#options.onLost?.(lost);
    }
    this.#lost.delete(frame.seq);
    this.#alone = false;
    this.#gaps = 0;
    this.#answered();
    this.#finish(frame);
    this.#options.onEnvelope?.();
  }

  /** Nothing else was in flight: the gap is real. */
  async #answerAlone(
    frame: SpooledFrame,
    sent: Exclude<Sent, { kind: "stored" }>,
    signal: AbortSignal,
  ): Promise<void> {
    this.#alone = true;
    if (sent.kind === "gap") {
      const { expected, failure } = sent;
      const usable = Number.isSafeInteger(expected) && expected >= 1 && expected < frame.seq;
      if (!usable || ++this.#gaps > GAPS_MAX) throw failure;
      this.#lost.set(frame.seq, { first: expected, last: frame.seq - 1 });
      return;
    }
    if (sent.kind === "reused" && !this.#asked.has(frame.seq)) {
      this.#asked.add(frame.seq);
      const lost = await this.#declaredBefore(frame.seq, signal);
      if (lost !== undefined) {
        this.#lost.set(frame.seq, lost);
        return;
      }
    }
    this.#refuse(frame, `envelope ${frame.seq}`, sent.failure.message);
  }

  /**
   * A process that died after it had declared numbers lost left the envelope in the spool without that; the server
   * treats the two as different content. The note records what was sent with it.
   */
  async #declaredBefore(seq: number, signal: AbortSignal): Promise<SeqRange | undefined> {
    const { source } = this.#options;
    const cairn = this.#cairn;
    try {
      const { writers } = await cairn.system.verifyRun({ run: { id: this.#requireRun() } }, { signal });
      const ledger = writers.find(({ writer }) => writer === source.writer);
      const range = ledger?.lost.find(({ last }) => Number(last) === seq - 1);
      return range && { first: Number(range.first), last: Number(range.last) };
    } catch (thrown) {
      this.#asked.delete(seq);
      throw Failure.from(thrown, cairn.url);
    }
  }

  /** A frame that is delivered by a call of its own. */
  async #call(frame: SpooledFrame, what: string, call: (cairn: Cairn) => Promise<void>): Promise<void> {
    const cairn = this.#cairn;
    try {
      await call(cairn);
      this.#finish(frame);
    } catch (thrown) {
      const isAnswer = thrown instanceof ConnectError || thrown instanceof Failure;
      const failure = Failure.from(thrown, cairn.url);
      // A caller that may write a run need not be allowed to describe the keys of its namespace: data must not wait for that.
      const isForbidden = frame.kind === FRAME_KIND.describe && failure.code === Code.PermissionDenied;
      if (isAnswer && !isForbidden && !isFinal(failure)) throw failure;
      this.#refuse(frame, what, failure.message);
    }
  }

  async drainUploads(signal: AbortSignal): Promise<void> {
    for (let next = this.#uploads[0]; next !== undefined; next = this.#uploads[0]) {
      const { frame, order } = next;
      const { source, onUploadProgress } = this.#options;
      const cairn = this.#cairn;
      const path = order.spooled ? source.filePath(order.sha256) : order.path;
      try {
        await upload(cairn, this.#requireRun(), order, path, signal, onUploadProgress);
        this.counts.uploads++;
        source.resolve(frame);
      } catch (thrown) {
        if (!(thrown instanceof UploadRefused)) throw Failure.from(thrown, cairn.url);
        this.#refuse(frame, `artifact "${order.name}"`, thrown.message);
      }
      this.#uploads.shift();
      const shared = this.#uploads.some((other) => other.order.sha256 === order.sha256);
      if (order.spooled && !shared) await unlink(path).catch(() => {});
    }
  }

  #refuse(frame: SpooledFrame, what: string, why: string): void {
    this.counts.refused++;
    let kept: string | undefined;
    try {
      const { url: server } = this.#cairn;
      kept = this.#options.source.setAside(frame, { what, why, server, run: this.#runId ?? "" });
    } catch {
      // There is no disk to keep it on.
    }
    this.#options.onRefused?.(what, why, kept);
    this.#finish(frame);
  }

  #finish(frame: SpooledFrame): void {
    this.#done.add(frame);
    this.#options.source.resolve(frame);
  }
}

/** How an open frame names an existing run. */
export const ID_ALIAS = "id:";

function describedKey(body: Buffer): string {
  try {
    return `the description of key "${fromBinary(DescribeKeyRequestSchema, body).description?.key ?? ""}"`;
  } catch {
    return "the description of a key";
  }
}

function parseOrder(body: Buffer): UploadOrder | undefined {
  try {
    return UploadOrder.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}
