import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { PrincipalKind, Role, WhoAmIResponseSchema } from "#proto/cairn/v1/access_pb.ts";
import { hasRole, hasRoleSomewhere, isWithoutRole } from "./rights.ts";

const ada = { name: "ada", kind: PrincipalKind.USER };

describe("what the caller may do, for the controls of pages", () => {
  it("Z200 a role counts in its namespace and below it, and on its run", () => {
    const who = create(WhoAmIResponseSchema, {
      principal: ada,
      token: { name: "t" },
      bindings: [
        { principal: "ada", role: Role.WRITER, scope: { namespace: "demo/speech" } },
        { principal: "ada", role: Role.MAINTAINER, scope: { runId: "r1" } },
      ],
    });
    expect(hasRole(who, Role.WRITER, { namespace: "demo/speech" })).toBe(true);
    expect(hasRole(who, Role.VIEWER, { namespace: "demo/speech/sweep" })).toBe(true);
    expect(hasRole(who, Role.MAINTAINER, { namespace: "demo/speech" })).toBe(false);
    expect(hasRole(who, Role.WRITER, { namespace: "demo/speech2" })).toBe(false);
    expect(hasRole(who, Role.WRITER, { namespace: "demo" })).toBe(false);
    expect(hasRole(who, Role.MAINTAINER, { namespace: "demo", runId: "r1" })).toBe(true);
    expect(hasRole(who, Role.VIEWER, { namespace: "demo", runId: "r2" })).toBe(false);
    expect(isWithoutRole(who)).toBe(false);
  });

  it("Z200 a token limits the role and the namespaces", () => {
    const who = create(WhoAmIResponseSchema, {
      principal: ada,
      token: { name: "t", role: Role.VIEWER, namespaces: ["demo"] },
      bindings: [{ principal: "ada", role: Role.ADMIN, scope: { namespace: "" } }],
    });
    expect(hasRole(who, Role.VIEWER, { namespace: "demo/speech" })).toBe(true);
    expect(hasRole(who, Role.WRITER, { namespace: "demo/speech" })).toBe(false);
    expect(hasRole(who, Role.VIEWER, { namespace: "other" })).toBe(false);
    expect(hasRoleSomewhere(who, Role.VIEWER)).toBe(true);
    expect(hasRoleSomewhere(who, Role.WRITER)).toBe(false);
  });

  it("Z200 a role on one run or one namespace is a role somewhere", () => {
    const withScope = (role: Role, scope: object) =>
      create(WhoAmIResponseSchema, { principal: ada, bindings: [{ principal: "ada", role, scope }] });
    expect(hasRoleSomewhere(withScope(Role.WRITER, { namespace: "a/b" }), Role.WRITER)).toBe(true);
    expect(hasRoleSomewhere(withScope(Role.WRITER, { runId: "r1" }), Role.WRITER)).toBe(true);
    expect(hasRoleSomewhere(withScope(Role.VIEWER, { namespace: "" }), Role.WRITER)).toBe(false);
    expect(hasRoleSomewhere(create(WhoAmIResponseSchema, { principal: ada }), Role.VIEWER)).toBe(false);
    expect(
      hasRoleSomewhere(
        create(WhoAmIResponseSchema, { principal: { kind: PrincipalKind.OWNER } }),
        Role.ADMIN,
      ),
    ).toBe(true);
  });

  it("Z200 the owner of the machine may do everything and is never without a role", () => {
    const owner = create(WhoAmIResponseSchema, {
      principal: { name: "owner", kind: PrincipalKind.OWNER },
    });
    expect(hasRole(owner, Role.ADMIN, { namespace: "" })).toBe(true);
    expect(isWithoutRole(owner)).toBe(false);
  });

  it("Z203 a user without any binding is without a role; an anonymous caller has to sign in instead", () => {
    expect(isWithoutRole(create(WhoAmIResponseSchema, { principal: ada, token: { name: "t" } }))).toBe(true);
    expect(
      isWithoutRole(create(WhoAmIResponseSchema, { principal: { name: "", kind: PrincipalKind.ANONYMOUS } })),
    ).toBe(false);
    expect(isWithoutRole(create(WhoAmIResponseSchema, { principal: ada, truncated: true }))).toBe(false);
  });
});
