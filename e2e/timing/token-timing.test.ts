import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { openAccess } from "#store/contract/access-under-test.ts";
import { openInMemory } from "#store/sqlite/testing/under-test.ts";
import { dose, tally } from "../../tools/dose.ts";

const BATCH = 10_000;
/** At least so many batches; more on a busy machine, until the known leak is visible. */
const BATCHES_MIN = dose(2, 30);
const BATCHES_MAX = 100;
const WARM_UP = 20_000;
/** In standard deviations. What has no leak is beyond 6 once in 500 million times. */
const LEAK_MIN = 6;
const SEEN_MIN = 2 * LEAK_MIN;
/** So many wrong characters that no two tokens are the same, because a repeated token is found faster. */
const LAST = 8;

/** A token that differs from this one from its n-th character on. */
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

/** What must not be: it stops at the first character that differs. */
function sameUpTo(shown: string, token: string): number {
  let n = 0;
  while (n < token.length && shown.charCodeAt(n) === token.charCodeAt(n)) n++;
  return n;
}

type Check = (secret: string) => Identity | Promise<Identity>;

/** Until the token is found not to be known here; those that are not all wait for the same look into the store. */
function timeOf(check: Check, secret: string): number {
  const startMs = performance.now();
  let checking: ReturnType<Check>;
  try {
    checking = check(secret);
  } catch {
    return performance.now() - startMs;
  }
  const ms = performance.now() - startMs;
  if (!(checking instanceof Promise)) throw new Error("a wrong token was accepted");
  checking.catch(() => undefined);
  return ms;
}

/**
 * How far apart a batch of almost right tokens and one of wrong ones are; above 0 when the almost right ones take longer. The wrong ones
 * resemble each other as much, as they are almost a token that is known nowhere: texts that begin alike are read at another
 * speed than texts that do not, whatever the server knows.
 */
function distanceOf(check: Check, token: string, decoy: string): number {
  // All are made before any is tried, in the order of coins, so that making them leaves no trace in the times.
  const coins = Array.from(randomBytes(2 * BATCH), (byte) => byte % 2);
  const secrets = coins.map((coin) => wrongFrom(coin === 0 ? token : decoy, token.length - LAST));
  const times = Float64Array.from(secrets, (secret) => timeOf(check, secret));
  return rankDistance(
    times.filter((_, at) => coins[at] === 0),
    times.filter((_, at) => coins[at] === 1),
  );
}

it("S14 the time for a wrong token does not reveal how much of it is right", async () => {
  const { access } = await openAccess(await openInMemory());
  const token = (await access.bootstrap())!;
  let compared = 0;
  const sound: Check = (secret) => access.identify(secret);
  const leaky: Check = (secret) => {
    compared += sameUpTo(secret, token);
    return access.identify(secret);
  };
  for (let call = 0; call < WARM_UP; call++) {
    timeOf(call % 2 === 0 ? sound : leaky, wrongFrom(token, call % token.length));
  }
  const sums = { sound: 0, leaky: 0 };
  let batches = 0;
  /** Of all batches together. */
  const distance = (of: keyof typeof sums) => sums[of] / Math.sqrt(batches);
  // In turn, so that both run under the same load. The leak shows how many samples this machine needs.
  do {
    const decoy = wrongFrom(token, "cairn_".length);
    sums.leaky += distanceOf(leaky, token, decoy);
    sums.sound += distanceOf(sound, token, decoy);
    batches++;
    // All that wait for the store are refused with this one.
    await expect(async () => sound(wrongFrom(token, token.length - LAST))).rejects.toThrow();
  } while (batches < BATCHES_MIN || (batches < BATCHES_MAX && distance("leaky") < SEEN_MIN));
  expect(compared).toBeGreaterThan(0);
  tally("timed tokens", batches * 2 * BATCH);
  const said = `standard deviations apart after ${batches} batches: ${distance("sound").toFixed(2)}, with a leak ${distance("leaky").toFixed(2)}`;
  console.log(said);
  expect(distance("leaky"), said).toBeGreaterThan(SEEN_MIN);
  expect(Math.abs(distance("sound")), said).toBeLessThan(LEAK_MIN);
});
