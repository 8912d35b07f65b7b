import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { openAccess } from "#store/contract/access-under-test.ts";
import { openInMemory } from "#store/sqlite/testing/under-test.ts";

const ROUNDS = 3;
const SAMPLES = 100_000;
/** Two-sided, p < 0.01. */
const Z_MAX = 2.576;
const WARM_UP = 20_000;
/** So many wrong characters that no two tokens of a round are the same: what was tried before is found faster. */
const LAST = 8;

/** A token that is wrong from its n-th character on. */
function wrongFrom(token: string, n: number): string {
  const kept = token.slice(0, n);
  const rest = randomBytes(32)
    .toString("base64url")
    .slice(0, token.length - n);
  // The very next one must differ.
  const next = token[n] === rest[0] ? (rest[0] === "A" ? "B" : "A") : rest[0]!;
  // In one piece: putting pieces together would take part of the time.
  return Buffer.from(kept + next + rest.slice(1)).toString("latin1");
}

/**
 * How many standard deviations apart the ranks of two samples are (Mann and Whitney), ties shared. Means would
 * say what the garbage collector did.
 */
function rankDistance(a: Float64Array, b: Float64Array): number {
  const all = Array.from(a, (value) => ({ value, of: 0 })).concat(
    Array.from(b, (value) => ({ value, of: 1 })),
  );
  all.sort((left, right) => left.value - right.value);
  let ranksOfA = 0;
  let ties = 0;
  for (let from = 0; from < all.length;) {
    let to = from;
    while (to < all.length && all[to]!.value === all[from]!.value) to++;
    const shared = (from + 1 + to) / 2;
    for (let at = from; at < to; at++) if (all[at]!.of === 0) ranksOfA += shared;
    const count = to - from;
    ties += count ** 3 - count;
    from = to;
  }
  const n = a.length;
  const m = b.length;
  const u = ranksOfA - (n * (n + 1)) / 2;
  const variance = ((n * m) / 12) * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  return (u - (n * m) / 2) / Math.sqrt(variance);
}

it("S14 how long a wrong token takes does not tell how much of it is right", async () => {
  const { access } = await openAccess(await openInMemory());
  const token = (await access.bootstrap())!;
  const timeOf = (secret: string): number => {
    const startMs = performance.now();
    try {
      access.identify(secret);
    } catch {
      return performance.now() - startMs;
    }
    throw new Error("a wrong token was accepted");
  };
  for (let call = 0; call < WARM_UP; call++) timeOf(wrongFrom(token, call % token.length));
  const distances = Array.from({ length: ROUNDS }, () => {
    // All are made before any is tried, in the order of coins, so that making them leaves no trace in the times.
    const coins = Array.from(randomBytes(2 * SAMPLES), (byte) => byte % 2);
    const secrets = coins.map((coin) => wrongFrom(token, coin === 0 ? token.length - LAST : "cairn_".length));
    const times = Float64Array.from(secrets, timeOf);
    return rankDistance(
      times.filter((_, at) => coins[at] === 0),
      times.filter((_, at) => coins[at] === 1),
    );
  });
  console.log(`standard deviations apart: ${distances.map((z) => z.toFixed(2)).join(", ")}`);
  // One round in a hundred says so by chance; three in a row that agree do not.
  const slower = distances.every((z) => z > Z_MAX);
  const faster = distances.every((z) => z < -Z_MAX);
  expect({ slower, faster }).toEqual({ slower: false, faster: false });
});
