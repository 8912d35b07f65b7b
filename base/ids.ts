import { randomBytes, randomFillSync } from "node:crypto";

const TIME_MS_MAX = 2 ** 48 - 1;
const RANDOM_BYTES = 10;
const POOL_IDS = 1024;
const TOKEN_BYTES = 32;

/** Random bytes for the next POOL_IDS ids: one trip to the generator serves many calls. */
const pool = Buffer.allocUnsafeSlow(RANDOM_BYTES * POOL_IDS);
let poolUsed = pool.length;

let lastMs = -1;
let lastPrefix = "";

/**
 * A new id: 48 bits of time in milliseconds, then 80 random bits, as 32 lower-case hex digits. Ids of
 * different milliseconds sort by time; those of one millisecond come in no order.
 */
export function newRunId(nowMs: number): string {
  const ms = Math.floor(nowMs);
  if (ms !== lastMs) {
    if (!(ms >= 0 && ms <= TIME_MS_MAX)) {
      throw new RangeError(`cannot make an id for time ${nowMs}: it is not within 48 bits of milliseconds`);
    }
    lastPrefix = ms.toString(16).padStart(12, "0");
    lastMs = ms;
  }
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  const start = poolUsed;
  poolUsed += RANDOM_BYTES;
  return lastPrefix + pool.toString("hex", start, poolUsed);
}

/** A secret: the prefix, then 256 random bits in base64url (43 characters). */
export function newToken(prefix: string): string {
  return prefix + randomBytes(TOKEN_BYTES).toString("base64url");
}
