import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.ts";

const UPDATES = 40;
const WRITERS = 16;

export const metadataCases: readonly ConformanceCase[] = [
  {
    title: "metadata of a run that was never written is empty",
    run: async ({ tracker, run }) => {
      assert.equal((await tracker.metadata(run("never"))).size, 0);
    },
  },
  {
    title: "metadata come back, and nothing else",
    needs: "typed metadata",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("a"), { lr: 0.01, bs: 25 });
      await tracker.addMetadata(run("b"), { other: 1 });
      assert.deepEqual(await tracker.metadata(run("a")), mapOf({ lr: 0.01, bs: 25 }));
    },
  },
  {
    title: "metadata are merged per key",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("a"), { kept: "old", changed: "old" });
      await tracker.addMetadata(run("a"), { changed: "new", added: "new" });
      assert.deepEqual(
        await tracker.metadata(run("a")),
        mapOf({ kept: "old", changed: "new", added: "new" }),
      );
    },
  },
  {
    title: "the last of many writes of a key wins",
    run: async ({ tracker, run }) => {
      for (let i = 1; i <= UPDATES; i++) await tracker.addMetadata(run("a"), { step: `${i} of ${UPDATES}` });
      assert.equal((await tracker.metadata(run("a"))).get("step"), `${UPDATES} of ${UPDATES}`);
    },
  },
  {
    title: "metadata that were read may be written again",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("a"), { name: "x", note: "" });
      const read = await tracker.metadata(run("a"));
      await tracker.addMetadata(run("b"), read);
      assert.deepEqual(await tracker.metadata(run("b")), read);
    },
  },
  {
    title: "texts, integers, floats, truth values, null, lists and objects stay what they are",
    needs: "typed metadata",
    run: async ({ tracker, run }) => {
      const values = {
        text: "1",
        integer: 2,
        negative: -7,
        float: 0.1,
        tiny: 5e-324,
        huge: 1.5e300,
        yes: true,
        no: false,
        nothing: null,
        empty: "",
        unicode: "é日本🙂\n\t\u0000",
        list: [1, "1", null, [true]],
        object: { optim: { name: "adam", betas: [0.9, 0.999] }, "": {} },
      };
      await tracker.addMetadata(run("a"), values);
      assert.deepEqual(await tracker.metadata(run("a")), mapOf(values));
    },
  },
  {
    title: "integers beyond 2^53 keep every digit",
    needs: "typed metadata",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("a"), { exact: 9_007_199_254_740_993n, small: 3n, long: 10n ** 30n });
      assert.deepEqual(
        await tracker.metadata(run("a")),
        mapOf({ exact: 9_007_199_254_740_993n, small: 3, long: 10n ** 30n }),
      );
    },
  },
  {
    title: "NaN, the infinities and -0 come back",
    needs: "typed metadata",
    run: async ({ tracker, run }) => {
      const values = { nan: NaN, inf: Infinity, down: -Infinity, zero: -0, inside: [NaN, 1e20] };
      await tracker.addMetadata(run("a"), values);
      assert.deepEqual(await tracker.metadata(run("a")), mapOf(values));
    },
  },
  {
    title: "a value that is not JSON affects neither the others nor the run",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("a"), { before: "x" });
      // It may be refused or become a text.
      await tracker.addMetadata(run("a"), { odd: () => 1 }).catch(() => {});
      await tracker.addMetadata(run("a"), { after: "y" });
      const metadata = await tracker.metadata(run("a"));
      assert.equal(metadata.get("before"), "x");
      assert.equal(metadata.get("after"), "y");
    },
  },
  {
    title: "keys that objects inherit are keys like others",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(
        run("a"),
        new Map([
          ["__proto__", "x"],
          ["constructor", "y"],
        ]),
      );
      const metadata = await tracker.metadata(run("a"));
      assert.equal(metadata.get("__proto__"), "x");
      assert.equal(metadata.get("constructor"), "y");
      assert.equal(metadata.get("toString"), undefined);
    },
  },
  {
    title: "many writers at once lose nothing",
    run: async ({ tracker, run }) => {
      const writers = Array.from({ length: WRITERS }, (_, rank) => rank);
      await Promise.all(
        writers.map((rank) => tracker.addMetadata(run("a"), { [`rank${rank}`]: String(rank) })),
      );
      assert.deepEqual(
        await tracker.metadata(run("a")),
        new Map(writers.map((rank) => [`rank${rank}`, String(rank)])),
      );
    },
  },
];

function mapOf(values: Record<string, unknown>): Map<string, unknown> {
  return new Map(Object.entries(values));
}
