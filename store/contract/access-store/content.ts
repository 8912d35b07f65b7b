import fc from "fast-check";
import { expect, it } from "vitest";
import { ROLES } from "#core/types/role.ts";
import type { Scope } from "#core/types/scope.ts";
import type { AccessChange, AccessContent, StoredToken } from "#core/ports/access-store.ts";
import { CHANGED } from "#core/ports/journal.ts";
import { ListAccess, sortedContent } from "../list-access.ts";
import { AUDIT, createRun, newNamespace, NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const NAMES = ["ada", "Ada", "ci.night-ly@x+y", "lab", "everyone"];
const PATHS = ["", "a", "a/b", "a/ü", "b%_'\"", "a#b"];
const RUNS = [
  { namespace: "a", runId: "1".repeat(32) },
  { namespace: "a/b", runId: "2".repeat(32) },
] as const;

const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ namespace: fc.constantFrom(...PATHS) }),
  fc.constantFrom(...RUNS),
  fc
    .tuple(fc.constantFrom(...RUNS), fc.constantFrom("x", "dir/y\n#z"))
    .map(([{ namespace, runId }, artifact]) => ({ namespace, runId, artifact })),
);
const name = fc.constantFrom(...NAMES);
const time = fc.integer({ min: 0, max: 2 ** 53 - 1 });
const role = fc.constantFrom(...ROLES);

const token: fc.Arbitrary<StoredToken> = fc.record({
  id: fc.constantFrom("t1", "t2", "t3"),
  kind: fc.constantFrom("token" as const, "login" as const, "session" as const, "first" as const),
  parent: fc.option(fc.constantFrom("t1", "gone"), { nil: undefined }),
  passwordOf: fc.option(fc.constantFrom("ada", "Ada"), { nil: undefined }),
  pageHash: fc.option(fc.string(), { nil: undefined }),
  principal: fc.constantFrom("ada", "Ada"),
  name: fc.string({ unit: "grapheme" }),
  hash: fc.constant(""),
  role: fc.option(role, { nil: undefined }),
  namespaces: fc.uniqueArray(fc.constantFrom(...PATHS)),
  createdUs: time,
  expiresUs: fc.option(time, { nil: undefined }),
  lastUsedUs: fc.option(time, { nil: undefined }),
});

const change: fc.Arbitrary<AccessChange> = fc.oneof(
  fc.record({
    do: fc.constant("put-principal" as const),
    principal: fc.record({
      name,
      kind: fc.constantFrom("user" as const, "service" as const, "group" as const),
      displayName: fc.string({ unit: "grapheme" }),
      disabled: fc.boolean(),
      createdUs: time,
      password: fc.option(fc.string(), { nil: undefined }),
    }),
  }),
  fc.record({ do: fc.constant("delete-principal" as const), name }),
  fc.record({ do: fc.constant("add-member" as const), group: fc.constant("lab"), member: name }),
  fc.record({ do: fc.constant("remove-member" as const), group: fc.constant("lab"), member: name }),
  fc.record({
    do: fc.constant("put-binding" as const),
    binding: fc.record({ principal: name, role, scope, createdUs: time, createdBy: name }),
  }),
  fc.record({ do: fc.constant("delete-binding" as const), principal: name, scope }),
  fc.record({ do: fc.constant("set-closed" as const), scope, closed: fc.boolean() }),
  fc.record({ do: fc.constant("put-token" as const), token }),
  fc.record({ do: fc.constant("delete-token" as const), id: fc.constantFrom("t1", "t2", "t3") }),
  fc.record({
    do: fc.constant("use-token" as const),
    id: fc.constantFrom("t1", "t2", "t3"),
    lastUsedUs: time,
  }),
);

export function accessContentContract(open: OpenStores): void {
  const bench = useStores(open);

  it("is empty at first", async () => {
    expect(await bench.under.access.loadAccess()).toMatchObject(new ListAccess().content);
  });

  it("A15 has the content of the model after any changes, also after a restart", async () => {
    for (const { runId: id, namespace } of RUNS) await createRun(bench.runs, { id, namespace });
    const model = new ListAccess();
    let hashes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (asked) => {
        const changes = asked
          .map((one) =>
            one.do === "put-token"
              ? { ...one, token: { ...one.token, hash: `${one.token.id}-${++hashes}` } }
              : one,
          )
          .filter((one) => isPossible(one, model.content));
        const [first] = changes;
        if (first === undefined) return;
        // Later ones may need entries that an earlier one removes, so each is applied alone.
        await model.changeAccess([first], []);
        await bench.under.access.changeAccess([first], []);
        const inOne = changes
          .slice(1)
          .filter(({ do: what }) => what.includes("binding") || what === "set-closed");
        await model.changeAccess(inOne, []);
        await bench.under.access.changeAccess(inOne, []);
        expect(sortedContent(await bench.under.access.loadAccess())).toEqual(sortedContent(model.content));
      }),
      { numRuns: 60 },
    );
    await bench.reopen();
    if (bench.under.reopen === undefined) return;
    expect(sortedContent(await bench.under.access.loadAccess())).toEqual(sortedContent(model.content));
  });

  it("A15 makes all changes and records of one call, or none", async () => {
    const { access } = bench.under;
    const binding = { principal: "everyone", role: "viewer" as const, createdUs: NOW_US, createdBy: "ada" };
    const changes: AccessChange[] = [
      { do: "put-binding", binding: { ...binding, scope: { namespace: "a" } } },
      { do: "put-binding", binding: { ...binding, scope: RUNS[0] } },
    ];
    await expect(access.changeAccess(changes, [AUDIT])).rejects.toEqual(refused("not-found"));
    expect(await access.loadAccess()).toMatchObject(new ListAccess().content);
    expect(await access.verifyAudit()).toEqual({ entries: 0, problems: [] });
  });

  it("A17 refuses bindings and closures on a missing run", async () => {
    const gone: Scope = { ...RUNS[0], artifact: "x" };
    const closing = bench.under.access.changeAccess([{ do: "set-closed", scope: gone, closed: true }], []);
    await expect(closing).rejects.toEqual(refused("not-found"));
    // Removing is harmless.
    await bench.under.access.changeAccess(
      [
        { do: "set-closed", scope: gone, closed: false },
        { do: "delete-binding", principal: "ada", scope: gone },
      ],
      [],
    );
  });

  it("A51 refuses to bind, open or take away on a run in a namespace that it is not in", async () => {
    const { access } = bench.under;
    const runId = await createRun(bench.runs, { namespace: "a" });
    const [there, elsewhere]: Scope[] = [
      { namespace: "a", runId },
      { namespace: "b", runId },
    ];
    const binding = { principal: "everyone", role: "viewer" as const, createdUs: NOW_US, createdBy: "ada" };
    const changesOn = (place: Scope): AccessChange[] => [
      { do: "put-binding", binding: { ...binding, scope: place } },
      { do: "set-closed", scope: place, closed: true },
      { do: "set-closed", scope: place, closed: false },
      { do: "delete-binding", principal: "everyone", scope: place },
    ];
    await access.changeAccess(changesOn(there!).slice(0, 2), []);
    const before = await access.loadAccess();
    for (const one of changesOn(elsewhere!)) {
      await expect(access.changeAccess([one], [AUDIT])).rejects.toEqual(refused("not-found"));
    }
    expect(await access.loadAccess()).toEqual(before);
    await access.changeAccess(changesOn(there!).slice(2), []);
    expect(await access.loadAccess()).toMatchObject({ bindings: [], closed: [] });
  });

  it("A43 keeps the last use of tokens, in whichever order uses are reported, and ignores deleted ones", async () => {
    const { access } = bench.under;
    const [ada] = fc.sample(token, 1);
    const stored = { ...ada!, id: "t1", principal: "ada", hash: "h" };
    const principal = {
      name: "ada",
      kind: "user" as const,
      displayName: "",
      disabled: false,
      createdUs: NOW_US,
      password: undefined,
    };
    await access.changeAccess(
      [
        { do: "put-principal", principal },
        { do: "put-token", token: stored },
      ],
      [],
    );
    const laterUs = (stored.lastUsedUs ?? 0) + 10;
    const use = (id: string, lastUsedUs: number) => ({ do: "use-token" as const, id, lastUsedUs });
    await access.changeAccess([use("t1", laterUs), use("unknown", laterUs)], []);
    await access.changeAccess([use("t1", laterUs - 1)], []);
    const { tokens } = await access.loadAccess();
    expect(tokens).toEqual([{ ...stored, lastUsedUs: laterUs }]);
  });

  it("A44 refuses changes that were planned before another change of access, and no others", async () => {
    const { access, journal } = bench.under;
    const run = await createRun(bench.runs, { namespace: "a" });
    const close = (namespace: string, basedOn: number) =>
      access.changeAccess([{ do: "set-closed", scope: { namespace }, closed: true }], [AUDIT], basedOn);
    const { position } = await access.loadAccess();
    // Changes of runs and namespaces are in the same journal, but no reason to plan again.
    await bench.runs.setDeleted(run, NOW_US, AUDIT);
    await bench.namespaces.createNamespace(newNamespace("b"));
    const first = await close("a", position);
    expect(first).toBeGreaterThan(position);
    expect(await close("b", position)).toBeUndefined();
    expect(await close("b", first! - 1)).toBeUndefined();
    expect((await access.loadAccess()).closed).toEqual([{ namespace: "a" }]);
    expect(await close("b", first!)).toBeGreaterThan(first!);
    const { entries } = await access.verifyAudit();
    const part = await journal.changesSince(position, CHANGED.access);
    expect(part.changes).toMatchObject([{ runId: "", namespace: "", what: CHANGED.access }]);
    // The closure and its purge are one transaction; a run without any does not change access.
    const { position: known } = await access.loadAccess();
    await bench.runs.purgeRun(run, AUDIT);
    expect(await close("c", known)).toBeGreaterThan(known);
    expect((await access.verifyAudit()).entries).toBe(entries + 2);
  });

  it("A44 a purge that removes bindings is a change of access", async () => {
    const { access } = bench.under;
    const run = await createRun(bench.runs, { namespace: "a" });
    await access.changeAccess(
      [{ do: "set-closed", scope: { namespace: "a", runId: run }, closed: true }],
      [],
    );
    const ends = [
      () => bench.runs.setDeleted(run, NOW_US, AUDIT).then(() => bench.runs.purgeRun(run, AUDIT)),
      () => bench.namespaces.deleteNamespace("a", AUDIT),
    ];
    await access.changeAccess([{ do: "set-closed", scope: { namespace: "a" }, closed: true }], []);
    for (const end of ends) {
      const { position } = await access.loadAccess();
      await end();
      expect(await access.changeAccess([], [AUDIT], position)).toBeUndefined();
    }
  });
}

/** Core only makes changes that are valid for the current content. */
function isPossible(one: AccessChange, { principals }: AccessContent): boolean {
  const exists = (wanted: string) => principals.some((principal) => principal.name === wanted);
  if (one.do === "add-member") return exists(one.group) && exists(one.member);
  if (one.do === "put-token") return exists(one.token.principal);
  return true;
}
