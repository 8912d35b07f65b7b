import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Account } from "#core/quota/account.ts";
import type { HeldBytes } from "#wire/kit/byte-budget.ts";
import { ByteCollector } from "#wire/kit/byte-collector.ts";
import { type Decoder, type Encoding, ENCODINGS, openDecoder, RATIO_FREE_BYTES } from "#wire/kit/decoder.ts";
import type { HttpRequest } from "#wire/kit/http.ts";

const BODY_IDLE_MS = 60_000;

export interface BodyOptions {
  /** Of the bytes on the wire. */
  maxBytes?: number;
  decompressedBytesMax?: number;
  decompressedRatioMax?: number;
  /** How long the client may send nothing. There is no limit on the whole: uploads may be slow. */
  idleMs?: number;
  /** Holds the body until it is handed out or refused. */
  held?: HeldBytes;
  /** Pays for the bytes on the wire. */
  account?: Account | undefined;
}

/**
 * The whole body, decompressed. Every cap is applied to each piece as it comes, so a bomb costs one
 * piece more than the cap and not its decompressed size.
 *
 * Throws `exhausted` (BODY_TOO_LARGE, QUOTA), `unavailable` (OVERLOADED), `invalid` (UNSUPPORTED_ENCODING, BODY_DAMAGED, BODY_LENGTH),
 * `deadline` (BODY_STALLED) and `aborted`. After a throw the request is paused; `sendError` reads and
 * forgets the rest.
 */
export async function readBody(request: HttpRequest, options: BodyOptions = {}): Promise<Buffer> {
  const caps: Caps = {
    wireBytes: options.maxBytes ?? limits.messageBytesMax,
    bytes: options.decompressedBytesMax ?? limits.decompressedBytesMax,
    ratio: options.decompressedRatioMax ?? limits.decompressedRatioMax,
    idleMs: options.idleMs ?? BODY_IDLE_MS,
  };
  const declared = declaredLength(request);
  if (declared !== undefined && declared > caps.wireBytes) throw tooLarge(`over ${caps.wireBytes} bytes`);
  return new Reading(request, declared, encodingOf(request), caps, options).result;
}

interface Caps {
  wireBytes: number;
  bytes: number;
  ratio: number;
  idleMs: number;
}

/** One body being received. It ends once, in `#settle`. */
class Reading {
  readonly #request: HttpRequest;
  readonly #declared: number | undefined;
  readonly #decoder: Decoder | undefined;
  readonly #caps: Caps;
  readonly #held: HeldBytes | undefined;
  readonly #account: Account | undefined;
  readonly #collected = new ByteCollector();
  readonly #idle: NodeJS.Timeout;
  readonly #promise = Promise.withResolvers<Buffer>();
  #wireBytes = 0;

  constructor(
    request: HttpRequest,
    declared: number | undefined,
    encoding: Encoding | undefined,
    caps: Caps,
    { held, account }: Pick<BodyOptions, "held" | "account">,
  ) {
    this.#request = request;
    this.#declared = declared;
    this.#caps = caps;
    this.#held = held;
    this.#account = account;
    this.#decoder = encoding === undefined ? undefined : this.#openDecoder(encoding);
    this.#idle = setTimeout(() => this.#settle(stalled(caps.idleMs)), caps.idleMs);
    request.on("data", this.#onData).on("end", this.#onEnd);
    request.on("error", this.#onGone).on("close", this.#onGone);
    if (request.destroyed) this.#onGone();
  }

  get result(): Promise<Buffer> {
    return this.#promise.promise;
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#idle.refresh();
    this.#wireBytes += chunk.byteLength;
    if (!this.#isAllowed(() => this.#account?.receive(chunk.byteLength))) return;
    if (this.#wireBytes > this.#caps.wireBytes) {
      this.#settle(tooLarge(`over ${this.#caps.wireBytes} bytes`));
    } else if (this.#decoder === undefined) {
      this.#keep(chunk);
    } else if (!this.#decoder.write(chunk)) {
      this.#request.pause();
      this.#decoder.once("drain", () => this.#request.resume());
    }
  };

  readonly #onEnd = (): void => {
    clearTimeout(this.#idle);
    if (this.#declared !== undefined && this.#declared !== this.#wireBytes) {
      this.#settle(wrongLength(this.#declared, this.#wireBytes));
    } else if (this.#decoder === undefined) {
      this.#settle(undefined);
    } else {
      this.#decoder.end();
    }
  };

  readonly #onGone = (cause?: unknown): void => {
    if (this.#request.readableEnded) return;
    this.#settle(new CairnError("aborted", "cannot read body: the client disconnected", { cause }));
  };

  #openDecoder(encoding: Encoding): Decoder {
    const decoder = openDecoder(encoding);
    decoder.on("data", (chunk: Uint8Array) => {
      const bytes = this.#collected.length + chunk.byteLength;
      if (bytes > this.#caps.bytes) {
        this.#settle(tooLarge(`over ${this.#caps.bytes} bytes when decompressed`));
      } else if (bytes > Math.max(RATIO_FREE_BYTES, decoder.bytesWritten * this.#caps.ratio)) {
        this.#settle(tooLarge(`compressed by more than ${this.#caps.ratio} to 1`));
      } else {
        this.#keep(chunk);
      }
    });
    decoder.on("end", () => this.#settle(undefined));
    decoder.on("error", (cause) => this.#settle(damaged(encoding, cause)));
    return decoder;
  }

  #keep(chunk: Uint8Array): void {
    if (this.#isAllowed(() => this.#held?.take(chunk.byteLength))) this.#collected.add(chunk);
  }

  /** Refuses the body when `count` throws. */
  #isAllowed(count: () => void): boolean {
    try {
      count();
      return true;
    } catch (thrown) {
      this.#settle(CairnError.from(thrown));
      return false;
    }
  }

  #settle(error: CairnError | undefined): void {
    clearTimeout(this.#idle);
    const request = this.#request;
    request.off("data", this.#onData).off("end", this.#onEnd);
    request.off("error", this.#onGone).off("close", this.#onGone);
    this.#decoder?.removeAllListeners().on("error", ignore).destroy();
    this.#held?.giveAll();
    const bytes = this.#collected.finish();
    if (error === undefined) {
      this.#promise.resolve(bytes);
    } else {
      request.pause();
      // A socket that breaks from here on does not matter.
      request.on("error", ignore);
      this.#promise.reject(error);
    }
  }
}

function ignore(): void {}

function declaredLength(request: HttpRequest): number | undefined {
  const header = request.headers["content-length"];
  if (header === undefined) return undefined;
  if (!/^\d{1,15}$/.test(header)) {
    throw new CairnError("invalid", `cannot read body: content-length ${quote(header)} is not a length`, {
      reason: "BODY_LENGTH",
    });
  }
  return Number(header);
}

function encodingOf(request: HttpRequest): Encoding | undefined {
  const header = request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (header === "" || header === "identity") return undefined;
  const name = header === "x-gzip" ? "gzip" : header;
  const encoding = ENCODINGS.find((known) => known === name);
  if (encoding !== undefined) return encoding;
  const cause = `content encoding ${quote(header)} is not among ${ENCODINGS.join(", ")}`;
  throw new CairnError("invalid", `cannot read body: ${cause}`, { reason: "UNSUPPORTED_ENCODING" });
}

function tooLarge(cause: string): CairnError {
  return new CairnError("exhausted", `cannot read body: ${cause}`, {
    reason: "BODY_TOO_LARGE",
    hint: "Send it in smaller pieces.",
  });
}

function wrongLength(declared: number, actual: number): CairnError {
  const message = `cannot read body: content-length says ${declared} bytes, ${actual} came`;
  return new CairnError("invalid", message, { reason: "BODY_LENGTH" });
}

function stalled(idleMs: number): CairnError {
  const message = `cannot read body: no data for ${idleMs} ms`;
  return new CairnError("deadline", message, { reason: "BODY_STALLED" });
}

function damaged(encoding: Encoding, cause: Error): CairnError {
  const message = `cannot read body: damaged ${encoding} data (${cause.message})`;
  return new CairnError("invalid", message, { reason: "BODY_DAMAGED", cause });
}
