import { describe, expect, it } from "vitest";
import { Failure } from "#sdk/failure.ts";
import { pageHint } from "./page-hint.ts";

/** Codes of Connect, which has no place here. */
const [DENIED, EXHAUSTED, UNAVAILABLE, UNAUTHENTICATED] = [7, 8, 14, 16] as const;

describe("what a page says about a failure", () => {
  it("Z204 a missing credential leads to the sign-in, not to a header or a command", () => {
    const failure = new Failure(UNAUTHENTICATED, "cannot read without a credential", {
      reason: "NO_CREDENTIAL",
      hint: "use `cairn login`, or send the header `authorization: Bearer TOKEN`",
    });
    expect(failure.needsCredential).toBe(true);
    expect(pageHint(failure)).toBe("");
  });

  it("Z204 other failures have hints for the person at the page", () => {
    const denied = { reason: "NO_RIGHT", hint: "WhoAmI shows the ones you have" };
    const of = (namespace: string) =>
      pageHint(new Failure(DENIED, "cannot write", { ...denied, facts: { namespace } }));
    expect(of("demo/speech")).toBe("Ask one of its maintainers for a role.");
    expect(of("")).toBe("Ask an administrator of this server for a role.");
    const lost = new Failure(UNAVAILABLE, "cannot reach", {
      reason: "UNREACHABLE",
      hint: "start one with `cairn serve`, or name another with --server or CAIRN_SERVER",
    });
    expect(pageHint(lost)).not.toMatch(/--server|cairn serve/);
    expect(lost.needsCredential).toBe(false);
    const other = new Failure(EXHAUSTED, "too many", { hint: "Wait a minute." });
    expect(pageHint(other)).toBe("Wait a minute.");
  });
});
