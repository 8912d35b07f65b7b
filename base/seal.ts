import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NUMBER_BYTES = 8;

/**
 * Encrypts numbers so that they can only be read with the same secret: others see neither how large they are nor
 * whether two texts hold the same ones. Texts of the same count of numbers are equally long.
 */
export class Seal {
  readonly #key: Buffer;

  /** Without a secret only this very object can read them. */
  constructor(secret?: string) {
    this.#key = secret === undefined ? randomBytes(KEY_BYTES) : createHash("sha256").update(secret).digest();
  }

  /** Each number is an integer from 0 to 2^53 - 1. The text has letters, digits, "-" and "_". */
  close(numbers: readonly number[]): string {
    const plain = Buffer.alloc(numbers.length * NUMBER_BYTES);
    for (const [i, number] of numbers.entries()) plain.writeBigUInt64LE(BigInt(number), i * NUMBER_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    const hidden = Buffer.concat([nonce, cipher.update(plain), cipher.final()]);
    return Buffer.concat([hidden, cipher.getAuthTag()]).toString("base64url");
  }

  /** undefined for what `close` with this secret did not write. */
  open(text: string): number[] | undefined {
    const bytes = Buffer.from(text, "base64url");
    // The last character has bits that no byte takes: another one there would be read as the same bytes.
    if (bytes.toString("base64url") !== text) return undefined;
    const end = bytes.length - TAG_BYTES;
    if (end < NONCE_BYTES || (end - NONCE_BYTES) % NUMBER_BYTES !== 0) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(end));
    let plain: Buffer;
    try {
      plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]);
    } catch {
      return undefined;
    }
    const numbers: number[] = [];
    for (let at = 0; at < plain.length; at += NUMBER_BYTES) numbers.push(Number(plain.readBigUInt64LE(at)));
    return numbers;
  }
}
