import { join } from "node:path";
import { expect, it } from "vitest";
import type { Scope } from "#core/types/scope.ts";
import type { AccessChange, AuditRecord, StoredToken } from "#core/ports/access-store.ts";
import {
  AUDIT,
  createRun,
  newNamespace,
  NOW_US,
  refused,
  useStores,
  type Bench,
  type OpenStores,
} from "../stores.ts";

export function accessGoneContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);

  it("A15 audits a deletion together with it, and only when something was deleted", async () => {
    const { runs } = bench;
    const id = await createRun(runs, { namespace: "a/b" });
    await expect(runs.purgeRun(id, auditOf("too-early"))).rejects.toEqual(refused("precondition"));
    await runs.setDeleted(id, NOW_US, auditOf("delete"));
    await runs.setDeleted(id, NOW_US + 1, auditOf("delete-again"));
    await runs.setDeleted(id, undefined, auditOf("restore"));
    await runs.setDeleted(id, undefined, auditOf("restore-again"));
    await runs.setDeleted(id, NOW_US, auditOf("delete"));
    await expect(bench.namespaces.deleteNamespace("a/b", auditOf("not-empty"))).rejects.toEqual(
      refused("precondition"),
    );
    await runs.purgeRun(id, auditOf("purge"));
    await expect(runs.purgeRun(id, auditOf("purge-again"))).rejects.toEqual(refused("not-found"));
    await bench.namespaces.deleteNamespace("a/b", auditOf("delete-namespace"));
    expect(await actions(bench)).toEqual(["delete", "restore", "delete", "purge", "delete-namespace"]);
    expect(await bench.under.access.verifyAudit()).toEqual({ entries: 5, problems: [] });
  });

  it("A17 deletes bindings and closures on a purged run, and no others", async () => {
    const { runs } = bench;
    const id = await createRun(runs, { namespace: "a" });
    const other = await createRun(runs, { namespace: "a" });
    const stay: Scope[] = [{ namespace: "" }, { namespace: "a" }, { namespace: "a", runId: other }];
    const go: Scope[] = [
      { namespace: "a", runId: id },
      { namespace: "a", runId: id, artifact: "x" },
    ];
    await rule(bench, [...stay, ...go]);
    await runs.setDeleted(id, NOW_US, AUDIT);
    expect(await ruled(bench)).toHaveLength(10);
    await runs.purgeRun(id, AUDIT);
    expect(await ruled(bench)).toEqual([...stay, ...stay]);
  });

  it("A17 deletes bindings and closures on a deleted namespace and below it", async () => {
    await bench.namespaces.createNamespace(newNamespace("a/b"));
    const stay = ["", "a", "a/bc", "a/b0", "a/B"].map((namespace) => ({ namespace }));
    const go = ["a/b", "a/b/not-yet", "a/b/c/d"].map((namespace) => ({ namespace }));
    await rule(bench, [...stay, ...go]);
    await bench.namespaces.deleteNamespace("a/b", AUDIT);
    expect(await ruled(bench)).toEqual(expect.arrayContaining(stay));
    expect(await ruled(bench)).toHaveLength(2 * stay.length);
  });

  if (restores)
    it("A18 keeps the audit through a restore, and revoked tokens stay revoked", async () => {
      const { access } = bench.under;
      const file = join(bench.under.directory, "copy.db");
      const principal = {
        name: "ada",
        kind: "user" as const,
        displayName: "",
        disabled: false,
        createdUs: NOW_US,
        password: undefined,
      };
      const put = (id: string): AccessChange => ({ do: "put-token", token: tokenOf(id) });
      const revoke = (id: string, action: string) =>
        access.changeAccess([{ do: "delete-token", id }], [{ ...auditOf(action), facts: { token: id } }]);
      await access.changeAccess(
        [{ do: "put-principal", principal }, ...["kept", "revoked", "left"].map(put)],
        [auditOf("before")],
      );
      await bench.engine.copies!.backup(file);
      await revoke("revoked", "revoke-token");
      await revoke("left", "log-out");
      await access.changeAccess([put("later")], [auditOf("later")]);
      await bench.engine.copies!.restore(file, { audit: auditOf("restore-backup") });
      const expected = ["before", "revoke-token", "log-out", "later", "restore-backup"];
      expect(await actions(bench)).toEqual(expected);
      expect(await bench.under.access.verifyAudit()).toEqual({ entries: 5, problems: [] });
      expect((await access.loadAccess()).tokens.map(({ id }) => id)).toEqual(["kept"]);
      await bench.reopen();
      await bench.under.access.changeAccess([], [auditOf("after")]);
      expect(await actions(bench)).toEqual([...expected, "after"]);
      expect(await bench.under.access.verifyAudit()).toEqual({ entries: 6, problems: [] });
    });

  if (restores)
    it("A18 does not change the audit when a restore is refused", async () => {
      const { access } = bench.under;
      await access.changeAccess([], [auditOf("before")]);
      const missing = bench.engine.copies!.restore(join(bench.under.directory, "none.db"), {
        audit: auditOf("restore"),
      });
      await expect(missing).rejects.toEqual(refused("not-found"));
      expect(await actions(bench)).toEqual(["before"]);
    });
}

function auditOf(action: string): AuditRecord {
  return { ...AUDIT, action };
}

/** In the order they were written. */
async function actions(bench: Bench): Promise<string[]> {
  const anything = { principal: undefined, action: undefined, target: undefined };
  const entries = await bench.under.access.listAudit({ ...anything, before: undefined, limit: 100 });
  return entries.map(({ action }) => action).reverse();
}

/** Binds something on each scope, and closes it. */
async function rule(bench: Bench, scopes: readonly Scope[]): Promise<void> {
  const binding = { principal: "everyone", role: "viewer" as const, createdUs: NOW_US, createdBy: "ada" };
  const changes = scopes.flatMap((scope): AccessChange[] => [
    { do: "put-binding", binding: { ...binding, scope } },
    { do: "set-closed", scope, closed: true },
  ]);
  await bench.under.access.changeAccess(changes, []);
}

async function ruled(bench: Bench): Promise<Scope[]> {
  const { bindings, closed } = await bench.under.access.loadAccess();
  return [...bindings.map(({ scope }) => scope), ...closed];
}

function tokenOf(id: string): StoredToken {
  return {
    id,
    kind: "token",
    parent: undefined,
    passwordOf: undefined,
    principal: "ada",
    name: "",
    hash: `hash of ${id}`,
    pageHash: undefined,
    role: undefined,
    namespaces: [],
    createdUs: NOW_US,
    expiresUs: undefined,
    lastUsedUs: undefined,
  };
}
