import { describe, expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { ANONYMOUS, authorize, authorizeCall, type Caller } from "./caller.ts";

function refusalOf(work: () => void): CairnError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof CairnError) return thrown;
  }
  throw new Error("nothing was refused");
}

describe("a refusal", () => {
  const { rights } = ANONYMOUS;
  const ada: Caller = { rights, principal: { kind: "user", name: "ada" }, permission: "write" };

  it("A200 names the namespace that was asked for", () => {
    const inLab = refusalOf(() => authorize(ada, { namespace: "lab" }));
    expect(inLab.message).toBe('cannot write in namespace "lab": permission denied');
    expect(inLab.facts).toEqual({ permission: "write", namespace: "lab" });
    expect(refusalOf(() => authorize(ada)).message).toBe(
      "cannot write in the root namespace: permission denied",
    );
  });

  it("A200 says that a call is allowed nowhere", () => {
    const nowhere = refusalOf(() => authorizeCall(ada));
    expect(nowhere).toMatchObject({ code: "forbidden", reason: "NO_RIGHT", facts: { permission: "write" } });
    expect(nowhere.message).toBe("cannot write anywhere on this server: you have no role that allows it");
    expect(nowhere.message + nowhere.hint).not.toContain('""');
  });

  it("A200 says how to sign in where there is no credential", () => {
    const anonymous = refusalOf(() => authorizeCall({ ...ANONYMOUS, permission: "read" }));
    expect(anonymous).toMatchObject({ code: "unauthenticated", reason: "NO_CREDENTIAL" });
    expect(anonymous.message).toBe("cannot read without a credential");
    expect(anonymous.hint).toContain("cairn login URL");
    expect(anonymous.hint).toContain("CAIRN_TOKEN");
  });
});
