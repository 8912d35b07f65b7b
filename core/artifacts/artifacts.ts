import type { Clock } from "#base/clock.ts";
import { maySee, type Caller } from "../access/caller.ts";
import { HeldRights, type HeldRight, type OnAccessChange } from "../access/held-right.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import {
  checkArtifactRecord,
  checkedStep,
  type Artifact,
  type ArtifactKind,
  type ArtifactRecord,
} from "../types/artifact.ts";
import { checkArtifactName } from "../types/artifact-name.ts";
import { requireText } from "../types/check.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Follower } from "../journal/follower.ts";
import type { ArtifactStore } from "../ports/artifact-store.ts";
import type { BlobLedger } from "../ports/blob-ledger.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { UploadLedger } from "../ports/upload-ledger.ts";
import type { UploadStore } from "../ports/upload-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { CapturePolicies } from "../runs/capture-policies.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import { artifactRecord, replaceRecord } from "./artifact-record.ts";
import { BlobPins } from "./blob-pins.ts";
import { BlobSweep } from "./blob-sweep.ts";
import { locateArtifact, locateRun, missingArtifact, type ArtifactScope } from "./locate.ts";
import { pageTokenOf, parsePageToken } from "./page-token.ts";
import { Replaced } from "./replaced.ts";
import { StoredContent } from "./stored-content.ts";
import { Uploads } from "./uploads.ts";

export interface ArtifactParts {
  store: ArtifactStore;
  ledger: BlobLedger;
  uploadLedger: UploadLedger;
  uploadStore: UploadStore;
  runs: RunStore;
  blobs: BlobStore;
  clock: Clock;
  captures: CapturePolicies;
  /** Of one artifact. */
  sizeBytesMax: number;
  /** So that transfers stop when the right to them ends; absent where rights never change. */
  onAccessChange?: OnAccessChange;
  follower: Follower;
  /** Called when content could not be destroyed; it is retried. */
  onSweepFailure: (thrown: unknown) => void;
}

/** An artifact's name in a run, as calls give it. */
export interface AskedArtifact {
  run: RunRef;
  name: string;
  step: number | undefined;
}

export interface ListArtifactsRequest {
  run: RunRef;
  prefix: string;
  kind: ArtifactKind | undefined;
  fromStep: number | undefined;
  toStep: number | undefined;
  pageSize: number;
  pageToken: string;
}

/** Content that is about to be read, for as long as the right to it is held. */
export interface OpenArtifact {
  artifact: Artifact;
  body: AsyncIterable<Uint8Array>;
  right: HeldRight;
}

/** Files and locations that belong to runs. */
export class Artifacts {
  readonly #parts: ArtifactParts;
  readonly #rights: HeldRights;
  readonly uploads: Uploads;
  readonly sweep: BlobSweep;
  readonly content: StoredContent;
  readonly replaced: Replaced;

  constructor(parts: ArtifactParts) {
    this.#parts = parts;
    this.#rights = new HeldRights(parts);
    const pins = new BlobPins(parts);
    this.sweep = new BlobSweep(parts);
    this.uploads = new Uploads({ ...parts, pins, sweep: this.sweep });
    this.content = new StoredContent({ ...parts, pins });
    this.replaced = new Replaced({ ...parts, sweep: this.sweep });
  }

  /** A reference, or content that is small enough to travel in the message. */
  async record(caller: Caller, run: RunRef, given: ArtifactRecord): Promise<Artifact> {
    const record = checkArtifactRecord(given);
    const scope = await this.#locate(caller, run, record.name);
    this.#parts.captures.requireAllowed(scope);
    const nowUs = this.#parts.clock.nowUs();
    const audit = replaceRecord(caller, nowUs, scope, record.step);
    const artifact = await this.#parts.store.putArtifact(scope.runId, record, nowUs, audit);
    await this.sweep.collectSoon();
    return artifact;
  }

  async get(caller: Caller, { run, name, step }: AskedArtifact): Promise<Artifact> {
    const scope = await this.#locate(caller, run, checkArtifactName(name), step);
    return this.#find(scope, step);
  }

  async list(
    caller: Caller,
    request: ListArtifactsRequest,
  ): Promise<{ artifacts: Artifact[]; nextPageToken: string }> {
    const { prefix, kind, fromStep, toStep } = request;
    const limit = pageSize(request.pageSize);
    const begin = request.pageToken === "" ? undefined : parsePageToken(request.pageToken);
    requireText(prefix, limits.artifactNameBytesMax, "prefix");
    for (const step of [fromStep, toStep]) if (step !== undefined) checkedStep(prefix, step);
    const { id: runId, namespace } = await locateRun(this.#parts.runs, caller, request.run);
    // A page is filled with what the caller may see: names of hidden artifacts must not be in a token either.
    const { items, last } = await fillPage<Artifact, Artifact>(
      limit,
      (after = begin, bound) =>
        this.#parts.store.listArtifacts({ runId, prefix, kind, fromStep, toStep, after, ...bound }),
      (artifact) => (maySee(caller, { namespace, runId, artifact: artifact.name }) ? artifact : undefined),
    );
    return { artifacts: items, nextPageToken: last === undefined ? "" : pageTokenOf(last) };
  }

  /** With `step` undefined every step of the name. Returns how many there were; they are kept for a while. */
  async delete(caller: Caller, { run, name, step }: AskedArtifact): Promise<number> {
    const scope = await this.#locate(caller, run, checkArtifactName(name), step);
    const { store, clock } = this.#parts;
    const { runId } = scope;
    if (step !== undefined) checkedStep(name, step);
    const audit = artifactRecord(caller, clock.nowUs(), "delete-artifact", scope, step);
    const deleted = await store.deleteArtifact(runId, name, step, audit);
    if (deleted === 0) throw missingArtifact(runId, name, step);
    await this.sweep.collectSoon();
    return deleted;
  }

  /** The content of an artifact, or the part [start, end) of it that `range` asks for once the size is known. */
  async open(
    caller: Caller,
    asked: AskedArtifact,
    range: (artifact: Artifact) => { start: number; end: number } | undefined = () => undefined,
  ): Promise<OpenArtifact> {
    const scope = await this.#locate(caller, asked.run, checkArtifactName(asked.name), asked.step);
    const right = await this.#rights.hold(caller, scope);
    try {
      for (let attempt = 1; ; attempt++) {
        const artifact = await this.#find(scope, asked.step);
        const body = await this.#read(artifact, range(artifact));
        if (body !== undefined) return { artifact, body, right };
        // Replaced between the two reads, which is rare and hardly ever happens twice.
        if (attempt === READ_ATTEMPTS) throw lost(artifact);
      }
    } catch (thrown) {
      right.release();
      throw thrown;
    }
  }

  /** The right to do what the call declares to the artifact, which need not exist. Throws when there is none. */
  async hold(caller: Caller, { run, name }: Pick<AskedArtifact, "run" | "name">): Promise<HeldRight> {
    return this.#rights.hold(caller, await this.#locate(caller, run, checkArtifactName(name)));
  }

  /** undefined when it no longer exists. */
  async #read(
    artifact: Artifact,
    range: { start: number; end: number } | undefined,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    if (artifact.place === "reference") throw isReference(artifact);
    if (artifact.place === "inline") {
      const content = await this.#parts.store.readContent(artifact);
      return content && once(range === undefined ? content : content.subarray(range.start, range.end));
    }
    const content = await this.#parts.blobs.get(artifact.sha256!, range).catch((thrown: unknown) => {
      if (thrown instanceof CairnError && ABSENT.has(thrown.code)) return undefined;
      throw thrown;
    });
    if (content === undefined || content.sizeBytes === artifact.sizeBytes) return content?.body;
    // The answer's length is the artifact's: nothing longer or shorter may be sent under it.
    await content.body[Symbol.asyncIterator]().return?.();
    throw damaged(artifact);
  }

  async #find({ runId, artifact: name }: ArtifactScope, step: number | undefined): Promise<Artifact> {
    if (step !== undefined) checkedStep(name, step);
    const found = await this.#parts.store.findArtifact(runId, name, step);
    if (found === undefined) throw missingArtifact(runId, name, step);
    return found;
  }

  #locate(caller: Caller, run: RunRef, name: string, step?: number): Promise<ArtifactScope> {
    return locateArtifact(this.#parts.runs, caller, run, name, (runId) => missingArtifact(runId, name, step));
  }
}

const READ_ATTEMPTS = 3;
/** Errors of a blob store for a missing blob, or one that is shorter than the requested part. */
const ABSENT: ReadonlySet<string> = new Set(["not-found", "invalid"]);

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  if (content.byteLength > 0) yield content;
}

function isReference({ name, uri }: Artifact): CairnError {
  return new CairnError("precondition", `cannot read artifact ${quote(name)}: it is only a reference`, {
    reason: "NOT_STORED",
    facts: { uri },
    hint: "fetch it from where the URI says",
  });
}

function damaged({ name, sha256 }: Artifact): CairnError {
  return new CairnError("corrupt", `cannot read artifact ${quote(name)}: blob ${quote(sha256!)} is damaged`, {
    hint: "upload the same content again, or restore a backup",
  });
}

function lost({ name, sha256 }: Artifact): CairnError {
  return new CairnError("corrupt", `cannot read artifact ${quote(name)}: blob ${quote(sha256!)} is missing`, {
    hint: "upload the same content again, or restore a backup",
  });
}
