import fc from "fast-check";
import { expect, it } from "vitest";
import { ARTIFACT_KINDS, type Artifact, type ArtifactRecord } from "#core/types/artifact.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import type { ListArtifacts } from "#core/ports/artifact-store.ts";
import { reference } from "../artifact-samples.ts";
import { AUDIT, createRun, inEveryForm, NOW_US, useSharedStores, type OpenStores } from "../stores.ts";

const ALL: Omit<ListArtifacts, "runId" | "limit"> = {
  prefix: "",
  kind: undefined,
  fromStep: undefined,
  toStep: undefined,
  after: undefined,
  bytesMax: Infinity,
};

export function artifactListContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const store = () => bench.under.artifacts;

  const put = async (run: string, records: readonly Partial<ArtifactRecord>[]) => {
    for (const record of records) await store().putArtifact(run, reference(record), NOW_US);
  };
  /** "name@step" of every artifact, read in pages of that size. */
  const listed = async (run: string, request: Partial<ListArtifacts> = {}, limit = 100) => {
    const all: Artifact[] = [];
    let after: ListArtifacts["after"];
    for (;;) {
      const { rows, more } = await store().listArtifacts({ ...ALL, ...request, runId: run, after, limit });
      all.push(...rows);
      if (!more) return all.map(said);
      const { name, step } = rows.at(-1)!;
      after = { name, step };
    }
  };
  const said = ({ name, step }: { name: string; step: number | undefined }) => `${name}@${step ?? "-"}`;

  it("F10 lists by name in order of code points, then by step, none first", async () => {
    const run = await createRun(bench.runs);
    const names = ["b", "a/b", "a", "B", "a0", "é", "\u{1f4c8}", "\uffee", "a b", "aa"];
    await put(
      run,
      names.map((name) => ({ name })),
    );
    await put(run, [
      { name: "b", step: 10 },
      { name: "b", step: 9 },
      { name: "b", step: -1 },
    ]);
    const expected = ["B@-", "a@-", "a b@-", "a/b@-", "a0@-", "aa@-", "b@-", "b@-1", "b@9", "b@10", "é@-"];
    await inEveryForm(bench, async () => {
      for (const limit of [100, 3, 1]) {
        expect(await listed(run, {}, limit)).toEqual([...expected, "\uffee@-", "\u{1f4c8}@-"]);
      }
    });
  });

  it("F10 uses a prefix literally, not as a pattern", async () => {
    const run = await createRun(bench.runs);
    const names = ["a%b", "a_b", "axb", "a", "ab", "A%", "a%", "a\u{10ffff}", "a\u{10ffff}z"];
    await put(
      run,
      names.map((name) => ({ name })),
    );
    expect(await listed(run, { prefix: "a%" })).toEqual(["a%@-", "a%b@-"]);
    expect(await listed(run, { prefix: "a_" })).toEqual(["a_b@-"]);
    expect(await listed(run, { prefix: "a" })).toHaveLength(8);
    expect(await listed(run, { prefix: "a\u{10ffff}" })).toEqual(["a\u{10ffff}@-", "a\u{10ffff}z@-"]);
    expect(await listed(run, { prefix: "zz" })).toEqual([]);
  });

  it("F10 with a bound on the step leaves out artifacts without one", async () => {
    const run = await createRun(bench.runs);
    await put(
      run,
      [undefined, -3, 0, 5, 2 ** 53].map((step) => ({ name: "m", step })),
    );
    expect(await listed(run, { fromStep: 0 })).toEqual(["m@0", "m@5", "m@9007199254740992"]);
    expect(await listed(run, { toStep: 0 })).toEqual(["m@-3", "m@0"]);
    expect(await listed(run, { fromStep: 0, toStep: 5 })).toEqual(["m@0", "m@5"]);
    expect(await listed(run, { fromStep: 6, toStep: 5 })).toEqual([]);
  });

  it("F10 lists only artifacts of the run", async () => {
    const [run, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    await put(run, [{ name: "mine" }]);
    await put(other, [{ name: "theirs" }]);
    expect(await listed(run)).toEqual(["mine@-"]);
    expect(await listed(other)).toEqual(["theirs@-"]);
  });

  it("F10 Q8 lists until the texts are too many, one at least", async () => {
    const run = await createRun(bench.runs);
    const metadata = new Map([["a", `"${"x".repeat(1_000)}"`]]);
    const names = ["a", "b", "c", "d", "e"];
    await put(
      run,
      names.map((name) => ({ name, metadata })),
    );
    const page = async (bytesMax: number, after?: string) => {
      const place = after === undefined ? undefined : { name: after, step: undefined };
      const request = { ...ALL, runId: run, after: place, limit: 100, bytesMax };
      const { rows, more } = await store().listArtifacts(request);
      return [rows.map(({ name }) => name).join(" "), more];
    };
    await inEveryForm(bench, async () => {
      expect(await page(0)).toEqual(["a", true]);
      expect(await page(3_000)).toEqual(["a b", true]);
      expect(await page(3_000, "b")).toEqual(["c d", true]);
      expect(await page(3_000, "d")).toEqual(["e", false]);
      expect(await listed(run, { bytesMax: 3_000 })).toEqual(names.map((name) => `${name}@-`));
    });
  });

  it("F10 pages are stable while artifacts are added and deleted", async () => {
    const run = await createRun(bench.runs);
    const names = Array.from({ length: 20 }, (_, i) => `n${String(i).padStart(2, "0")}`);
    await put(
      run,
      names.map((name) => ({ name })),
    );
    const first = await store().listArtifacts({ ...ALL, runId: run, limit: 10 });
    await store().deleteArtifact(run, "n09", undefined, AUDIT);
    await store().deleteArtifact(run, "n12", undefined, AUDIT);
    await put(run, [{ name: "n00a" }, { name: "n15a" }]);
    const { name, step } = first.rows.at(-1)!;
    const rest = await store().listArtifacts({ ...ALL, runId: run, after: { name, step }, limit: 100 });
    const expected = names.slice(10).filter((one) => one !== "n12");
    expect(rest.rows.map((one) => one.name)).toEqual([...expected, "n15a"].toSorted());
  });

  it("F1 F10 equals a list in memory for any sequence of puts and deletes", async () => {
    const name = fc.constantFrom("a", "a/x", "a/y", "ab", "b", "é/z");
    const step = fc.option(fc.integer({ min: -2, max: 3 }), { nil: undefined });
    const kind = fc.constantFrom(...ARTIFACT_KINDS.slice(0, 3));
    const change = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), name, step, kind }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), name, step }) },
    );
    const asked = fc.record({
      prefix: fc.constantFrom("", "a", "a/", "z"),
      kind: fc.option(kind, { nil: undefined }),
      fromStep: step,
      toStep: step,
      limit: fc.integer({ min: 1, max: 5 }),
    });
    const property = fc.asyncProperty(
      fc.array(change, { maxLength: 25 }),
      asked,
      async (changes, request) => {
        const run = await createRun(bench.runs);
        const model = new Map<string, { name: string; step: number | undefined; kind: string }>();
        for (const one of changes) {
          if (one.do === "put") {
            model.set(said(one), one);
            await store().putArtifact(run, reference(one), NOW_US);
            continue;
          }
          const gone = [...model.keys()].filter((key) =>
            one.step === undefined ? model.get(key)!.name === one.name : key === said(one),
          );
          for (const key of gone) model.delete(key);
          expect(await store().deleteArtifact(run, one.name, one.step, AUDIT)).toBe(gone.length);
        }
        const { prefix, kind: wanted, fromStep, toStep, limit } = request;
        const unbounded = fromStep === undefined && toStep === undefined;
        const expected = [...model.values()]
          .filter((one) => one.name.startsWith(prefix) && (wanted === undefined || one.kind === wanted))
          .filter((one) =>
            one.step === undefined ? unbounded : one.step >= (fromStep ?? -9) && one.step <= (toStep ?? 9),
          )
          .sort((a, b) => compareCodePoints(a.name, b.name) || (a.step ?? -9) - (b.step ?? -9));
        expect(await listed(run, { prefix, kind: wanted, fromStep, toStep }, limit)).toEqual(
          expected.map(said),
        );
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });
}
