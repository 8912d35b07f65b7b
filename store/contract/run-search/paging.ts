import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Query } from "#lang/query/ast.ts";
import { feedRow, idOf, type OpenSearch, RunFeeder } from "../run-feeder.ts";

const ORDERS = [
  "",
  "order by params.x",
  "order by params.x desc",
  "order by tags.t, params.x desc",
  "order by metrics.m.max desc",
  "order by duration",
  "order by status, name desc",
];

/** The language has no such order, the engine does. */
const BY_ALIAS: Query = {
  where: undefined,
  orderBy: [{ field: { of: "run", name: "alias" }, descending: true }],
};

type ValueOf<A> = A extends fc.Arbitrary<infer V> ? V : never;

export function pagingContract(open: OpenSearch, cases: number): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  it("end without a token, and the total is the same on each", async () => {
    feeder.tell({ runs: [1, 2, 3, 4].map((key) => feedRow(key)) });
    const first = await feeder.ask("order by id", { limit: 2 });
    expect(first).toMatchObject({ ids: [idOf(1), idOf(2)], total: 4 });
    const second = await feeder.ask("order by id", { limit: 2, after: first.next });
    expect(second).toMatchObject({ ids: [idOf(3), idOf(4)], total: 4, next: undefined });
    expect((await feeder.ask("", { limit: 4 })).next).toBeUndefined();
    expect(await feeder.ask("", { limit: 0 })).toMatchObject({ ids: [], total: 4, next: undefined });
  });

  it("continue after a last row that was deleted", async () => {
    feeder.tell({ runs: [1, 2, 3, 4].map((key) => feedRow(key)) });
    const { next } = await feeder.ask("order by id", { limit: 2 });
    feeder.tell({ purged: [2, 3] });
    expect(await feeder.ask("order by id", { limit: 2, after: next })).toMatchObject({
      ids: [idOf(4)],
      next: undefined,
    });
    feeder.tell({ purged: [4] });
    expect(await feeder.ask("order by id", { limit: 2, after: next })).toMatchObject({
      ids: [],
      total: 1,
      next: undefined,
    });
  });

  it("refuse the token of another order and any invalid token", async () => {
    feeder.tell({ runs: [1, 2, 3].map((key) => feedRow(key)) });
    const { next } = await feeder.ask("order by params.x", { limit: 1 });
    const refused = expect.objectContaining({ code: "invalid", reason: "PAGE_TOKEN" });
    for (const order of [
      "",
      "order by params.x desc",
      "order by params.y",
      "order by tags.x",
      "order by params.x, id",
    ]) {
      await expect(feeder.ask(order, { limit: 1, after: next }), order).rejects.toEqual(refused);
    }
    for (const after of [
      "",
      "x",
      "WzFd",
      `${next}x`.slice(3),
      Buffer.from("[1,2,3,4]").toString("base64url"),
    ]) {
      await expect(feeder.ask("order by params.x", { limit: 1, after }), after).rejects.toEqual(refused);
    }
    // The filter may differ: "started > now-1h" does from page to page.
    await expect(
      feeder.ask('name != "x" order by params.x', { limit: 1, after: next }),
    ).resolves.toMatchObject({ total: 3 });
  });

  it("Q7 begin at any row, and continue from there", async () => {
    feeder.tell({ runs: [1, 2, 3, 4, 5].map((key) => feedRow(key)) });
    const middle = await feeder.ask("order by id", { limit: 2, offset: 2 });
    expect(middle).toMatchObject({ ids: [idOf(3), idOf(4)], total: 5 });
    expect(await feeder.ask("order by id", { limit: 2, after: middle.next })).toMatchObject({
      ids: [idOf(5)],
      next: undefined,
    });
    expect(await feeder.find("order by id", { limit: 1, offset: 1, after: middle.next })).toEqual([]);
    expect(await feeder.ask("order by id", { limit: 2, offset: 3 })).toMatchObject({
      ids: [idOf(4), idOf(5)],
      next: undefined,
    });
    for (const offset of [5, 6, 10_000_000]) {
      expect(await feeder.ask("", { limit: 2, offset })).toMatchObject({
        ids: [],
        total: 5,
        next: undefined,
      });
    }
  });

  it("Q7 have the rows of the whole list there, in any order", async () => {
    const value = fc.constantFrom(
      "0",
      "1",
      "2.5",
      "NaN",
      "Infinity",
      "-Infinity",
      "true",
      "false",
      '"b"',
      '"ü"',
    );
    const text = fc.constantFrom("a", "b", "\u{1f600}", "\uffff", "");
    const content = fc.record({
      x: fc.option(value, { nil: undefined }),
      t: fc.option(text, { nil: undefined }),
      alias: fc.option(text, { nil: undefined }),
      name: text,
      ends: fc.boolean(),
      isTwin: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(...ORDERS, "order by name", "order by id desc", BY_ALIAS),
        fc.nat(70),
        fc.integer({ min: 1, max: 70 }),
        async (contents, order, offset, limit) => {
          feeder.tell({
            reset: true,
            runs: contents.map(({ x, t, alias, name, ends, isTwin }, key) =>
              feedRow(key, {
                name,
                params: x === undefined ? "{}" : `{"x":${x}}`,
                tags: t === undefined ? [] : [["t", t]],
                aliases: alias === undefined ? [] : [`${alias}${key}`],
                ...(ends ? {} : { endedUs: undefined }),
                // Made in the same moment: they differ only in the id.
                ...(isTwin ? { createdUs: 1 } : {}),
              }),
            ),
            metrics: contents.flatMap(({ x }, key) =>
              x?.match(/^[-\dNI]/) ? [{ run: key, key: "m", points: [Number(x)] }] : [],
            ),
          });
          const nowUs = feedRow(1000).createdUs;
          const all = await feeder.find(order, { limit: 1_000, nowUs });
          expect(await feeder.find(order, { limit, offset, nowUs })).toEqual(
            all.slice(offset, offset + limit),
          );
        },
      ),
      { numRuns: cases },
    );
  });

  it("measure the duration of a running run up to the same moment", async () => {
    const startedUs = 1_000_000_000;
    const running = { startedUs, endedUs: undefined };
    const ended = (seconds: number) => ({ startedUs, endedUs: startedUs + seconds * 1e6 });
    feeder.tell({
      runs: [feedRow(1, running), feedRow(2, ended(10)), feedRow(3, ended(30)), feedRow(4, ended(50))],
    });
    const nowUs = startedUs + 20e6;
    const first = await feeder.ask("order by duration", { limit: 2, nowUs });
    expect(first.ids).toEqual([idOf(2), idOf(1)]);
    const later = await feeder.ask("order by duration", { limit: 9, nowUs: nowUs + 15e6, after: first.next });
    expect(later.ids).toEqual([idOf(3), idOf(4)]);
  });

  it("neither repeat nor miss a row while others are added, deleted and changed", async () => {
    const number = fc.constantFrom(0, 1, 2, Number.NaN, undefined);
    const content = fc.record({
      x: number,
      m: number,
      t: fc.constantFrom("a", "b", undefined),
      ends: fc.boolean(),
    });
    type Content = ValueOf<typeof content>;
    const changes = fc.record({
      inserts: fc.array(content, { maxLength: 3 }),
      purges: fc.array(fc.nat(30), { maxLength: 3 }),
      trashes: fc.array(fc.nat(30), { maxLength: 2 }),
      touches: fc.array(fc.nat(30), { maxLength: 3 }),
    });
    const rowOf = (key: number, { x, t, ends }: Content, row = {}) =>
      feedRow(key, {
        params: x === undefined ? "{}" : `{"x":${x}}`,
        tags: t === undefined ? [] : [["t", t]],
        aliases: t === undefined ? [] : [`${t}${key % 3}`],
        ...(ends ? {} : { endedUs: undefined }),
        ...row,
      });
    const seriesOf = (key: number, { m }: Content) =>
      m === undefined ? [] : [{ run: key, key: "m", points: [m] }];

    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(changes),
        fc.constantFrom(...ORDERS),
        fc.integer({ min: 1, max: 6 }),
        async (contents, stream, order, limit) => {
          const runs = new Map(contents.map((one, key) => [key, one]));
          feeder.tell({
            reset: true,
            runs: [...runs].map(([key, one]) => rowOf(key, one)),
            metrics: [...runs].flatMap(([key, one]) => seriesOf(key, one)),
          });
          const nowUs = feedRow(1000).createdUs;
          const staying = new Set(runs.keys());
          const seen: number[] = [];
          let nextKey = contents.length;
          let after: string | undefined;
          for (;;) {
            const page = await feeder.ask(order, { limit, after, nowUs });
            seen.push(...page.ids.map((id) => Number(id.slice(1))));
            after = page.next;
            // Inserts come in faster than small pages are read; the walk must still end.
            if (after === undefined || seen.length > 200) break;
            const { inserts, purges, trashes, touches }: ValueOf<typeof changes> = stream.next().value;
            const inserted = inserts.map((one) => [nextKey++, one] as const);
            const touched = touches.filter((key) => runs.has(key));
            const trashed = trashes.filter((key) => runs.has(key));
            feeder.tell({
              purged: purges,
              runs: [
                ...inserted.map(([key, one]) => rowOf(key, one)),
                // A change of a field that is not in the order.
                ...touched.map((key) => rowOf(key, runs.get(key)!, { notes: "touched", updatedUs: 9e15 })),
                ...trashed.map((key) => rowOf(key, runs.get(key)!, { deletedUs: 1 })),
              ].filter(({ key }) => !purges.includes(key)),
              metrics: inserted.flatMap(([key, one]) => seriesOf(key, one)),
            });
            for (const [key, one] of inserted) runs.set(key, one);
            for (const key of [...purges, ...trashed]) staying.delete(key);
            for (const key of [...purges, ...trashed]) runs.delete(key);
          }
          expect(new Set(seen).size).toBe(seen.length);
          if (after === undefined) for (const key of staying) expect(seen).toContain(key);
        },
      ),
      { numRuns: cases },
    );
  });
}
