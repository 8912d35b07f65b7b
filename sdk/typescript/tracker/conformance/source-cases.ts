import assert from "node:assert/strict";
import { Lineage, type TrackerSource } from "../api.ts";
import type { ConformanceCase } from "../conformance.ts";

const RANKS = 16;

/** Links in a fixed order, since a tracker need not keep one. */
function sorted(sources: readonly TrackerSource[]): string[] {
  return sources.map(({ sourceRunId, artifactName }) => JSON.stringify([sourceRunId, artifactName])).sort();
}

function links(...expected: [string, string | null][]): string[] {
  return expected.map((link) => JSON.stringify(link)).sort();
}

export const sourceCases: readonly ConformanceCase[] = [
  {
    title: "a run that was never written has no sources, no children and an empty lineage",
    run: async ({ tracker, run }) => {
      assert.deepEqual(await tracker.sources(run("never")), []);
      assert.deepEqual(await tracker.runIds({ parentRunId: run("never") }), []);
      const lineage = await tracker.lineage(run("never"));
      assert.ok(lineage instanceof Lineage);
      assert.deepEqual([...lineage.ancestors, ...lineage.descendants], []);
    },
  },
  {
    title: "a source comes back, known here or not",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("known"), { a: "b" });
      await tracker.addSource(run("a"), run("known"));
      await tracker.addSource(run("a"), "wandb: project/42");
      assert.deepEqual(
        sorted(await tracker.sources(run("a"))),
        links([run("known"), null], ["wandb: project/42", null]),
      );
    },
  },
  {
    title: "adding a link again changes nothing, also from many ranks at once",
    run: async ({ tracker, run }) => {
      await Promise.all(Array.from({ length: RANKS }, () => tracker.addSource(run("a"), run("parent"))));
      await tracker.addSource(run("a"), run("parent"));
      await tracker.addSource(run("a"), run("other"), "weights");
      await tracker.addSource(run("a"), run("other"), "weights");
      assert.deepEqual(
        sorted(await tracker.sources(run("a"))),
        links([run("parent"), null], [run("other"), "weights"]),
      );
    },
  },
  {
    title: "links to one source through several artifacts are all kept",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("a"), run("parent"), "weights");
      await tracker.addSource(run("a"), run("parent"), "tokenizer");
      assert.deepEqual(
        sorted(await tracker.sources(run("a"))),
        links([run("parent"), "tokenizer"], [run("parent"), "weights"]),
      );
    },
  },
  {
    title: "a link without an artifact is kept beside one with",
    needs: "link beside named",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("a"), run("parent"));
      await tracker.addSource(run("a"), run("parent"), "weights");
      assert.deepEqual(
        sorted(await tracker.sources(run("a"))),
        links([run("parent"), null], [run("parent"), "weights"]),
      );
    },
  },
  {
    title: "sources by artifact are those of exactly that name, never those without one",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("a"), run("plain"));
      await tracker.addSource(run("a"), run("named"), "weights");
      await tracker.addSource(run("a"), run("longer"), "weights.pt");
      assert.deepEqual(sorted(await tracker.sources(run("a"), "weights")), links([run("named"), "weights"]));
      assert.deepEqual(await tracker.sources(run("a"), "weight"), []);
      assert.equal((await tracker.sources(run("a"), null)).length, 3);
    },
  },
  {
    title: "run ids are all runs that were written to, also by a link alone",
    run: async ({ tracker, run }) => {
      await tracker.addMetadata(run("with metadata"), { a: "b" });
      await tracker.addSource(run("with a link"), "elsewhere");
      const ids = await tracker.runIds();
      assert.ok(ids.includes(run("with metadata")));
      assert.ok(ids.includes(run("with a link")));
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual([...(await tracker.runIds({ parentRunId: null }))].sort(), [...ids].sort());
    },
  },
  {
    title: "run ids by parent are its direct children, through any artifact, each once",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("child"), run("parent"), "weights");
      await tracker.addSource(run("child"), run("parent"), "tokenizer");
      await tracker.addSource(run("grandchild"), run("child"));
      await tracker.addSource(run("unrelated"), run("parent 2"));
      assert.deepEqual(await tracker.runIds({ parentRunId: run("parent") }), [run("child")]);
    },
  },
  {
    title: "a lineage has ancestors and descendants, with their distance",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("base"), run("data"));
      await tracker.addSource(run("tuned"), run("base"), "weights");
      await tracker.addSource(run("small"), run("tuned"));
      await tracker.addSource(run("cousin"), run("base"));
      const { ancestors, descendants, links: found } = await tracker.lineage(run("tuned"));
      assert.deepEqual(
        ancestors.map(({ runId, distance }) => [runId, distance]),
        [
          [run("base"), 1],
          [run("data"), 2],
        ],
      );
      assert.deepEqual(
        descendants.map(({ runId, distance }) => [runId, distance]),
        [[run("small"), 1]],
      );
      assert.ok(
        found.some(
          (link) =>
            link.runId === run("tuned") &&
            link.sourceRunId === run("base") &&
            link.artifactName === "weights",
        ),
      );
    },
  },
  {
    title: "a lineage with a cycle comes to an end, and no run is its own ancestor",
    run: async ({ tracker, run }) => {
      await tracker.addSource(run("a"), run("b"));
      await tracker.addSource(run("b"), run("a"));
      const lineage = await tracker.lineage(run("a"));
      const reached = new Set([...lineage.ancestors, ...lineage.descendants].map(({ runId }) => runId));
      assert.ok(reached.has(run("b")));
      assert.ok(!reached.has(run("a")));
    },
  },
];
