import { expect, it } from "vitest";
import type { Scope } from "#core/types/scope.ts";
import type { AccessChange, AuditRecord } from "#core/ports/access-store.ts";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import { artifactRecord } from "../artifact-record.ts";
import { logLines } from "../naive-log.ts";
import {
  ackOf,
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const MOVED: AuditRecord = { ...AUDIT, action: "move-run" };

export function movesContract(open: OpenStores): void {
  const bench = useStores(open);
  const accessAt = async () => (await bench.under.access.loadAccess()).position;
  const move = async (id: string, from: string, to: string) =>
    bench.runs.moveRun(id, { from, to, accessAt: await accessAt() }, NOW_US + 1, MOVED);
  const moves = async () => {
    const anything = { principal: undefined, target: undefined, before: undefined };
    const entries = await bench.under.access.listAudit({ ...anything, action: "move-run", limit: 100 });
    return entries.length;
  };
  const idsOf = async (ref: Parameters<typeof bench.runs.findRuns>[0]) =>
    (await bench.runs.findRuns(ref)).map(({ id }) => id);
  const paths = async () => {
    const page = { under: "", after: undefined, limit: 100, bytesMax: Infinity };
    return (await bench.namespaces.listNamespaces(page)).rows.map(({ path }) => path);
  };

  it("U12, U17, U18, U19: moves a run with everything it has", async () => {
    const id = await createRun(bench.runs, {
      namespace: "lab/a",
      aliases: ["job", "other"],
      params: new Map([["lr", "1.0"]]),
      status: "failed",
    });
    const other = await createRun(bench.runs, { namespace: "lab/a", aliases: ["third"] });
    const log = [logLines(["one", "two"])];
    const parts = {
      series: [numbers("loss", [1, 2])],
      log,
      artifacts: [artifactRecord({ name: "model", uri: "s3://b/model" })],
    };
    const first = () => envelope(id, 1, parts);
    await appendOne(bench.journal, first());
    await bench.under.links.addSource(
      { childId: other, source: id, artifact: "model", createdUs: NOW_US, byText: false, beside: false },
      AUDIT,
    );
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    const before = await getRun(bench.runs, id);
    expect(await move(id, "lab/a", "new/deep/place")).toEqual({ ...before, namespace: "new/deep/place" });
    await inEveryForm(bench, async () => {
      expect(await getRun(bench.runs, id)).toEqual({ ...before, namespace: "new/deep/place" });
      expect(await paths()).toEqual(["lab", "lab/a", "new", "new/deep", "new/deep/place"]);
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2]);
      expect(await bench.under.logs.lineCount(id)).toBe(2);
      expect(await bench.under.artifacts.findArtifact(id, "model", undefined)).toBeDefined();
      const asked = { childId: other, artifact: undefined, after: 0, limit: 10, bytesMax: Infinity };
      const { rows } = await bench.under.links.listSources(asked);
      expect(rows).toMatchObject([{ source: id, sourceNamespace: "new/deep/place" }]);
      for (const alias of ["job", "other"]) {
        expect(await idsOf({ by: "alias", alias, namespace: "new" })).toEqual([id]);
        expect(await idsOf({ by: "alias", alias, namespace: "lab" })).toEqual([]);
      }
      expect(await idsOf({ by: "path", namespace: "lab/a", id })).toEqual([]);
      expect(await idsOf({ by: "path", namespace: "new/deep/place", id })).toEqual([id]);
      // The ledger continues where it was.
      expect(await appendOne(bench.journal, first())).toMatchObject({ duplicate: true });
      await expect(appendOne(bench.journal, envelope(id, 3))).rejects.toEqual(
        refused("precondition", "SEQ_GAP"),
      );
    });
    expect((await getRun(bench.runs, other)).namespace).toBe("lab/a");
    // The old place no longer has it.
    await createRun(bench.runs, { namespace: "lab/a", aliases: ["job"] });
    await bench.runs.purgeRun(id, AUDIT);
    await bench.namespaces.deleteNamespace("new/deep/place", AUDIT);
  });

  it("U13 refuses an alias that is taken there, names it, and changes nothing", async () => {
    const id = await createRun(bench.runs, { namespace: "a", aliases: ["free", "taken"] });
    const holder = await createRun(bench.runs, { namespace: "b", aliases: ["taken"] });
    await bench.runs.setDeleted(holder, NOW_US, AUDIT);
    const refusal = refused("exists", "ALIAS_TAKEN", { facts: { alias: "taken" } });
    const before = [await getRun(bench.runs, id), await bench.journal.changesSince(0, CHANGED_RUNS)];
    await expect(move(id, "a", "b")).rejects.toEqual(refusal);
    expect([await getRun(bench.runs, id), await bench.journal.changesSince(0, CHANGED_RUNS)]).toEqual(before);
    expect(await moves()).toBe(0);
    await move(id, "a", "b/c");
    expect(await idsOf({ by: "alias", alias: "taken", namespace: "b/c" })).toEqual([id]);
    expect(await moves()).toBe(1);
    // A refused one leaves no namespace behind either.
    const another = await createRun(bench.runs, { namespace: "a" });
    await expect(move(another, "elsewhere", "fresh")).rejects.toEqual(refused("precondition", "RUN_MOVED"));
    await expect(move("0".repeat(32), "a", "fresh")).rejects.toEqual(refused("not-found"));
    expect(await paths()).toEqual(["a", "b", "b/c"]);
  });

  it("A51 moves bindings and closures on the run and its artifacts, and no others", async () => {
    const [id, other] = [
      await createRun(bench.runs, { namespace: "a" }),
      await createRun(bench.runs, { namespace: "a" }),
    ];
    const stay: Scope[] = [{ namespace: "" }, { namespace: "a" }, { namespace: "a", runId: other }];
    const go = (namespace: string): Scope[] => [
      { namespace, runId: id },
      { namespace, runId: id, artifact: "x" },
    ];
    const binding = { principal: "everyone", role: "viewer" as const, createdUs: NOW_US, createdBy: "ada" };
    const changes = [...stay, ...go("a")].flatMap((scope): AccessChange[] => [
      { do: "put-binding", binding: { ...binding, scope } },
      { do: "set-closed", scope, closed: true },
    ]);
    await bench.under.access.changeAccess(changes, []);
    const before = await accessAt();
    await move(id, "a", "b");
    const { bindings, closed } = await bench.under.access.loadAccess();
    for (const scopes of [bindings.map(({ scope }) => scope), closed]) {
      expect(scopes).toHaveLength(5);
      expect(scopes).toEqual(expect.arrayContaining([...stay, ...go("b")]));
    }
    const { changes: noted } = await bench.journal.changesSince(before, CHANGED.access | CHANGED.moved);
    expect(noted).toMatchObject([
      { runId: id, namespace: "b", what: CHANGED.moved },
      { runId: "", what: CHANGED.access },
    ]);
  });

  it("A52 does nothing when access has changed since it was checked", async () => {
    const id = await createRun(bench.runs, { namespace: "a" });
    const planned = await accessAt();
    await bench.under.access.changeAccess(
      [{ do: "set-closed", scope: { namespace: "b" }, closed: true }],
      [],
    );
    const asked = { from: "a", to: "b", accessAt: planned };
    expect(await bench.runs.moveRun(id, asked, NOW_US, MOVED)).toBeUndefined();
    expect((await getRun(bench.runs, id)).namespace).toBe("a");
    expect(await moves()).toBe(0);
    // Changes of runs are not a reason to check again.
    const now = await accessAt();
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    const moved = await bench.runs.moveRun(id, { ...asked, accessAt: now }, NOW_US, MOVED);
    expect(moved).toMatchObject({ namespace: "b" });
    // A run without bindings does not change access.
    const { changes } = await bench.journal.changesSince(now, CHANGED.access);
    expect(changes).toEqual([]);
  });

  it("U15 refuses an envelope that was checked in another namespace, and no other of its group", async () => {
    const [id, other] = [
      await createRun(bench.runs, { namespace: "a" }),
      await createRun(bench.runs, { namespace: "a" }),
    ];
    const one = (runId: string, seq: number, namespace?: string) =>
      envelope(runId, seq, { namespace, series: [numbers("loss", [seq], seq)] });
    await appendOne(bench.journal, one(id, 1, "a"));
    // In one group of the store: envelopes after the move are checked with it.
    const before = bench.journal.append([one(id, 2, "a")], NOW_US);
    const at = await accessAt();
    const moved = bench.runs.moveRun(id, { from: "a", to: "b", accessAt: at }, NOW_US, MOVED);
    const after = bench.journal.append([one(id, 3, "a"), one(other, 1, "a"), one(id, 1, "a")], NOW_US);
    expect(ackOf((await before)[0])).toMatchObject({ seq: 2, duplicate: false });
    expect(await moved).toMatchObject({ namespace: "b" });
    const [late, elsewhere, replayed] = await after;
    const refusal = { ok: false, error: refused("precondition", "RUN_MOVED") };
    expect(late).toEqual(refusal);
    expect(ackOf(elsewhere)).toMatchObject({ duplicate: false });
    expect(replayed).toEqual(refusal);
    // The place is not part of the content.
    expect(await appendOne(bench.journal, one(id, 1, "b"))).toMatchObject({ duplicate: true });
    expect(await appendOne(bench.journal, one(id, 3, "b"))).toMatchObject({ duplicate: false });
    expect(await appendOne(bench.journal, one(id, 4))).toMatchObject({ duplicate: false });
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3, 4]);
    });
  });

  it("U16, U23: the journal says where a run is, and which places it left when", async () => {
    const id = await createRun(bench.runs, { namespace: "a" });
    const { position: begun } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    await move(id, "a", "b");
    const { position: first } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await move(id, "b", "c");
    const { position: last } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    const movesSince = async (position: number) => {
      const { changes } = await bench.journal.changesSince(position, CHANGED_RUNS);
      return changes.map(({ runId, namespace, what, moves: left }) => {
        expect([runId, namespace]).toEqual([id, "c"]);
        return [what, left?.map((one) => [one.from, one.position])];
      });
    };
    await inEveryForm(bench, async () => {
      const left = [
        ["a", first],
        ["b", last],
      ];
      expect(await movesSince(begun)).toEqual([
        [CHANGED.points, left],
        [CHANGED.run | CHANGED.moved, left],
      ]);
      expect(await movesSince(first)).toEqual([
        [CHANGED.points, [["b", last]]],
        [CHANGED.run | CHANGED.moved, [["b", last]]],
      ]);
      expect(await movesSince(last)).toEqual([]);
    });
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    await bench.runs.purgeRun(id, AUDIT);
    const { changes } = await bench.journal.changesSince(first, CHANGED_RUNS);
    expect(changes).toMatchObject([
      { runId: id, namespace: "c", what: CHANGED.purged, moves: [{ from: "b", position: last }] },
    ]);
  });

  it("U14 the run index gets the run with its new namespace, and keeps its metrics", async () => {
    const id = await createRun(bench.runs, { namespace: "a" });
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    const { feed } = bench.under;
    await feed.catchUp();
    await move(id, "a", "b");
    await feed.catchUp();
    expect([...feed.runs.values()].map((run) => [run.id, run.namespace])).toEqual([[id, "b"]]);
  });
}
