import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TRACKED } from "#lang/words/work-tree.ts";
import { CODE_NOTE, mergeProvenance } from "./merge-provenance.ts";
import { NO_CODE, NO_PROVENANCE, type Code, type Provenance, type ProvenanceChange } from "./provenance.ts";

const made = (parts: Partial<Provenance>): Provenance => ({ ...NO_PROVENANCE, ...parts });
const CLEAN: Code = {
  ...NO_CODE,
  commit: "aaa",
  trackedChanges: TRACKED.none,
  untrackedFiles: 0,
  changedSubmodules: 0,
};
const noteOf = (provenance: Provenance | undefined) => provenance?.environment.get(CODE_NOTE);

describe("what is captured", () => {
  it("U202 fills in what is missing, and replaces nothing", () => {
    const before = made({ study: "s", trainingData: ["a"], environment: new Map([["host", "n1"]]) });
    const captured = made({
      study: "other",
      user: "ada",
      trainingData: ["b"],
      testData: ["t"],
      code: CLEAN,
      environment: new Map([
        ["host", "n2"],
        ["gpu", "H200"],
      ]),
    });
    expect(mergeProvenance(before, { captured })).toEqual({
      ...before,
      user: "ada",
      testData: ["t"],
      code: CLEAN,
      environment: new Map([
        ["host", "n1"],
        ["gpu", "H200"],
      ]),
    });
    expect(mergeProvenance(undefined, { captured })).toBe(captured);
  });

  it("U204 keeps the first code, and notes that a later process ran other code", () => {
    const first = made({ code: CLEAN });
    const other = (parts: Partial<Code>) =>
      noteOf(mergeProvenance(first, { captured: made({ code: { ...CLEAN, ...parts } }) }));
    expect(other({ commit: "bbb" })).toBe("a later process ran other code: commit bbb, clean");
    expect(other({ trackedChanges: TRACKED.some, dirtyPatch: "+1" })).toMatch(/commit aaa, dirty$/);
    expect(other({ changedSubmodules: 1 })).toMatch(/1 changed submodule$/);
    // A run may write files, and an unknown value is not a difference.
    for (const same of [{}, { untrackedFiles: 3 }, { commit: "" }, { trackedChanges: TRACKED.unknown }]) {
      expect(other(same)).toBe(undefined);
    }
    const twice = mergeProvenance(
      mergeProvenance(first, { captured: made({ code: { ...CLEAN, commit: "b" } }) }),
      {
        captured: made({ code: { ...CLEAN, commit: "b" } }),
      },
    );
    expect(twice?.code).toEqual(CLEAN);
    expect(noteOf(twice)).toBe("a later process ran other code: commit b, clean");
  });

  it("U204 compares patches only where both are known", () => {
    const dirty: Code = { ...CLEAN, trackedChanges: TRACKED.some, dirtyPatch: "+1" };
    const without: Code = { ...dirty, dirtyPatch: "", patchLeftOut: "too large", leftOutBytes: 9 };
    const merged = (a: Code, b: Code) =>
      noteOf(mergeProvenance(made({ code: a }), { captured: made({ code: b }) }));
    expect(merged(dirty, without)).toBe(undefined);
    expect(merged(without, dirty)).toBe(undefined);
    expect(merged(dirty, { ...dirty, dirtyPatch: "+2" })).toMatch(/other code: commit aaa, dirty$/);
  });

  it("U204 takes the archive of the same code, and of no other", () => {
    const archived = (parts: Partial<Code>) =>
      mergeProvenance(made({ code: CLEAN }), {
        captured: made({ code: { ...CLEAN, archive: "a.tgz", ...parts } }),
      });
    expect(archived({})?.code?.archive).toBe("a.tgz");
    expect(archived({ commit: "bbb" })?.code?.archive).toBe("");
  });

  it("U204 does not fill the environment with notes", () => {
    let provenance: Provenance | undefined = made({ code: CLEAN });
    for (let i = 0; i < 500; i++) {
      provenance = mergeProvenance(provenance, { captured: made({ code: { ...CLEAN, commit: `c${i}` } }) });
    }
    expect(noteOf(provenance)!.length).toBeLessThan(1_100);
  });
});

describe("what is stated", () => {
  it("U203 replaces texts, adds to lists, merges the environment by key, and replaces code", () => {
    const before = made({
      study: "s",
      user: "ada",
      trainingData: ["a"],
      code: { ...CLEAN, archive: "a.tgz" },
      command: ["train"],
      environment: new Map([
        ["host", "n1"],
        ["gpu", "H200"],
      ]),
    });
    const addProvenance = made({
      study: "t",
      trainingData: ["b", "a"],
      code: { ...CLEAN, commit: "bbb" },
      command: ["test", "it"],
      environment: new Map([["host", "n2"]]),
    });
    expect(mergeProvenance(before, { addProvenance })).toEqual({
      ...addProvenance,
      user: "ada",
      trainingData: ["a", "b"],
      environment: new Map([
        ["host", "n2"],
        ["gpu", "H200"],
      ]),
    });
    expect(mergeProvenance(undefined, { addProvenance })).toEqual({
      ...addProvenance,
      trainingData: ["b", "a"],
    });
  });

  it("U203 clears the named fields first", () => {
    const before = made({ study: "s", trainingData: ["a"], code: CLEAN, environment: new Map([["a", "b"]]) });
    const change: ProvenanceChange = {
      clearProvenance: ["training_data", "code", "environment"],
      addProvenance: made({ trainingData: ["b"] }),
    };
    expect(mergeProvenance(before, change)).toEqual(made({ study: "s", trainingData: ["b"] }));
    expect(mergeProvenance(before, { ...change, provenance: made({ user: "u", code: CLEAN }) })).toEqual(
      made({ user: "u", trainingData: ["b"] }),
    );
    expect(mergeProvenance(undefined, { clearProvenance: ["study"] })).toBe(undefined);
  });
});

const text = fc.constantFrom("", "", "x", "y", "z");
const list = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 });
const provenances: fc.Arbitrary<Provenance> = fc.record({
  initialState: text,
  trainingData: list,
  testData: list,
  featurePipeline: text,
  study: text,
  logsLocation: text,
  user: text,
  code: fc.option(
    fc
      .record({ commit: text, trackedChanges: fc.constantFrom(0, 1, 2) })
      .map((code) => Object.assign({}, NO_CODE, code)),
    { nil: undefined },
  ),
  command: list,
  environment: fc
    .uniqueArray(fc.tuple(fc.constantFrom("host", "gpu", "seed"), text), { selector: ([key]) => key })
    .map((entries) => new Map(entries)),
});
const changes = fc.oneof(
  fc.record({ captured: provenances }),
  fc.record({ addProvenance: provenances }),
  fc.record({ captured: provenances, addProvenance: provenances }),
);

describe("in any order", () => {
  const apply = (all: readonly ProvenanceChange[]) =>
    all.reduce(mergeProvenance, undefined as Provenance | undefined);

  it("U205 nothing that was stated is lost, and nothing captured replaces it", () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 8 }), (all: ProvenanceChange[]) => {
        const merged = apply(all)!;
        const stated = all.flatMap(({ addProvenance }) => addProvenance ?? []);
        for (const field of ["initialState", "featurePipeline", "study", "logsLocation", "user"] as const) {
          const last = stated.findLast((one) => one[field] !== "");
          if (last !== undefined) expect(merged[field]).toBe(last[field]);
        }
        for (const field of ["trainingData", "testData"] as const) {
          for (const item of stated.flatMap((one) => one[field])) expect(merged[field]).toContain(item);
        }
        const codes = stated.flatMap(({ code }) => code ?? []);
        if (codes.length > 0)
          expect(merged.code).toMatchObject({ ...codes.at(-1)!, archive: expect.anything() });
        for (const key of ["host", "gpu", "seed"]) {
          const last = stated.findLast(({ environment }) => environment.has(key));
          if (last !== undefined) expect(merged.environment.get(key)).toBe(last.environment.get(key));
        }
      }),
    );
  });

  it("U205 nothing that was captured is lost: a field that was not stated has the first captured value", () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 8 }), (all: ProvenanceChange[]) => {
        const merged = apply(all)!;
        const captured = all.flatMap((one) => one.captured ?? []);
        const stated = all.flatMap(({ addProvenance }) => addProvenance ?? []);
        for (const field of Object.keys(NO_PROVENANCE) as (keyof Provenance)[]) {
          if (field === "environment" || stated.some((one) => !isEmpty(one[field]))) continue;
          const first = captured.find((one) => !isEmpty(one[field]));
          expect(merged[field] ?? NO_PROVENANCE[field]).toEqual(first?.[field] ?? NO_PROVENANCE[field]);
        }
        for (const { environment } of captured) {
          for (const key of environment.keys()) expect(merged.environment.has(key)).toBe(true);
        }
      }),
    );
  });

  it("U205 parts of one capture give the same in any order", () => {
    const shuffled = provenances.chain((whole) => {
      const parts = (Object.keys(whole) as (keyof Provenance)[]).map((field) =>
        made({ [field]: whole[field] }),
      );
      return fc.tuple(fc.constant(whole), fc.shuffledSubarray(parts, { minLength: parts.length }));
    });
    fc.assert(
      fc.property(shuffled, ([whole, parts]) => {
        expect(apply(parts.map((captured) => ({ captured })))).toEqual(whole);
      }),
    );
  });
});

function isEmpty(value: Provenance[keyof Provenance]): boolean {
  return (
    value === undefined || (typeof value === "string" || Array.isArray(value) ? value.length === 0 : false)
  );
}
