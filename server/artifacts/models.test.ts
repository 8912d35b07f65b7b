import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactPlace } from "#proto/cairn/v1/artifact_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const wayIn = useWays();

describe.each(TWO_WAYS.map((way) => [way.name, way] as const))("models by %s", (name, way) => {
  const api = () => wayIn(way);
  const namespace = `models/${name.toLowerCase().replaceAll(/[^a-z]/g, "-")}`;

  it("M15 are found by their own fields and those of their runs, with record and run, as soon as they are recorded", async () => {
    const { runs, metrics, artifacts } = api();
    const ids: string[] = [];
    for (const [at, values] of [[0.5, 0.95], [0.7]].entries()) {
      const { run } = await runs.createRun({
        namespace,
        name: `run ${at}`,
        aliases: [`${name} ${at}`],
        params: { lr: "1" },
      });
      ids.push(run!.id);
      const steps = values.map((_, step) => BigInt(step));
      await metrics.writeEnvelope({
        run: { id: run!.id },
        writer: "w",
        seq: 1n,
        series: [{ key: "acc", steps, values }],
      });
      for (const step of [10n, 2_000n]) {
        await artifacts.recordArtifact({
          run: { id: run!.id },
          artifact: {
            name: "best.pt",
            step,
            kind: ArtifactKind.MODEL,
            uri: `s3://b/${at}/${step}`,
            metadata: { f1: "0.5" },
          },
        });
      }
    }
    const query = "model.step > 1000 and metrics.acc.max > 0.6 order by metrics.acc.max desc";
    const found = await artifacts.searchModels({ query, namespace });
    expect(found.totalCount).toBe(2n);
    expect(found.models.map(({ run }) => run!.id)).toEqual(ids);
    expect(found.models[0]).toMatchObject({
      artifact: {
        runId: ids[0],
        name: "best.pt",
        step: 2_000n,
        kind: ArtifactKind.MODEL,
        place: ArtifactPlace.REFERENCE,
        uri: "s3://b/0/2000",
        metadata: { f1: "0.5" },
      },
      run: { id: ids[0], name: "run 0", namespace, status: RunStatus.RUNNING, aliases: [], params: {} },
    });
    const steps: bigint[] = [];
    let pageToken = "";
    do {
      const page = await artifacts.searchModels({
        namespace,
        query: "order by model.step, name",
        pageSize: 3,
        pageToken,
      });
      expect(page.totalCount).toBe(4n);
      steps.push(...page.models.map(({ artifact }) => artifact!.step!));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(steps).toEqual([10n, 10n, 2_000n, 2_000n]);
    await artifacts.deleteArtifact({ run: { id: ids[0]! }, name: "best.pt" });
    expect((await artifacts.searchModels({ namespace })).totalCount).toBe(2n);
    await runs.deleteRun({ run: { id: ids[1]! } });
    expect((await artifacts.searchModels({ namespace })).models).toEqual([]);
  });

  it("Q15 a search of runs refuses the fields of models, a search of models what neither has", async () => {
    const { runs, artifacts } = api();
    const ofRuns = await errorOf(runs.searchRuns({ query: "params.lr = 1 and model.step > 1" }));
    expect(ofRuns).toMatchObject({ code: "InvalidArgument" });
    expect(ofRuns.message).toContain("search of models at column 19");
    const unknown = await errorOf(artifacts.searchModels({ query: "model.setp > 1" }));
    expect(unknown).toMatchObject({ code: "InvalidArgument" });
    expect(unknown.message).toContain("did you mean step?");
    const token = await errorOf(artifacts.searchModels({ pageToken: "nonsense" }));
    expect(token).toMatchObject({ code: "InvalidArgument" });
    expect(token.message).toContain("page token");
  });
});
