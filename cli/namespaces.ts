import { InvalidArgumentError } from "commander";
import { Direction, type Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { bestStat } from "#sdk/direction.ts";
import { wordOf } from "#lang/words/enums.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { isoTime } from "#lang/words/times.ts";
import { printable } from "./output/text.ts";

export interface NamespaceNode {
  name: string;
  /** Absent for a parent that is not listed itself. */
  namespace: Namespace | undefined;
  children: NamespaceNode[];
}

/** Nested by path. The list is in the order of paths, in which "a-b" is between "a" and "a/b". */
export function nestNamespaces(namespaces: readonly Namespace[], under = ""): NamespaceNode[] {
  const root: NamespaceNode = { name: "", namespace: undefined, children: [] };
  const known = new Map<string, NamespaceNode>([["", root]]);
  const at = (path: string): NamespaceNode => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const slash = path.lastIndexOf("/");
    // The requested one is a root, even if it has parents.
    const isTop = path === under;
    const node = { name: isTop ? path : path.slice(slash + 1), namespace: undefined, children: [] };
    known.set(path, node);
    at(isTop || slash < 0 ? "" : path.slice(0, slash)).children.push(node);
    return node;
  };
  for (const namespace of namespaces) at(namespace.path).namespace = namespace;
  return root.children;
}

/** `val_acc:max`, also `val_acc` and a direction as a word of its own: how an objective is written. */
export function parseObjective(text: string): { metric: string; direction: Direction } {
  const colon = text.lastIndexOf(":");
  const direction = DIRECTIONS.get(text.slice(colon + 1).toLowerCase());
  if (colon <= 0 || direction === undefined) {
    throw new InvalidArgumentError("expected METRIC:max or METRIC:min, such as val_acc:max");
  }
  return { metric: text.slice(0, colon), direction };
}

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map([
  ["max", Direction.MAXIMIZE],
  ["maximize", Direction.MAXIMIZE],
  ["min", Direction.MINIMIZE],
  ["minimize", Direction.MINIMIZE],
]);

/** "max val_acc". */
export function objectiveWords({ heldObjective }: Namespace): string {
  if (heldObjective === undefined) return "";
  const { metric, direction } = heldObjective;
  return `${bestStat(direction)} ${printable(metric)}`;
}

/** "0.912 by tuned". */
export function bestWords({ best }: Namespace): string {
  return best === undefined ? "" : `${formatNumber(best.value)} by ${printable(best.runName)}`;
}

/** What clients may capture automatically; the words of the command line. */
export const CAPTURES = ["console", "code"] as const;
export type Capture = (typeof CAPTURES)[number];

/** "forbidden in lab", "allowed". */
export function captureWords({ forbiddenCapture }: Namespace, what: Capture): string {
  const where = forbiddenCapture?.[what] ?? "";
  return where === "" ? "allowed" : `forbidden in ${printable(where)}`;
}

export function jsonNamespace(namespace: Namespace): Record<string, unknown> {
  const { objective, heldObjective, best } = namespace;
  return {
    path: namespace.path,
    id: namespace.id,
    description: namespace.description,
    tags: namespace.tags,
    objective: objective
      ? {
          metric: objective.metric,
          direction: wordOf(Direction, objective.direction),
        }
      : null,
    heldObjective: heldObjective
      ? {
          metric: heldObjective.metric,
          direction: wordOf(Direction, heldObjective.direction),
          namespace: heldObjective.namespace,
        }
      : null,
    best: best ? { run: best.runId, name: best.runName, value: best.value, step: best.step ?? null } : null,
    created: isoTime(namespace.createdUs),
    deleted: isoTime(namespace.deletedUs) ?? null,
    runs: namespace.runCount,
    runsBelow: namespace.subtreeRunCount,
    runningBelow: namespace.subtreeRunningCount,
    lastActivity: isoTime(namespace.lastActivityUs) ?? null,
    // The namespace that forbids it, this one or one above it.
    forbiddenCapture: {
      console: namespace.forbiddenCapture?.console || null,
      code: namespace.forbiddenCapture?.code || null,
    },
  };
}
