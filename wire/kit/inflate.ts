import { Lanes } from "#base/lanes.ts";
import { type Encoding, openDecoder, RATIO_FREE_BYTES } from "#wire/kit/decoder.ts";

/**
 * As many as there are threads to do it: more at once would not be done sooner, but would all hold what
 * they have unpacked so far.
 */
const AT_ONCE_MAX = 4;

export type Inflated =
  | { ok: true; bytes: Buffer }
  /** `damaged` or more than the caps allow; the caller knows what to say about it. */
  | { ok: false; problem: "too large" | "damaged" };

const lanes = new Lanes(AT_ONCE_MAX);

/**
 * Undoes the compression of a whole message. The caps are applied to each piece that comes out, so a bomb
 * costs one piece more than them and not its decompressed size.
 */
export function inflate(
  bytes: Uint8Array,
  encoding: Encoding,
  caps: { bytesMax: number; ratioMax: number },
): Promise<Inflated> {
  return lanes.run(() => inflateNow(bytes, encoding, caps));
}

function inflateNow(
  bytes: Uint8Array,
  encoding: Encoding,
  { bytesMax, ratioMax }: { bytesMax: number; ratioMax: number },
): Promise<Inflated> {
  const { promise, resolve } = Promise.withResolvers<Inflated>();
  const pieces: Buffer[] = [];
  let length = 0;
  const decoder = openDecoder(encoding);
  const settle = (result: Inflated): void => {
    decoder
      .removeAllListeners()
      .on("error", () => {})
      .destroy();
    resolve(result);
  };
  decoder.on("data", (piece: Buffer) => {
    length += piece.length;
    if (length > bytesMax || length > Math.max(RATIO_FREE_BYTES, decoder.bytesWritten * ratioMax)) {
      settle({ ok: false, problem: "too large" });
    } else pieces.push(piece);
  });
  decoder.on("end", () => settle({ ok: true, bytes: Buffer.concat(pieces, length) }));
  decoder.on("error", () => settle({ ok: false, problem: "damaged" }));
  decoder.end(bytes);
  return promise;
}
