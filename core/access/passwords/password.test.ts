import { describe, expect, it } from "vitest";
import { Passwords } from "./password.ts";

const AT = { address: "192.0.2.1", isKnown: false };
const cheap = { memoryKib: 8, passes: 1 };

describe("passwords", () => {
  it("A13 are kept as argon2id with a salt each, and checked by it", async () => {
    const passwords = new Passwords();
    const [kept, again] = await Promise.all([
      passwords.hash("open sesame", AT),
      passwords.hash("open sesame", AT),
    ]);
    expect(kept).toMatch(/^argon2id\$m=32768,t=3,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(again).not.toBe(kept);
    expect(await passwords.matches("open sesame", kept, AT)).toBe(true);
    expect(await passwords.matches("open sesam", kept, AT)).toBe(false);
    // At the cost it was kept with, not at today's.
    expect(await new Passwords(cheap).matches("open sesame", kept, AT)).toBe(true);
  });

  it("A14 match nothing when none is stored, or the stored one is invalid", async () => {
    const passwords = new Passwords(cheap);
    for (const kept of [
      undefined,
      "",
      "open sesame",
      "argon2id$m=8,t=1,p=1$$",
      "scrypt$m=8,t=1,p=1$AAAA$AAAA",
    ]) {
      expect(await passwords.matches("open sesame", kept, AT)).toBe(false);
    }
  });

  it("A74 are refused when too many of one address wait, and work again afterwards", async () => {
    const passwords = new Passwords(cheap);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => passwords.hash("open sesame", AT)),
    );
    const refusals = outcomes.filter(({ status }) => status === "rejected");
    expect(refusals).toHaveLength(100 - 2 - 32);
    expect(refusals[0]).toMatchObject({
      reason: { code: "exhausted", reason: "LOGIN_LIMIT", retryAfterMs: 1_000 },
    });
    await passwords.hash("open sesame", AT);
  });

  it("A73, A76: are checked address by address in turn, and at once for known users", async () => {
    const passwords = new Passwords(cheap);
    const order: string[] = [];
    const check = (address: string, isKnown = false) =>
      passwords.hash("open sesame", { address, isKnown }).then(() => order.push(address));
    const busy = Array.from({ length: 30 }, () => check("192.0.2.1"));
    const all = [...busy, check("192.0.2.2"), check("192.0.2.3", true)];
    await Promise.all(all);
    expect(order.indexOf("192.0.2.2")).toBeLessThan(6);
    expect(order.indexOf("192.0.2.3")).toBeLessThan(6);
    const many = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => check(`198.51.100.${i}`)));
    expect(many.filter(({ status }) => status === "rejected")).toHaveLength(300 - 2 - 256);
  });

  it.each([
    ["IPv6", (i: number) => `2001:db8:7:${i.toString(16)}::/64`, "2001:db8:8:1::/64"],
    ["IPv4", (i: number) => `198.51.100.${i}`, "192.0.2.1"],
  ])("A74 one network of many addresses keeps no other out: %s", async (_, addressOf, newcomer) => {
    const passwords = new Passwords(cheap);
    const check = (address: string) => passwords.hash("open sesame", { address, isKnown: false });
    const many = Array.from({ length: 300 }, (__, i) => check(addressOf(i)));
    const other = check(newcomer);
    const outcomes = await Promise.allSettled(many);
    await other;
    const refused = outcomes.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
    // The newest in the queue was dropped for it.
    expect(refused).toEqual([257, ...Array.from({ length: 42 }, (__, i) => 258 + i)]);
    expect(outcomes[257]).toMatchObject({ reason: { code: "exhausted", reason: "LOGIN_LIMIT" } });
  });

  it("A75 a check whose caller disconnected leaves the queue", async () => {
    const passwords = new Passwords(cheap);
    const gone = new AbortController();
    const check = (i: number, signal?: AbortSignal) =>
      passwords.hash("open sesame", { address: `198.51.100.${i}`, isKnown: false, signal });
    const many = Array.from({ length: 258 }, (_, i) => check(i, i < 200 ? gone.signal : undefined));
    gone.abort();
    const more = Array.from({ length: 198 }, (_, i) => check(300 + i));
    const outcomes = await Promise.allSettled([...many, ...more]);
    const done = outcomes.flatMap(({ status }, i) => (status === "fulfilled" ? [i] : []));
    // Two had begun.
    expect(done).toEqual([0, 1, ...Array.from({ length: 58 + 198 }, (_, i) => 200 + i)]);
  });
});
