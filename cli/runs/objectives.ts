import { limits } from "#lang/limits.ts";
import type { MetricField } from "#lang/query/ast.ts";
import { readField } from "#lang/query/field-text.ts";
import type { HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "#sdk/client.ts";

/** The effective objectives of these namespaces, by their paths; those without one are left out. */
export async function findObjectives(
  server: Cairn,
  namespaces: Iterable<string>,
): Promise<Map<string, HeldObjective>> {
  const paths = [...new Set(namespaces)];
  const found = new Map<string, HeldObjective>();
  for (let at = 0; at < paths.length; at += limits.objectivesMax) {
    const asked = paths.slice(at, at + limits.objectivesMax);
    const { objectives } = await server.namespaces.listObjectives({ namespaces: asked });
    for (const path of asked) if (Object.hasOwn(objectives, path)) found.set(path, objectives[path]!);
  }
  return found;
}

export async function findObjective(server: Cairn, namespace: string): Promise<HeldObjective | undefined> {
  return (await findObjectives(server, [namespace])).get(namespace);
}

/** The field of an objective, which is a metric. */
export function readMetricField(text: string): MetricField {
  const field = readField(text);
  if (field.of !== "metric") throw new TypeError(`${text} is not a metric`);
  return field;
}
