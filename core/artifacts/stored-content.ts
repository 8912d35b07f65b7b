import { readdir } from "node:fs/promises";
import { CairnError, quote } from "#lang/errors.ts";
import type { Artifact } from "../types/artifact.ts";
import type { BlobLedger } from "../ports/blob-ledger.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { BlobPins } from "./blob-pins.ts";

const STEP_BLOBS = 100;
const PROBLEMS_MAX = 100;

/** The content of artifacts as backups and the integrity check see it: the data outside of the store. */
export class StoredContent {
  readonly #ledger: BlobLedger;
  readonly #blobs: BlobStore;
  readonly #pins: BlobPins;

  constructor(parts: { ledger: BlobLedger; blobs: BlobStore; pins: BlobPins }) {
    this.#ledger = parts.ledger;
    this.#blobs = parts.blobs;
    this.#pins = parts.pins;
  }

  /** Nothing is destroyed while `work` runs. */
  kept<T>(work: () => Promise<T>): Promise<T> {
    return this.#pins.keepAll(work);
  }

  async requireCopies(): Promise<void> {
    if (this.#blobs.copies !== undefined) return;
    if ((await this.#ledger.listUsedBlobs({ after: undefined, limit: 1 })).length > 0) throw cannotCopy();
  }

  async copyTo(folder: string): Promise<void> {
    await this.requireCopies();
    await this.#blobs.copies?.copyTo(folder);
  }

  async takeFrom(folder: string): Promise<void> {
    const { copies } = this.#blobs;
    if (copies !== undefined) return copies.takeFrom(folder);
    if ((await readdir(folder).catch(() => [])).length > 0) throw cannotCopy();
  }

  /** Reads every blob that an artifact has. One sentence for each that is missing or damaged. */
  async verify(signal?: AbortSignal): Promise<string[]> {
    const problems: string[] = [];
    let after: string | undefined;
    do {
      const step = await this.#ledger.listUsedBlobs({ after, limit: STEP_BLOBS });
      for (const artifact of step) {
        signal?.throwIfAborted();
        const problem = await this.#problemOf(artifact);
        if (problem !== undefined) problems.push(problem);
        if (problems.length === PROBLEMS_MAX) return problems;
      }
      after = step.length < STEP_BLOBS ? undefined : step.at(-1)!.sha256;
    } while (after !== undefined);
    return problems;
  }

  async #problemOf({ runId, name, sha256, sizeBytes }: Artifact): Promise<string | undefined> {
    let read = 0;
    try {
      for await (const piece of (await this.#blobs.get(sha256!)).body) read += piece.byteLength;
      if (read === sizeBytes) return undefined;
    } catch (thrown) {
      const { code, message } = CairnError.from(thrown);
      const gone = code === "not-found" && (await this.#ledger.findUsedBlobs([sha256!])).length === 0;
      if (gone) return undefined;
      if (code !== "not-found" && code !== "corrupt")
        return `run ${runId}: artifact ${quote(name)}: ${message}`;
    }
    const what = read === 0 ? "is missing or damaged" : "is damaged";
    return `run ${runId}: the content of artifact ${quote(name)} ${what}`;
  }
}

function cannotCopy(): CairnError {
  return new CairnError(
    "precondition",
    "cannot copy the content of artifacts: its engine does not support it",
    {
      reason: "NOT_SUPPORTED",
      hint: "back it up where it is stored, or keep it in files (--blobs fs)",
    },
  );
}
