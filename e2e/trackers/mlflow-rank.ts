/** One rank of a job, in a separate process: `node mlflow-rank.ts URL EXPERIMENT RUN RANK RANKS`. Prints the run's id. */
import { once } from "node:events";
import { MLflowTracker } from "#sdk/tracker/mlflow/mlflow-tracker.ts";

const [url, experiment, run, rank, ranks] = process.argv.slice(2) as [string, string, string, string, string];
// All of them begin at the same signal.
await once(process.stdin, "data");
process.stdin.destroy();
const env = { ...process.env, RANK: rank, WORLD_SIZE: ranks };
const tracker = new MLflowTracker(experiment, url, null, { env });
await tracker.addSource(run, "parent", "weights");
await tracker.addMetadata(run, { [`rank-${rank}`]: rank });
await tracker.addArtifact(run, `file-${rank}`, import.meta.filename);
process.stdout.write(await tracker.getRunId(run));
await tracker.close();
