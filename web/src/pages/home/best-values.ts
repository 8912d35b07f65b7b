import { Direction, type Namespace, type Objective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import type { MetricField } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";

/** The best that any run of a namespace has reached. */
export interface BestValue {
  value: number;
  runId: string;
  runName: string;
}

const NAMESPACES_MAX = 60;
const AT_ONCE = 4;

function bestField({ metric, direction }: Pick<Objective, "metric" | "direction">): MetricField {
  return { of: "metric", key: metric, stat: direction === Direction.MINIMIZE ? "min" : "max" };
}

/** Selects the runs that have the objective's metric, the best first. */
function bestQuery(objective: Pick<Objective, "metric" | "direction">): string {
  const best = bestField(objective);
  const field = printField(best);
  return `${field} is not null order by ${field} ${best.stat === "min" ? "asc" : "desc"}`;
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
      const best = bestField(objective!);
      const answer = await runs.searchRuns(
        {
          namespace: path,
          query: bestQuery(objective!),
          columns: [printField(best)],
          pageSize: 1,
        },
        { signal },
      );
      const run = answer.runs[0];
      const value = run?.metrics[`${best.key}.${best.stat}`];
      if (run !== undefined && value !== undefined)
        found.set(path, { value, runId: run.id, runName: run.name });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}
