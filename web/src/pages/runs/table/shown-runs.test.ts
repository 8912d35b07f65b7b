import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { assignPlaces, firstRuns, SHOWN_FIRST, SHOWN_MAX, shownRuns, withEye } from "./shown-runs.ts";

const ROWS = Array.from({ length: 300 }, (_, i) => create(RunSchema, { id: `r${i}` }));
const find = (id: string) => ROWS.find((run) => run.id === id);
const idsOf = (eyes: { hide?: string[]; show?: string[] }) =>
  shownRuns(firstRuns(ROWS, []), find, eyes).map(({ id }) => id);

describe("runs in the charts", () => {
  it("Z8 the first ones are shown until a user closes or opens an eye", () => {
    const first = new Set(ROWS.slice(0, SHOWN_FIRST).map(({ id }) => id));
    expect(idsOf({})).toEqual([...first]);
    const closed = withEye({}, ["r2"], false, first);
    expect(idsOf(closed)).not.toContain("r2");
    const opened = withEye(closed, ["r99"], true, first);
    expect(idsOf(opened)).toContain("r99");
    expect(withEye(withEye(opened, ["r99"], false, first), ["r2"], true, first)).toEqual({
      hide: [],
      show: [],
    });
  });

  it("Z8 of groups some runs of each are shown first", () => {
    const groups = Array.from({ length: 4 }, (_, i) => ({
      key: `${i}`,
      label: "",
      depth: 0,
      runs: ROWS.slice(i * 50, i * 50 + 50),
      inner: [],
    }));
    const first = firstRuns(ROWS, groups);
    expect(groups.map(({ runs }) => runs.filter((run) => first.includes(run)).length)).toEqual([5, 5, 5, 5]);
  });

  it("Z8 there is a limit, and missing runs are left out", () => {
    expect(idsOf({ show: ROWS.map(({ id }) => id) })).toHaveLength(SHOWN_MAX);
    expect(idsOf({ show: ["gone"] })).toHaveLength(SHOWN_FIRST);
  });

  it("Z8 a run keeps its colour while it is shown, and no two share one", () => {
    const ids = fc.uniqueArray(fc.constantFrom(...ROWS.slice(0, 30).map(({ id }) => id)), { maxLength: 25 });
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const one = assignPlaces(new Map(), before);
        const other = assignPlaces(one, after);
        expect(new Set(other.values()).size).toBe(after.length);
        for (const id of after) if (one.has(id)) expect(other.get(id)).toBe(one.get(id));
        expect(assignPlaces(other, after)).toEqual(other);
      }),
    );
  });
});
