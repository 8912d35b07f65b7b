import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LineageDirection } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const open = useWays();

describe.each(TWO_WAYS)("$name", (way) => {
  const make = async (aliases: string[] = []) => {
    const { run } = await open(way).runs.createRun({ namespace: `i-${randomUUID()}`, aliases });
    return run!.id;
  };

  it("I1 W1 every rank may add the same source at once", async () => {
    const { lineage } = open(way);
    const handle = `local_cwd://torchx/${randomUUID()}`;
    const parent = await make([handle]);
    const child = await make();
    const ranks = Array.from({ length: 32 }, () =>
      lineage.addSource({ run: { id: child }, source: { id: handle } }),
    );
    const answers = await Promise.all(ranks);
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    for (const { source } of answers) expect(source).toMatchObject({ runId: parent, externalId: "" });
    const { sources } = await lineage.listSources({ run: { id: child } });
    expect(sources).toHaveLength(1);
    expect(sources[0]!.createdUs).toBeGreaterThan(0n);
    const { children } = await lineage.listChildren({ externalId: handle });
    expect(children).toMatchObject([{ runId: child, artifact: "", hidden: false }]);
  });

  it("I4 W1 lists in pages, by artifact, and removes", async () => {
    const { lineage } = open(way);
    const child = await make();
    const run = { id: child };
    for (const id of ["s3://a", "s3://b", "s3://c"]) {
      await lineage.addSource({ run, source: { id, artifact: id === "s3://b" ? "model" : "" } });
    }
    const first = await lineage.listSources({ run, pageSize: 2 });
    expect(first.sources.map(({ externalId }) => externalId)).toEqual(["s3://a", "s3://b"]);
    const second = await lineage.listSources({ run, pageSize: 2, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ sources: [{ externalId: "s3://c" }], nextPageToken: "" });
    const named = await lineage.listSources({ run, artifact: "model" });
    expect(named.sources).toMatchObject([{ externalId: "s3://b", artifact: "model" }]);
    expect((await lineage.listSources({ run, artifact: "" })).sources).toEqual([]);
    const link = { run, source: { id: "s3://b", artifact: "model" } };
    expect(await lineage.removeSource(link)).toMatchObject({ removed: true });
    expect(await lineage.removeSource(link)).toMatchObject({ removed: false });
    expect((await lineage.listSources({ run })).sources).toHaveLength(2);
  });

  it("I5 W1 draws the lineage of a run", async () => {
    const { lineage, runs } = open(way);
    const [parent, child, other] = [await make(), await make(), await make()];
    await lineage.addSource({ run: { id: parent }, source: { id: "s3://c4" } });
    await lineage.addSource({ run: { id: child }, source: { run: { id: parent }, artifact: "w.pt" } });
    await lineage.addSource({ run: { id: other }, source: { run: { id: parent } } });
    await runs.updateRun({ run: { id: child }, status: RunStatus.FINISHED, name: "fine-tuned" });
    const graph = await lineage.getLineage({ run: { id: parent } });
    expect(graph.truncated).toBe(false);
    expect(graph.nodes).toMatchObject([
      { runId: parent, distance: 0, status: RunStatus.RUNNING, hidden: false },
      { runId: "", externalId: "s3://c4", distance: -1 },
      { runId: child, name: "fine-tuned", status: RunStatus.FINISHED, distance: 1, artifacts: [] },
      { runId: other, distance: 1 },
    ]);
    expect(graph.edges).toMatchObject([
      { source: 1, child: 0, artifact: "" },
      { source: 0, child: 2, artifact: "w.pt" },
      { source: 0, child: 3, artifact: "" },
    ]);
    const run = { id: child };
    const up = await lineage.getLineage({ run, direction: LineageDirection.SOURCES, depth: 1 });
    expect(up).toMatchObject({ truncated: true, nodes: { length: 2 } });
    const down = await lineage.getLineage({ run, direction: LineageDirection.CHILDREN });
    expect(down).toMatchObject({ truncated: false, nodes: { length: 1 } });
  });

  it("I2 W6 refuses a request without a source, or with two", async () => {
    const { lineage } = open(way);
    const id = await make();
    const run = { id };
    for (const call of [
      () => lineage.addSource({ run }),
      () => lineage.addSource({ run, source: { artifact: "x" } }),
      () => lineage.addSource({ run, source: { run, id: "x" } }),
      () => lineage.listChildren({}),
      () => lineage.listChildren({ run, externalId: "x" }),
      () => lineage.listSources({ run, pageToken: "x" }),
      () => lineage.getLineage({ run, depth: 101 }),
      () => lineage.getLineage({ run, direction: 9 as LineageDirection }),
    ]) {
      expect(await errorOf(call())).toMatchObject({ code: "InvalidArgument" });
    }
    const nowhere = { id: "0".repeat(32) };
    for (const call of [
      () => lineage.addSource({ run: nowhere, source: { id: "x" } }),
      () => lineage.addSource({ run, source: { run: nowhere } }),
      () => lineage.getLineage({ run: nowhere }),
    ]) {
      expect(await errorOf(call())).toMatchObject({ code: "NotFound" });
    }
  });
});
