import { Direction, type Namespace, type Objective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { metricField, type MetricStat } from "../../data/query-text.ts";

/** The best that any run of a namespace has reached. */
export interface BestValue {
  value: number;
  runId: string;
  runName: string;
}

const NAMESPACES_MAX = 60;
const AT_ONCE = 4;

function bestStat({ direction }: Pick<Objective, "direction">): MetricStat {
  return direction === Direction.MINIMIZE ? "min" : "max";
}

/** Selects the runs that have the objective's metric, the best first. */
function bestQuery(objective: Pick<Objective, "metric" | "direction">): string {
  const stat = bestStat(objective);
  const field = metricField(objective.metric, stat);
  return `${field} is not null order by ${field} ${stat === "min" ? "asc" : "desc"}`;
}

/** By path, for namespaces that have an objective and a run with its metric. */
export async function findBestValues(
  runs: Cairn["runs"],
  namespaces: readonly Namespace[],
  signal: AbortSignal,
): Promise<Map<string, BestValue>> {
  const found = new Map<string, BestValue>();
  const waiting = namespaces
    .filter(({ objective }) => (objective?.metric ?? "") !== "")
    .slice(0, NAMESPACES_MAX);
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { path, objective } = next;
      const stat = bestStat(objective!);
      const answer = await runs.searchRuns(
        {
          namespace: path,
          query: bestQuery(objective!),
          columns: [metricField(objective!.metric, stat)],
          pageSize: 1,
        },
        { signal },
      );
      const run = answer.runs[0];
      const value = run?.metrics[`${objective!.metric}.${stat}`];
      if (run !== undefined && value !== undefined)
        found.set(path, { value, runId: run.id, runName: run.name });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}
