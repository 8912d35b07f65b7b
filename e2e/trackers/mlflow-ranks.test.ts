import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MLflowRest } from "#sdk/tracker/mlflow/mlflow-rest.ts";
import { MLflowTracker } from "#sdk/tracker/mlflow/mlflow-tracker.ts";
import type { MLflowRun } from "#sdk/tracker/mlflow/mlflow-types.ts";
import { dose } from "../../tools/dose.ts";
import { startMLflow, type MLflowServer } from "./mlflow-server.ts";

const RANK = fileURLToPath(new URL("mlflow-rank.ts", import.meta.url));
const RANKS = 4;
const RANK_MS_MAX = 240_000;

let server: MLflowServer;
beforeAll(async () => {
  server = await startMLflow();
});
afterAll(() => server?.stop());

/** A rank that waits for `begin`. */
function startRank(experiment: string, run: string, rank: number) {
  const child = spawn(process.execPath, [RANK, server.url, experiment, run, String(rank), String(RANKS)], {
    stdio: ["pipe", "pipe", "pipe"],
    timeout: RANK_MS_MAX,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { begin: () => void child.stdin.end("go\n"), ended };
}

function trackerOf(experiment: string, env: Record<string, string>): MLflowTracker {
  return new MLflowTracker(experiment, server.url, null, { env });
}

async function runsOf(experiment: string): Promise<MLflowRun[]> {
  const rest = new MLflowRest(server.url);
  const { experiment_id: id } = await new MLflowTracker(experiment, server.url).experiment();
  return await Array.fromAsync(
    rest.pages<MLflowRun>("runs/search", { experiment_ids: [id], run_view_type: "ACTIVE_ONLY" }, "runs"),
  );
}

describe("ranks of a job in MLflow", () => {
  it("X28 processes that start at once share one experiment and one run, and all their writes are kept", async () => {
    const ranks = Array.from({ length: RANKS }, (_, rank) => startRank("processes", "job", rank));
    for (const { begin } of ranks) begin();
    const ended = await Promise.all(ranks.map((rank) => rank.ended));
    expect(ended.map(({ stderr }) => stderr)).toEqual(Array.from({ length: RANKS }, () => ""));
    expect(new Set(ended.map(({ stdout }) => stdout)).size).toBe(1);
    const runs = await runsOf("processes");
    expect(runs.map(({ info }) => [info.run_name, info.status])).toEqual([["job", "FINISHED"]]);
    const tracker = new MLflowTracker("processes", server.url);
    expect(Object.fromEntries(await tracker.metadata("job"))).toEqual({
      "rank-0": "0",
      "rank-1": "1",
      "rank-2": "2",
      "rank-3": "3",
    });
    expect([...(await tracker.artifacts("job")).keys()].toSorted()).toEqual([
      "file-0",
      "file-1",
      "file-2",
      "file-3",
    ]);
    expect(await tracker.sources("job")).toMatchObject([{ sourceRunId: "parent", artifactName: "weights" }]);
  });

  it("X28 a rank that comes after the first has ended writes to the run and leaves it ended", async () => {
    const rank = (place: string) =>
      trackerOf("late", { SLURM_PROCID: place, SLURM_NTASKS: "2", SLURM_STEP_ID: "0" });
    const stateOf = async () => (await runsOf("late")).map(({ info }) => info.status);
    const first = rank("0");
    await first.addMetadata("job", { first: 1 });
    await first.close();
    expect(await stateOf()).toEqual(["FINISHED"]);
    const late = rank("1");
    await late.addMetadata("job", { late: 1 });
    await late.close();
    expect(await stateOf()).toEqual(["FINISHED"]);
    expect((await late.metadata("job")).get("late")).toBe("1");
    await first.addMetadata("job", { again: 1 });
    expect(await stateOf()).toEqual(["RUNNING"]);
  });

  it("X28 many concurrent callers agree, every time", async () => {
    for (let round = 0; round < dose(2, 10); round++) {
      const name = `job-${round}`;
      const trackers = Array.from({ length: 12 }, () => new MLflowTracker("moment", server.url));
      const ids = await Promise.all(trackers.map((tracker) => tracker.getRunId(name)));
      expect(new Set(ids).size).toBe(1);
      const named = (await runsOf("moment")).filter(({ info }) => info.run_name === name);
      expect(named.map(({ info }) => info.run_id)).toEqual([ids[0]]);
      expect(named[0]!.data.tags!.map(({ key }) => key)).not.toContain("torchx.claim");
    }
  });

  it("X28 two runs of one name are an error, not a choice", async () => {
    const tracker = new MLflowTracker("duplicates", server.url);
    const rest = new MLflowRest(server.url);
    const { experiment_id: id } = await tracker.experiment();
    for (let i = 0; i < 2; i++) {
      await rest.call("runs/create", { experiment_id: id, run_name: "twice" }, { repeatable: false });
    }
    const said = 'cannot use run "twice": experiment "duplicates" has 2 runs of that name';
    await expect(tracker.getRun("twice")).rejects.toThrow(said);
    await expect(tracker.metadata("twice")).rejects.toThrow(said);
    await expect(tracker.addMetadata("twice", { a: 1 })).rejects.toThrow(said);
  });

  it("X28 the claim of a process that died is taken over", async () => {
    const tracker = new MLflowTracker("orphans", server.url);
    const rest = new MLflowRest(server.url);
    const { experiment_id: id } = await tracker.experiment();
    const { run } = await rest.call<{ run: MLflowRun }>("runs/create", {
      experiment_id: id,
      run_name: "orphan",
      tags: [{ key: "torchx.claim", value: "of a dead process" }],
    });
    expect(await tracker.getRunId("orphan")).toBe(run.info.run_id);
    expect((await runsOf("orphans")).length).toBe(1);
    await tracker.addMetadata("orphan", { a: 1 });
    expect((await new MLflowTracker("orphans", server.url).metadata("orphan")).get("a")).toBe("1");
  });

  it("X34 only the first rank ends the run", async () => {
    const last = trackerOf("ends", { RANK: "3", WORLD_SIZE: "4" });
    await last.addMetadata("job", { a: 1 });
    await last.close();
    expect((await runsOf("ends"))[0]!.info.status).toBe("RUNNING");
    const first = trackerOf("ends", { RANK: "0", WORLD_SIZE: "4" });
    await first.addMetadata("job", { a: 2 });
    await first.close();
    expect((await runsOf("ends"))[0]!.info.status).toBe("FINISHED");
  });
});
