import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { HEAVY_PARTS, type HeavyPart } from "#core/ports/run-store.ts";
import { NO_PROVENANCE } from "#core/types/provenance.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  newRun,
  newNamespace,
  NOW_US,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

/** How much a store returns at once, and how large a run may become. */
export function runBoundsContract(open: OpenStores): void {
  const bench = useStores(open);
  const exceeded = refused("exhausted", "LIMIT_EXCEEDED");

  it("U10 keeps as many bytes of params as a run may have, and refuses more with nothing changed", async () => {
    const value = JSON.stringify("é".repeat(16_000));
    const pair = 5 + Buffer.byteLength(value);
    const count = Math.floor(limits.paramsBytesPerRunMax / pair);
    const params = new Map(
      Array.from({ length: count }, (_, i) => [`p${String(i).padStart(4, "0")}`, value]),
    );
    const id = await createRun(bench.runs, { params });
    const change = { params: new Map([["more", value]]), name: "never" };
    await expect(bench.runs.updateRun(id, change, NOW_US)).rejects.toEqual(exceeded);
    await expect(appendOne(bench.journal, envelope(id, 1, { change }))).rejects.toEqual(exceeded);
    const stored = await getRun(bench.runs, id);
    expect([stored.name, stored.params.size]).toEqual(["a run", count]);
    await bench.runs.updateRun(id, { ...change, removeParams: ["p0000"] }, NOW_US);
  });

  it("U10 returns runs until their texts are too many, and how many ids it read", async () => {
    const notes = "x".repeat(10_000);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await createRun(bench.runs, { notes }));
    const missing = "0".repeat(32);
    const asked = [missing, ids[0]!, ids[1]!, missing, ids[2]!, ids[3]!, ids[4]!];
    const get = async (bytesMax: number, some = asked, omit: readonly HeavyPart[] = []) => {
      const { runs, looked } = await bench.runs.getRuns(some, { bytesMax, omit });
      return [runs.map(({ id }) => ids.indexOf(id)), looked];
    };
    await inEveryForm(bench, async () => {
      expect(await get(25_000)).toEqual([[0, 1], 4]);
      expect(await get(25_000, asked.slice(4))).toEqual([[2, 3], 2]);
      expect(await get(25_000, asked.slice(6))).toEqual([[4], 1]);
      expect(await get(100_000)).toEqual([[0, 1, 2, 3, 4], 7]);
      // One at least, however large, and a missing one costs nothing.
      expect(await get(1)).toEqual([[0], 2]);
      expect(await get(1, [missing])).toEqual([[], 1]);
      expect(await get(1, [])).toEqual([[], 0]);
      expect(await get(10_000, asked, ["notes"])).toEqual([[0, 1, 2, 3, 4], 7]);
    });
  });

  it("U1 finds runs without their heavy parts", async () => {
    const provenance = { ...NO_PROVENANCE, initialState: "s" };
    const run = newRun({
      aliases: ["light"],
      notes: "n",
      params: new Map([["a", "1"]]),
      tags: new Map([["b", "c"]]),
      provenance,
    });
    await bench.runs.createRun(run, { getOrCreate: false });
    const light = { ...run, notes: "", params: new Map(), tags: new Map(), provenance: undefined };
    const omit = HEAVY_PARTS;
    for (const ref of [
      { by: "id", id: run.id },
      { by: "path", namespace: run.namespace, id: run.id },
      { by: "alias", alias: "light", namespace: "" },
    ] as const) {
      expect(await bench.runs.findRuns(ref, { omit })).toEqual([light]);
      expect(await bench.runs.findRuns(ref)).toEqual([run]);
    }
  });

  it("U10 leaves the heavy parts of a large run out of the answer to a write, and returns their size", async () => {
    const { runs } = bench;
    const value = JSON.stringify("x".repeat(limits.lightRunBytesMax / 2));
    const small = newRun({ aliases: ["small"], params: new Map([["a", value]]) });
    expect(await runs.createRun(small, { getOrCreate: true })).toEqual({ run: small, created: true });
    expect(await runs.createRun(small, { getOrCreate: true })).toEqual({ run: small, created: false });
    expect((await runs.updateRun(small.id, { notes: "n" }, NOW_US)).params).toEqual(small.params);

    const params = new Map([
      ["a", value],
      ["b", value],
    ]);
    const large = newRun({ aliases: ["large"], params, notes: "n", tags: new Map([["t", "u"]]) });
    const created = (await runs.createRun(large, { getOrCreate: true })).run;
    const found = (await runs.createRun(large, { getOrCreate: true })).run;
    const updated = await runs.updateRun(large.id, { notes: "more" }, NOW_US);
    const deleted = await runs.setDeleted(large.id, NOW_US, AUDIT);
    const restored = await runs.setDeleted(large.id, undefined, AUDIT);
    const [asked] = await runs.findRuns({ by: "id", id: large.id }, { light: true });
    for (const run of [created, found, updated, deleted, restored, asked!]) {
      expect(run).toMatchObject({ id: large.id, name: large.name, notes: "", provenance: undefined });
      expect([run.params.size, run.tags.size]).toEqual([0, 0]);
      expect(run.leftOutBytes).toBeGreaterThan(limits.lightRunBytesMax);
    }
    const whole = await getRun(runs, large.id);
    expect(whole).toMatchObject({ params, notes: "more", tags: large.tags });
    expect(whole.leftOutBytes).toBeUndefined();
  });

  it("Q8 lists namespaces and keys until their texts are too many, one at least", async () => {
    const description = "x".repeat(1_000);
    for (const path of ["a", "b", "c", "d", "e"]) {
      await bench.namespaces.createNamespace(newNamespace(path, { description }));
      const about = { unit: "", direction: undefined, picture: undefined, description };
      await bench.namespaces.describeKey({ namespace: "a", key: path, ...about });
      await bench.namespaces.describeKey({ namespace: "a/b", key: path, ...about, unit: "near" });
    }
    const paths = async (bytesMax: number, after?: string, limit = 10) => {
      const { rows, more } = await bench.namespaces.listNamespaces({ under: "", after, limit, bytesMax });
      return [rows.map(({ path }) => path).join(" "), more];
    };
    const keys = async (bytesMax: number, after?: string, limit = 10) => {
      const { rows, more } = await bench.namespaces.listKeys(["a", "a/b"], { after, limit, bytesMax });
      expect(rows.every(({ unit }) => unit === "near")).toBe(true);
      return [rows.map(({ key }) => key).join(" "), more];
    };
    await inEveryForm(bench, async () => {
      expect(await paths(0)).toEqual(["a", true]);
      expect(await paths(2_500)).toEqual(["a a/b b", true]);
      expect(await paths(2_500, "b")).toEqual(["c d", true]);
      expect(await paths(2_500, "d")).toEqual(["e", false]);
      expect(await paths(1e6, "b", 3)).toEqual(["c d e", false]);
      expect(await paths(1e6, "b", 2)).toEqual(["c d", true]);
      expect(await paths(0, "e")).toEqual(["", false]);
      expect(await keys(0)).toEqual(["a", true]);
      expect(await keys(2_500)).toEqual(["a b", true]);
      expect(await keys(2_500, "b")).toEqual(["c d", true]);
      expect(await keys(2_500, "d")).toEqual(["e", false]);
      expect(await keys(1e6, "d", 1)).toEqual(["e", false]);
      expect(await keys(1e6, "c", 1)).toEqual(["d", true]);
    });
  });
}
