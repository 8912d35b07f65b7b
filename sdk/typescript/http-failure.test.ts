import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { httpFailure } from "./http-failure.ts";
import { isFinal, isTransient } from "./retry.ts";

const failureOf = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  httpFailure(
    "cannot upload",
    { status, headers: new Headers(headers) },
    typeof body === "string" ? body : JSON.stringify(body),
  );

describe("errors over plain HTTP", () => {
  it("C51 are parsed from the body of the answer", () => {
    const body = { code: "aborted", message: "a newer one", reason: "SUPERSEDED", facts: { a: "1", b: 2 } };
    const failure = failureOf(499, body);
    expect(failure).toMatchObject({ code: Code.Aborted, message: "a newer one", reason: "SUPERSEDED" });
    expect(failure.facts).toEqual({ a: "1" });
    expect(isTransient(failure)).toBe(true);
    expect(isFinal(failureOf(413, { code: "exhausted", message: "too large" }))).toBe(true);
    expect(isFinal(failureOf(422, { code: "invalid", message: "another digest" }))).toBe(true);
    const busy = failureOf(429, { code: "exhausted", message: "later" }, { "retry-after": "3" });
    expect(isTransient(busy)).toBe(true);
    expect(busy.facts).toEqual({ retry_after_ms: "3000" });
  });

  it.each([
    [302, false],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [413, false],
    [429, true],
    [500, true],
    [501, false],
    [502, true],
    [503, true],
    [504, true],
  ])("C51 a proxy's own %i may be repeated: %s, and is never final", (status, transient) => {
    for (const body of ["<html>", "", "null", { code: "toString", message: "x" }, { code: "invalid" }]) {
      const failure = failureOf(status, body);
      expect(failure.message).toBe(`cannot upload: HTTP ${status}`);
      expect([isTransient(failure), isFinal(failure)]).toEqual([transient, false]);
    }
  });

  it("C51 a date of retry-after is parsed, and an invalid one is ignored", () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    expect(Number(failureOf(503, "", { "retry-after": inAnHour }).facts["retry_after_ms"])).toBeGreaterThan(
      3_500_000,
    );
    for (const text of ["soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      expect(failureOf(503, "", { "retry-after": text }).facts).toEqual({});
    }
  });
});
