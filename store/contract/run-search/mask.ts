import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ReadMask } from "#core/types/scope.ts";
import type { NamespaceTally } from "#core/ports/run-search.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import { ListSearch } from "../list-search.ts";
import { feedRow, idOf, type OpenSearch, RunFeeder, searchRequest } from "../run-feeder.ts";

let masks = 0;

/** Each is a mask of its own, also when it is equal to another. */
function maskOf(namespaces: Record<string, boolean>, runs: Record<number, boolean> = {}): ReadMask {
  return {
    id: `mask ${++masks}`,
    namespaces: new Map(Object.entries({ "": false, ...namespaces })),
    runs: new Map(Object.entries(runs).map(([key, readable]) => [idOf(Number(key)), readable])),
  };
}

export function maskContract(open: OpenSearch, cases: number): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  const tally = async (readable?: ReadMask) =>
    byPath(await feeder.runSearch.tally(readable)).map(({ namespace, runs }) => [namespace, runs]);

  async function tellSome(): Promise<void> {
    feeder.tell({
      runs: [
        feedRow(1, { namespace: "open" }),
        feedRow(2, { namespace: "open", status: "running", updatedUs: 9e15 }),
        feedRow(3, { namespace: "open/deep" }),
        feedRow(4, { namespace: "shut" }),
        feedRow(5, { namespace: "shut" }),
        feedRow(6, { namespace: "shut", deletedUs: 1 }),
      ],
    });
  }

  it("A20 a closed run in a readable namespace is neither found nor counted", async () => {
    await tellSome();
    const readable = maskOf({ open: true }, { 2: false });
    expect(await feeder.find("order by id", { readable })).toEqual([1, 3]);
    expect((await feeder.ask("", { readable, limit: 1 })).total).toBe(2);
    expect(await feeder.find('status = "running" or id is not null order by id', { readable })).toEqual([
      1, 3,
    ]);
    expect(await feeder.find(`id = "${idOf(2)}"`, { readable })).toEqual([]);
    const counted = await feeder.runSearch.tally(readable);
    expect(counted.find(({ namespace }) => namespace === "open")).toEqual({
      namespace: "open",
      runs: 1,
      running: 0,
      lastActivityUs: feedRow(1).updatedUs,
    });
  });

  it("A20 a run shared in an unreadable namespace is found and counted, the others there are not", async () => {
    await tellSome();
    const readable = maskOf({ open: true }, { 5: true, 6: true });
    expect(await feeder.find("order by id", { readable })).toEqual([1, 2, 3, 5]);
    expect(await feeder.find("", { readable, under: "shut" })).toEqual([5]);
    expect(await feeder.find("", { readable, trashed: true })).toEqual([6]);
    expect(await tally(readable)).toEqual([
      ["open", 2],
      ["open/deep", 1],
      ["shut", 1],
    ]);
    expect(await tally(maskOf({}))).toEqual([]);
    expect(await tally()).toEqual([
      ["open", 2],
      ["open/deep", 1],
      ["shut", 2],
    ]);
  });

  it("A20 applies to runs and namespaces that are created after the mask", async () => {
    await tellSome();
    const readable = maskOf({ open: true, "open/shut": false }, { 4: true, 9: true, 10: false });
    expect(await feeder.find("order by id", { readable })).toEqual([1, 2, 3, 4]);
    feeder.tell({
      purged: [4],
      runs: [
        feedRow(7, { namespace: "open/new" }),
        feedRow(8, { namespace: "open/shut" }),
        feedRow(9, { namespace: "open/shut" }),
        feedRow(10, { namespace: "open" }),
      ],
    });
    expect(await feeder.find("order by id", { readable })).toEqual([1, 2, 3, 7, 9]);
    // Another run gets the row of a purged one, not its rule.
    feeder.tell({ purged: [9], runs: [feedRow(11, { namespace: "open/shut" })] });
    expect(await feeder.find("order by id", { readable })).toEqual([1, 2, 3, 7]);
    feeder.tell({ reset: true, runs: [feedRow(1, { namespace: "shut" }), feedRow(9)] });
    expect(await feeder.find("order by id", { readable })).toEqual([9]);
  });

  it("finds only the runs named, of those that match and may be read", async () => {
    await tellSome();
    const only = [2, 4, 99, 6, 2].map(idOf);
    expect(await feeder.find("order by id", { only })).toEqual([2, 4]);
    expect((await feeder.ask('status = "running"', { only })).total).toBe(1);
    expect(await feeder.find("", { only, readable: maskOf({ open: true }) })).toEqual([2]);
    expect(await feeder.find("", { only, trashed: true })).toEqual([6]);
    expect(await feeder.ask("", { only: [] })).toMatchObject({ ids: [], total: 0 });
  });

  it("A20 distinguishes very many masks, with any searches in between", async () => {
    await tellSome();
    const asked = Array.from({ length: 200 }, (_, at) => ({
      readable: at % 2 === 0 ? maskOf({ open: true }) : maskOf({ shut: true }, { 1: true }),
      expected: at % 2 === 0 ? [1, 2, 3] : [1, 4, 5],
    }));
    for (let round = 0; round < 2; round++) {
      const answers = asked.map(({ readable }) => feeder.find("order by id", { readable }));
      expect(await Promise.all(answers)).toEqual(asked.map(({ expected }) => expected));
    }
    for (const { readable, expected } of asked.slice(0, 80)) {
      expect(await feeder.find("order by id", { readable })).toEqual(expected);
    }
  });

  it("A20 agrees with the list, in any sequence of changes, masks and searches", async () => {
    const paths = ["", "a", "a/b", "a/b/c", "a/bc", "d", "d/e"];
    const place = fc.integer({ min: 0, max: 11 });
    const put = fc.record({
      verb: fc.constant("put" as const),
      place,
      namespace: fc.constantFrom(...paths),
      running: fc.boolean(),
      trashed: fc.boolean(),
    });
    const steps = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: put },
        { weight: 2, arbitrary: fc.record({ verb: fc.constant("purge" as const), place }) },
        { weight: 1, arbitrary: fc.record({ verb: fc.constant("reset" as const) }) },
        {
          weight: 6,
          arbitrary: fc.record({
            verb: fc.constant("ask" as const),
            mask: fc.nat(3),
            under: fc.constantFrom("", "a", "a/b"),
            trashed: fc.boolean(),
            only: fc.option(fc.array(place, { maxLength: 5 }), { nil: undefined }),
            query: fc.constantFrom("order by id", 'status = "running"', 'not namespace under "a"'),
          }),
        },
      ),
      { maxLength: 40 },
    );
    const mask = fc
      .record({
        namespaces: fc.dictionary(fc.constantFrom(...paths), fc.boolean()),
        runs: fc.dictionary(place.map(String), fc.boolean()),
      })
      .map(({ namespaces, runs }) => maskOf(namespaces, runs));
    const list = new ListSearch(new FeedRecorder(feeder));
    await fc.assert(
      fc.asyncProperty(fc.tuple(mask, mask, mask, fc.constant(undefined)), steps, async (some, all) => {
        feeder.tell({ reset: true });
        for (const step of all) {
          if (step.verb === "put") {
            const { namespace, running, trashed } = step;
            const run = feedRow(step.place, {
              namespace,
              status: running ? "running" : "finished",
              deletedUs: trashed ? 1 : undefined,
            });
            // A run never moves here: one in another namespace is another run.
            feeder.tell({ purged: [step.place], runs: [run] });
          } else if (step.verb === "purge") feeder.tell({ purged: [step.place] });
          else if (step.verb === "reset") feeder.tell({ reset: true });
          else {
            const readable = some[step.mask];
            const { under, trashed } = step;
            const options = { readable, under, trashed, ...(step.only && { only: step.only.map(idOf) }) };
            const found = await feeder.ask(step.query, { ...options, limit: 3 });
            const expected = await list.search(searchRequest(step.query, options));
            expect(found.ids).toEqual(expected.ids.slice(0, 3));
            expect(found.total).toBe(expected.total);
            const counted = await feeder.runSearch.tally(readable);
            expect(byPath(counted)).toEqual(byPath(await list.tally(readable)));
          }
        }
      }),
      { numRuns: cases },
    );
  });
}

function byPath(tally: readonly NamespaceTally[]): NamespaceTally[] {
  return tally.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
}
