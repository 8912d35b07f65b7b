import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Principal } from "../types/principal.ts";
import type { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { Account, type QuotaLimits } from "./account.ts";
import { Quotas } from "./quotas.ts";
import { TokenBucket } from "./token-bucket.ts";

const NONE: QuotaLimits = { requestsPerSecond: 0, bytesPerSecond: 0, streamsMax: 0 };

function user(name: string): { principal: Principal; permission: "write" } {
  return { principal: { kind: "user", name }, permission: "write" };
}

/** Quotas with a clock that is moved by hand. */
function quotasAt(quota: Partial<QuotaLimits>): { quotas: Quotas; clock: { nowMs: number } } {
  const clock = { nowMs: 1_000_000 };
  return { quotas: new Quotas({ ...NONE, ...quota }, () => clock.nowMs), clock };
}

function refusal(work: () => unknown): CairnError {
  try {
    work();
  } catch (thrown) {
    return thrown as CairnError;
  }
  throw new Error("it was not refused");
}

/** How many of `tries` are admitted. */
function admitted(tries: number, work: () => unknown): number {
  let count = 0;
  for (let at = 0; at < tries; at++) {
    try {
      work();
      count++;
    } catch {
      continue;
    }
  }
  return count;
}

describe("a bucket", () => {
  test("holds one second's worth and never allows more than its rate", () => {
    const step = fc.record({ waitMs: fc.integer({ min: 0, max: 3_000 }), tries: fc.nat(20) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(step, { maxLength: 40 }), (perSecond, steps) => {
        let nowMs = 0;
        const bucket = new TokenBucket(perSecond, nowMs);
        const takenAtMs: number[] = [];
        for (const { waitMs, tries } of steps) {
          nowMs += waitMs;
          for (let at = 0; at < tries; at++) {
            if (bucket.waitMs(nowMs) > 0) continue;
            bucket.spend(1, nowMs);
            takenAtMs.push(nowMs);
          }
        }
        // From any of them to any later one.
        let most = 0;
        for (const [first, from] of takenAtMs.entries()) {
          for (let last = first; last < takenAtMs.length; last++) {
            const allowed = perSecond + ((takenAtMs[last]! - from) * perSecond) / 1000;
            most = Math.max(most, last - first + 1 - allowed);
          }
        }
        expect(most).toBeLessThan(1e-6);
      }),
    );
  });

  test("returns how long to wait, and then is not empty", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.nat(100_000), (perSecond, spent) => {
        const bucket = new TokenBucket(perSecond, 0);
        bucket.spend(spent, 0);
        const waitMs = bucket.waitMs(0);
        expect(bucket.waitMs(Math.ceil(waitMs))).toBe(0);
        expect(spent < perSecond ? waitMs : 0).toBe(0);
      }),
    );
  });

  test("is not filled by a clock that is set back", () => {
    const bucket = new TokenBucket(10, 5_000);
    bucket.spend(10, 5_000);
    expect(bucket.waitMs(1_000)).toBeGreaterThan(0);
    expect(bucket.waitMs(5_000)).toBe(100);
  });
});

describe("quotas", () => {
  test("K1 requests beyond those of a second are refused with the time to wait, and others are not", () => {
    const { quotas, clock } = quotasAt({ requestsPerSecond: 100 });
    expect(admitted(1_000, () => quotas.admit(user("a"), "10.0.0.1"))).toBe(100);
    const error = refusal(() => quotas.admit(user("a"), "10.0.0.2"));
    expect(error).toMatchObject({
      code: "exhausted",
      reason: "QUOTA",
      retryAfterMs: 10,
      facts: { quota: "requests", limit: "100" },
    });
    expect(error.message).toBe("cannot accept the request: its caller may make 100 requests in a second");
    expect(admitted(50, () => quotas.admit(user("b"), "10.0.0.1"))).toBe(50);
    clock.nowMs += error.retryAfterMs!;
    quotas.admit(user("a"), "10.0.0.1");
    clock.nowMs += 500;
    expect(admitted(1_000, () => quotas.admit(user("a"), "10.0.0.1"))).toBe(50);
    expect(quotas.refused).toBe(900 + 1 + 950);
  });

  test("K1 a caller that tries ten times as often is not admitted more often, at any time", () => {
    const { quotas, clock } = quotasAt({ requestsPerSecond: 100 });
    let through = 0;
    for (let ms = 0; ms < 10_000; ms++) {
      clock.nowMs++;
      through += admitted(1, () => quotas.admit(user("a"), undefined));
    }
    expect(through).toBeGreaterThanOrEqual(1_090);
    expect(through).toBeLessThanOrEqual(1_100);
  });

  test("K2 bytes overdraw the account, and the debt is paid before the next request", () => {
    const { quotas, clock } = quotasAt({ bytesPerSecond: 1_000 });
    const account = quotas.admit(user("a"), undefined);
    account.receive(3_500);
    const error = refusal(() => quotas.admit(user("a"), undefined));
    expect(error).toMatchObject({ reason: "QUOTA", facts: { quota: "bytes", limit: "1000" } });
    expect(error.retryAfterMs).toBe(2_501);
    clock.nowMs += 2_501;
    quotas.admit(user("a"), undefined);
    account.receive(limits.messageBytesMax);
    expect(refusal(() => account.receive(1_001))).toMatchObject({ reason: "QUOTA" });
  });

  test("K3 open streams are bounded, and one that is closed makes room, once", () => {
    const { quotas } = quotasAt({ streamsMax: 2 });
    const account = quotas.admit(user("a"), undefined);
    const close = account.openStream();
    account.openStream();
    expect(refusal(() => account.openStream())).toMatchObject({
      code: "exhausted",
      reason: "QUOTA",
      facts: { quota: "streams", limit: "2" },
      retryAfterMs: 1_000,
    });
    quotas.admit(user("b"), undefined).openStream();
    close();
    close();
    account.openStream();
    expect(() => account.openStream()).toThrow("2 streams and uploads");
  });

  test("K4 a stream is slowed down to its rate", () => {
    const { quotas, clock } = quotasAt({ requestsPerSecond: 10, bytesPerSecond: 1_000 });
    const account = quotas.admit(user("a"), undefined);
    const startMs = clock.nowMs;
    for (let message = 0; message < 100; message++) clock.nowMs += account.paceMs(1, 50);
    // 101 requests at 10 a second, of which the first ten were free.
    expect(clock.nowMs - startMs).toBeCloseTo(9_200, -2);
    const [bytesMs] = [account.paceMs(0, 5_000)];
    expect(bytesMs).toBeGreaterThan(4_000);
  });

  test("K5 public calls and those without a credential are counted by address", () => {
    const { quotas } = quotasAt({ requestsPerSecond: 10 });
    const anonymous = { kind: "anonymous", name: "anonymous" } as const;
    const owner = { kind: "owner", name: "owner" } as const;
    expect(admitted(50, () => quotas.admit({ principal: owner, permission: "read" }, "::1"))).toBe(10);
    expect(admitted(50, () => quotas.admit({ principal: owner, permission: "public" }, "::1"))).toBe(10);
    expect(admitted(50, () => quotas.admit({ principal: anonymous, permission: "read" }, "::1"))).toBe(0);
    expect(admitted(50, () => quotas.admit({ principal: anonymous, permission: "read" }, "::2"))).toBe(10);
    expect(admitted(50, () => quotas.admitAnonymous("::3"))).toBe(10);
    // No name of a principal collides with another account.
    expect(admitted(50, () => quotas.admit(user("owner owner"), "::1"))).toBe(10);
  });

  test("K1 0 means no limit", () => {
    const { quotas } = quotasAt({});
    const account = quotas.admit(user("a"), undefined);
    for (let at = 0; at < 100_000; at++) quotas.admit(user("a"), undefined);
    for (let at = 0; at < 5_000; at++) account.openStream();
    account.receive(2 ** 40);
    expect(account.paceMs(1, 2 ** 40)).toBe(0);
  });

  test("K1 a bounded number of accounts is remembered, those in use before all others", () => {
    const { quotas, clock } = quotasAt({ requestsPerSecond: 10, streamsMax: 1 });
    const busy = Array.from({ length: 100 }, (_, at) => `busy ${at}`);
    for (const name of busy) {
      quotas.admit(user(name), undefined).openStream();
      for (let at = 0; at < 9; at++) quotas.admit(user(name), undefined);
    }
    for (let at = 0; at < 3 * limits.accountsMax; at++) {
      if (at % 1_000 === 0) clock.nowMs += 1;
      quotas.admit(user(`passer-by ${at}`), undefined);
      quotas.admit({ principal: { kind: "anonymous", name: "anonymous" }, permission: "public" }, `${at}`);
    }
    expect(quotas.accounts).toBeLessThanOrEqual(2 * limits.accountsMax + busy.length);
    clock.nowMs += 10_000;
    for (let at = 0; at < 2 * limits.accountsMax; at++) quotas.admit(user(`later ${at}`), undefined);
    for (const name of busy) {
      expect(() => quotas.admit(user(name), undefined).openStream(), name).toThrow("1 streams");
    }
    expect(quotas.accounts).toBeLessThanOrEqual(2 * limits.accountsMax + busy.length);
  });
});

test("an account that owes nothing is unused", () => {
  const clock = { nowMs: 0 };
  const account = new Account(
    "a",
    { requestsPerSecond: 10, bytesPerSecond: 10, streamsMax: 1 },
    () => clock.nowMs,
  );
  expect(account.isUnused).toBe(true);
  account.request();
  account.receive(5);
  expect(account.isUnused).toBe(false);
  clock.nowMs = 500;
  expect(account.isUnused).toBe(true);
  const close = account.openStream();
  expect(account.isUnused).toBe(false);
  close();
  expect(account.isUnused).toBe(true);
});
