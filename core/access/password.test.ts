import { describe, expect, it } from "vitest";
import { Passwords } from "./password.ts";

const cheap = { memoryKib: 8, passes: 1 };

describe("passwords", () => {
  it("A13 are kept as argon2id with a salt each, and checked by it", async () => {
    const passwords = new Passwords();
    const [kept, again] = await Promise.all([passwords.hash("open sesame"), passwords.hash("open sesame")]);
    expect(kept).toMatch(/^argon2id\$m=32768,t=3,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(again).not.toBe(kept);
    expect(await passwords.matches("open sesame", kept)).toBe(true);
    expect(await passwords.matches("open sesam", kept)).toBe(false);
    // At the cost it was kept with, not at today's.
    expect(await new Passwords(cheap).matches("open sesame", kept)).toBe(true);
  });

  it("A14 match nothing where none is kept, or what is kept is none", async () => {
    const passwords = new Passwords(cheap);
    for (const kept of [
      undefined,
      "",
      "open sesame",
      "argon2id$m=8,t=1,p=1$$",
      "scrypt$m=8,t=1,p=1$AAAA$AAAA",
    ]) {
      expect(await passwords.matches("open sesame", kept)).toBe(false);
    }
  });

  it("A14 are refused when too many wait, and go on afterwards", async () => {
    const passwords = new Passwords(cheap);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => passwords.hash("open sesame")),
    );
    const refusals = outcomes.filter(({ status }) => status === "rejected");
    expect(refusals).toHaveLength(100 - 2 - 64);
    expect(refusals[0]).toMatchObject({
      reason: { code: "exhausted", reason: "LOGIN_LIMIT", retryAfterMs: 1_000 },
    });
    await passwords.hash("open sesame");
  });
});
