import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.ts";

const RANKS = 8;

export const artifactCases: readonly ConformanceCase[] = [
  {
    title: "a run that was never written has no artifacts",
    run: async ({ tracker, run }) => {
      assert.equal((await tracker.artifacts(run("never"))).size, 0);
    },
  },
  {
    title: "an artifact comes back under its name, without metadata when none were given",
    run: async ({ tracker, run, pathOf, can }) => {
      const path = await pathOf("model");
      await tracker.addArtifact(run("a"), "model", path);
      const artifacts = await tracker.artifacts(run("a"));
      assert.deepEqual([...artifacts.keys()], ["model"]);
      assert.equal(artifacts.get("model")!.name, "model");
      assert.equal(artifacts.get("model")!.metadata, null);
      if (can("same path")) assert.equal(artifacts.get("model")!.path, path);
    },
  },
  {
    title: "metadata of an artifact come back",
    run: async ({ tracker, run, pathOf, can }) => {
      await tracker.addArtifact(run("a"), "model", await pathOf("model"), { format: "pt", epoch: 3 });
      const metadata = (await tracker.artifacts(run("a"))).get("model")!.metadata;
      const epoch = can("typed metadata") ? 3 : "3";
      assert.deepEqual(
        metadata,
        new Map<string, unknown>([
          ["format", "pt"],
          ["epoch", epoch],
        ]),
      );
    },
  },
  {
    title: "an artifact of the same name is replaced as a whole",
    run: async ({ tracker, run, pathOf, can }) => {
      await tracker.addArtifact(run("a"), "model", await pathOf("first"), { old: "yes" });
      const path = await pathOf("second");
      await tracker.addArtifact(run("a"), "model", path, { new: "yes" });
      const artifacts = await tracker.artifacts(run("a"));
      assert.equal(artifacts.size, 1);
      assert.equal(artifacts.get("model")!.metadata?.get("new"), "yes");
      assert.equal(artifacts.get("model")!.metadata?.has("old"), false);
      if (can("same path")) assert.equal(artifacts.get("model")!.path, path);
    },
  },
  {
    title: "names of artifacts may have slashes",
    run: async ({ tracker, run, pathOf }) => {
      await tracker.addArtifact(run("a"), "checkpoints/epoch-3/model", await pathOf("model"));
      assert.deepEqual([...(await tracker.artifacts(run("a"))).keys()], ["checkpoints/epoch-3/model"]);
    },
  },
  {
    title: "artifacts and metadata of one run do not meet",
    run: async ({ tracker, run, pathOf }) => {
      await tracker.addArtifact(run("a"), "model", await pathOf("model"), { in: "artifact" });
      await tracker.addMetadata(run("a"), { model: "in metadata" });
      assert.deepEqual(await tracker.metadata(run("a")), new Map([["model", "in metadata"]]));
      assert.equal((await tracker.artifacts(run("a"))).size, 1);
    },
  },
  {
    title: "artifacts that several ranks add at once are all kept",
    run: async ({ tracker, run, pathOf }) => {
      const names = Array.from({ length: RANKS }, (_, rank) => `shard-${rank}`);
      const paths = await Promise.all(names.map((name) => pathOf(name)));
      await Promise.all(names.map((name, i) => tracker.addArtifact(run("a"), name, paths[i]!)));
      assert.deepEqual([...(await tracker.artifacts(run("a"))).keys()].sort(), names);
    },
  },
];
