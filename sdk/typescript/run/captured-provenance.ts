import type { Collecting } from "../capture/provenance.ts";
import type { ArchiveOutcome } from "./captures.ts";
import type { ForbiddenCaptures } from "./forbidden-captures.ts";
import type { ProvenanceInit } from "./open-request.ts";

/** How long a run waits for what can be collected quickly. */
const EARLY_MS = 500;

/**
 * The provenance that is captured beside the training. What is known soon is part of the request that begins the run;
 * the rest goes to the spool when it is known. When the run ends before that, it says what is missing.
 */
export class CapturedProvenance {
  readonly #collecting: Promise<Collecting | undefined>;
  readonly #whole: Promise<ProvenanceInit | undefined>;
  readonly #forbidden: ForbiddenCaptures;
  #known: Collecting | undefined;
  /** Set once all of it is known. */
  #complete: ProvenanceInit | undefined;
  /** Takes it into an envelope, until the run ends. */
  #write: ((provenance: ProvenanceInit) => void) | undefined;
  /** What `early` returned was complete. */
  #isEarly = false;
  #isWritten = false;
  /** Whether an archive may still come. */
  #isArchiving = false;
  #archive: boolean | undefined;

  constructor(forbidden: ForbiddenCaptures, env: NodeJS.ProcessEnv, gitTimeoutMs: number | undefined) {
    this.#forbidden = forbidden;
    this.#collecting = import("../capture/provenance.ts")
      .then(({ startCollecting }) => {
        this.#known = startCollecting(gitTimeoutMs === undefined ? { env } : { env, gitTimeoutMs });
        return this.#known;
      })
      .catch(() => undefined);
    this.#whole = this.#collecting
      .then(async (collecting) => (await collecting?.whole)?.provenance)
      .catch(() => undefined);
    void this.#whole.then((provenance) => (this.#complete = provenance));
  }

  /** What is known after a moment, for the request that begins the run. */
  async early(): Promise<ProvenanceInit | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, EARLY_MS);
    await Promise.race([this.#whole, promise]);
    clearTimeout(timer);
    this.#isEarly = this.#complete !== undefined;
    const found = this.#complete ?? this.#known?.soFar();
    return found && this.#allowed(found);
  }

  /**
   * Resolves when everything was handed to `write`. `isSent` says that the run began with all that `early` returned; the
   * run may be another one, which someone else has begun, and then it gets everything once more.
   */
  deliver(write: (provenance: ProvenanceInit) => void, { isSent }: { isSent: boolean }): Promise<void> {
    this.#write = write;
    this.#isWritten = isSent && this.#isEarly;
    return this.#whole.then((provenance) => {
      if (provenance !== undefined) this.#put(provenance);
    });
  }

  /**
   * The working directory is archived: what is known of the code is sent again, with the name of that. Unless `isWanted` is
   * true it is archived only in a repository. Resolves when that was handed over.
   */
  archives(outcome: Promise<ArchiveOutcome | undefined>, isWanted: boolean | undefined): Promise<void> {
    this.#archive = isWanted;
    this.#isArchiving = isWanted !== false;
    return Promise.all([outcome, this.#whole]).then(([archive, provenance]) => {
      this.#isArchiving = false;
      if (this.#write === undefined || archive === undefined) return;
      if ("note" in archive) this.#write(this.#scrubbed("note:archive", archive.note));
      else this.#write({ code: { ...this.#allowed(provenance ?? {}).code, archive: archive.name } });
    });
  }

  #scrubbed(key: string, text: string): ProvenanceInit {
    return { environment: { [key]: this.#known?.scrub(text) ?? text } };
  }

  /** The run ends: what is not known by now is reported as missing. */
  close(why: string): void {
    if (!this.#isWritten) {
      this.#put(
        this.#complete ?? this.#known?.soFar(why) ?? { environment: { "note:git": `left out: ${why}` } },
      );
    }
    const isExpected = this.#archive === true || this.#known?.soFar(why).code !== undefined;
    if (this.#isArchiving && isExpected)
      this.#write?.({ environment: { "note:archive": `left out: ${why}` } });
    this.stop();
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#write = undefined;
  }

  #put(provenance: ProvenanceInit): void {
    if (this.#isWritten || this.#write === undefined) return;
    this.#isWritten = true;
    this.#write(this.#allowed(provenance));
  }

  /** Without the patch where that must not be captured, as the server would leave it out. */
  #allowed(provenance: ProvenanceInit): ProvenanceInit {
    const { code, environment } = provenance;
    const { codeIn } = this.#forbidden;
    if (codeIn === undefined || code === undefined || (code.dirtyPatch ?? "") === "") return provenance;
    const why = `namespace ${JSON.stringify(codeIn)} forbids code capture`;
    const leftOutBytes = BigInt(Buffer.byteLength(code.dirtyPatch!));
    return {
      ...provenance,
      code: { ...code, dirtyPatch: "", patchLeftOut: why, leftOutBytes },
      environment: { ...environment, "note:code": `left out: ${why}` },
    };
  }
}
