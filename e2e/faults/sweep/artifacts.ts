import { createHash } from "node:crypto";
import { systemClock } from "#base/clock.ts";
import { newRunId } from "#base/ids.ts";
import { OWNER, type Caller } from "#core/access/caller.ts";
import { Artifacts } from "#core/artifacts/artifacts.ts";
import { CairnError } from "#lang/errors.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { BlobStore } from "#core/ports/blob-store.ts";
import { Follower } from "#core/journal/follower.ts";
import { CapturePolicies } from "#core/runs/capture-policies.ts";
import { generator } from "../content.ts";
import { getRuns } from "#store/contract/stores.ts";
import { newRun, NOW_US, type OpenStores } from "./stores.ts";
import { Ledger, type Workload } from "./workload.ts";

const CALLER: Caller = { ...OWNER, permission: "write" };
const SIZE_BYTES_MAX = 1 << 30;
const CHUNK_BYTES = 16 << 10;

/** The turns, in this order, repeated. */
const TURNS = ["upload", "record", "same", "pieces", "replace", "delete"] as const;

/** Content that is uploaded whole and in pieces, shared, replaced and deleted, and content that is in the row. */
export class ArtifactsWorkload implements Workload {
  readonly #runId = newRunId(NOW_US / 1000);
  readonly #run: RunRef = { by: "id", id: this.#runId };
  /** SHA-256 and size of their content, by name. */
  readonly #ledger = new Ledger<[sha256: string, sizeBytes: number]>();
  /** Content that went into the blob store, by its digest. */
  readonly #contents = new Map<string, Buffer>();
  /** Unused content is destroyed after a deletion was acknowledged. */
  readonly endsWithAck = false;
  #artifacts!: Artifacts;
  #blobs!: BlobStore;

  async begin({ store, blobs }: OpenStores): Promise<void> {
    this.#blobs = blobs;
    const follower = new Follower(store);
    this.#artifacts = new Artifacts({
      store: store.artifacts,
      ledger: store.blobLedger,
      uploadLedger: store.uploadLedger,
      runs: store,
      blobs,
      uploadStore: blobs,
      clock: systemClock,
      captures: new CapturePolicies(store, follower),
      follower,
      sizeBytesMax: SIZE_BYTES_MAX,
      onSweepFailure: () => {},
    });
    if ((await getRuns(store, [this.#runId])).length > 0) return;
    await store.createRun(newRun(this.#runId), { getOrCreate: false });
  }

  needs(turn: number, file: string): boolean {
    const what = TURNS[turn % TURNS.length]!;
    return !`${file}/`.startsWith("blobs/") || (what !== "record" && what !== "delete");
  }

  act(turn: number): Promise<void> {
    const random = generator(turn);
    const certain = this.#ledger.certain();
    const some = certain[Math.floor(random() * certain.length)];
    const content = contentOf(turn);
    const name = `files/${turn}`;
    switch (TURNS[turn % TURNS.length]!) {
      case "upload":
        return this.#upload(name, content);
      case "record":
        return this.#record(name, content.subarray(0, 1_000));
      case "same": {
        const same = some === undefined ? undefined : this.#contents.get(this.#ledger.get(some)![0]);
        return this.#upload(name, same ?? content);
      }
      case "pieces":
        return this.#uploadPieces(name, content);
      case "replace":
        return this.#upload(some ?? name, content);
      case "delete":
        if (some === undefined) return this.#upload(name, content);
        return this.#ledger.note(some, undefined, () =>
          this.#artifacts.delete(CALLER, { run: this.#run, name: some, step: undefined }),
        );
    }
  }

  async check(settled: boolean): Promise<void> {
    await this.#ledger.check("artifact", settled, async (name) => {
      try {
        const asked = { run: this.#run, name, step: undefined };
        const { artifact, body } = await this.#artifacts.open(CALLER, asked);
        const found = await collect(body);
        const said: [string, number] = [artifact.sha256!, artifact.sizeBytes!];
        if (digestOf(found) !== said[0] || found.length !== said[1]) {
          throw new Error(`artifact ${name} has another content than is said of it`);
        }
        return said;
      } catch (thrown) {
        if (thrown instanceof CairnError && thrown.code === "not-found") return undefined;
        throw thrown;
      }
    });
    // Reading to the end checks the digest; unused content may be there, but never in part.
    for await (const { digest } of this.#blobs.list()) await collect((await this.#blobs.get(digest)).body);
  }

  async end(): Promise<void> {
    await this.#artifacts.sweep.stop();
  }

  #upload(name: string, content: Buffer): Promise<void> {
    return this.#note(name, content, () =>
      this.#artifacts.uploads.put(CALLER, this.#run, headOf(name), inChunks(content)),
    );
  }

  /** In two pieces, as a client does that asks for the offset. */
  #uploadPieces(name: string, content: Buffer): Promise<void> {
    const put = (start: number, end: number) =>
      this.#artifacts.uploads.putPiece(CALLER, this.#run, headOf(name), {
        digest: digestOf(content),
        totalBytes: content.length,
        piece: { start, sizeBytes: end - start, content: inChunks(content.subarray(start, end)) },
      });
    return this.#note(name, content, async () => {
      const half = Math.floor(content.length / 2);
      await put(0, half);
      await put(half, content.length);
    });
  }

  #record(name: string, content: Buffer): Promise<void> {
    return this.#note(name, content, () =>
      this.#artifacts.record(CALLER, this.#run, {
        ...headOf(name),
        uri: undefined,
        content,
        sha256: undefined,
        sizeBytes: undefined,
      }),
    );
  }

  #note(name: string, content: Buffer, act: () => Promise<unknown>): Promise<void> {
    this.#contents.set(digestOf(content), content);
    return this.#ledger.note(name, [digestOf(content), content.length], act);
  }
}

function headOf(name: string) {
  return { name, step: undefined, kind: "file" as const, mediaType: "", metadata: new Map<string, string>() };
}

/** Mostly small, now and then so large that it takes many writes. */
function contentOf(turn: number): Buffer {
  const random = generator(turn ^ 0x5eed);
  const sizeBytes = 1 + Math.floor(random() * (random() < 0.1 ? 200_000 : 20_000));
  return Buffer.from(Uint8Array.from({ length: sizeBytes }, () => random() * 256));
}

function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

async function* inChunks(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES);
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
