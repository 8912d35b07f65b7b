import assert from "node:assert/strict";
import { ENV_TORCHX_JOB_ID, ENV_TORCHX_PARENT_RUN_ID, ENV_TORCHX_TRACKERS, Lineage } from "../api.ts";
import { AppRun, makeFromEnv } from "../app-run.ts";
import type { ConformanceCase } from "../conformance.ts";
import { registerTracker } from "../registry.ts";

/** Called for every problem; there must be none. */
function refuse(message: string): never {
  throw new Error(message);
}

const LONG_ID_CHARACTERS = 1_000;

export const jobCases: readonly ConformanceCase[] = [
  {
    title: "a job finds the tracker by its environment and links itself to its parent",
    run: async ({ tracker, run }) => {
      const name = `conformance-${run("name")}`;
      const unregister = registerTracker(name, () => tracker);
      const env = {
        [ENV_TORCHX_TRACKERS]: name,
        [ENV_TORCHX_JOB_ID]: run("job"),
        [ENV_TORCHX_PARENT_RUN_ID]: run("parent"),
      };
      try {
        const job = await makeFromEnv({ env, report: refuse });
        // Every rank does the same.
        await Promise.all(Array.from({ length: 4 }, () => makeFromEnv({ env, report: refuse })));
        assert.equal(job.jobId(), run("job"));
        assert.deepEqual(job.backends, [tracker]);
        const sources = await job.sources();
        assert.equal(sources.length, 1);
        assert.equal(sources[0]!.parent.id, run("parent"));
        assert.equal(sources[0]!.artifactName, null);
        assert.equal(sources[0]!.parent.backends[0], tracker);
      } finally {
        unregister();
      }
    },
  },
  {
    title: "what a job adds, its tracker has",
    run: async ({ tracker, run, pathOf }) => {
      const job = new AppRun(run("job"), [tracker], refuse);
      await job.addMetadata({ name: "x" });
      await job.addArtifact("model", await pathOf("model"), { format: "pt" });
      await job.addSource(run("parent"), "weights");
      assert.equal((await tracker.metadata(run("job"))).get("name"), "x");
      assert.equal((await tracker.artifacts(run("job"))).get("model")?.metadata?.get("format"), "pt");
      assert.deepEqual(
        (await job.sources()).map(({ parent, artifactName }) => [parent.id, artifactName]),
        [[run("parent"), "weights"]],
      );
    },
  },
  {
    title: "a job knows its children and its lineage",
    run: async ({ tracker, run }) => {
      const parent = new AppRun(run("parent"), [tracker], refuse);
      await parent.addMetadata({ a: "b" });
      await new AppRun(run("child"), [tracker], refuse).addSource(run("parent"));
      assert.deepEqual(
        (await parent.children()).map(({ id }) => id),
        [run("child")],
      );
      const lineage = await parent.lineage();
      assert.ok(lineage instanceof Lineage);
      assert.deepEqual(
        lineage.descendants.map(({ runId }) => runId),
        [run("child")],
      );
    },
  },
  {
    title: "a run id may be any text",
    needs: "any run id",
    run: async ({ tracker, run }) => {
      const ids = [
        "<UNDEFINED>",
        "local_cwd:///no-session",
        "ns:name with spaces / and % é 日本 🙂 'quotes\" \\",
        "../..",
        "x".repeat(LONG_ID_CHARACTERS - run("").length),
      ].map((id) => run(id));
      for (const [i, id] of ids.entries()) {
        await tracker.addMetadata(id, { number: String(i) });
        await tracker.addSource(id, ids[0]!);
      }
      for (const [i, id] of ids.entries()) {
        assert.equal((await tracker.metadata(id)).get("number"), String(i));
        assert.equal((await tracker.sources(id))[0]?.sourceRunId, ids[0]);
      }
      const listed = new Set(await tracker.runIds());
      for (const id of ids) assert.ok(listed.has(id), `${id} is not listed`);
    },
  },
];
