import fc from "fast-check";
import { expect, it } from "vitest";
import { inParallel } from "./in-parallel.ts";

/** So many turns of the queue of promises. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}

it("does every item once, never more at once than allowed, and keeps the order of the results", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20)), fc.integer({ min: 1, max: 8 }), async (items, width) => {
      const begun: number[] = [];
      let open = 0;
      let openMax = 0;
      const results = await inParallel(items, width, async (item, index) => {
        begun.push(index);
        openMax = Math.max(openMax, ++open);
        await turns(item);
        open--;
        return item * 10;
      });
      expect(results).toEqual(items.map((item) => item * 10));
      expect(begun).toEqual([...items.keys()]);
      expect(openMax).toBe(Math.min(width, items.length));
    }),
  );
});

it("begins nothing after the first failure, and throws it when what was under way is over", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(9), fc.boolean()), { minLength: 1 }),
      fc.integer({ min: 1, max: 8 }),
      async (items, width) => {
        const failed: string[] = [];
        let open = 0;
        const work = inParallel(items, width, async ([length, fails], index) => {
          expect(failed).toEqual([]);
          open++;
          await turns(length);
          open--;
          if (!fails) return;
          failed.push(`no ${index}`);
          throw new Error(`no ${index}`);
        });
        const thrown: unknown = await work.then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(thrown).toEqual(failed.length === 0 ? undefined : new Error(failed[0]));
        expect(open).toBe(0);
      },
    ),
  );
});

it("begins nothing once its signal is aborted, and throws the reason", async () => {
  const stop = new AbortController();
  const done: number[] = [];
  const work = inParallel(
    [...Array(100).keys()],
    4,
    async (item) => {
      if (item === 10) stop.abort(new Error("enough"));
      await turns(1);
      done.push(item);
    },
    stop.signal,
  );
  await expect(work).rejects.toThrow("enough");
  expect(done.length).toBeLessThan(15);
});
