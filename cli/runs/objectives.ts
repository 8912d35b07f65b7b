import { Code } from "@connectrpc/connect";
import type { MetricField } from "#lang/query/ast.ts";
import { Direction, type Objective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";

/** Namespaces that are asked about for one list. */
const NAMESPACES_MAX = 20;

/** Objectives by the namespace they were asked for; those without one are left out. */
export async function findObjectives(
  server: Cairn,
  namespaces: Iterable<string>,
): Promise<Map<string, Objective>> {
  const known = new Map<string, Promise<Objective | undefined>>();
  const found = new Map<string, Objective>();
  for (const namespace of [...namespaces].slice(0, NAMESPACES_MAX)) {
    const objective = await nearestObjective(server, namespace, known);
    if (objective !== undefined) found.set(namespace, objective);
  }
  return found;
}

/** What a namespace is judged by: its own objective, or that of the nearest one above which has one. */
export async function findObjective(server: Cairn, namespace: string): Promise<Objective | undefined> {
  return nearestObjective(server, namespace, new Map());
}

/** The best that a run has reached. */
export function bestField({ metric, direction }: Objective): MetricField {
  return { of: "metric", key: metric, stat: direction === Direction.MINIMIZE ? "min" : "max" };
}

async function nearestObjective(
  server: Cairn,
  namespace: string,
  known: Map<string, Promise<Objective | undefined>>,
): Promise<Objective | undefined> {
  for (let path = namespace; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
    let asked = known.get(path);
    if (asked === undefined) {
      asked = ownObjective(server, path);
      known.set(path, asked);
    }
    const objective = await asked;
    if (objective !== undefined && objective.metric !== "") return objective;
  }
  return undefined;
}

async function ownObjective(server: Cairn, path: string): Promise<Objective | undefined> {
  try {
    return (await server.namespaces.getNamespace({ path })).objective;
  } catch (thrown) {
    // What is above may be hidden from the caller.
    if (Failure.from(thrown).code === Code.NotFound) return undefined;
    throw thrown;
  }
}
