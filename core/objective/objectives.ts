import { ancestors, parseNamespace } from "#lang/namespace-path.ts";
import { limits } from "#lang/limits.ts";
import type { MetricField } from "#lang/query/ast.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { NamespaceStore } from "../ports/namespace-store.ts";
import { requireAtMost } from "../types/check.ts";
import { bestStat } from "./better.ts";
import type { Objective } from "../types/namespace.ts";

/** The objective that applies in a namespace, and where it is set. */
export interface HeldObjective extends Objective {
  readonly namespace: string;
}

/** The best value that a run has reached. */
export function objectiveField({ metric, direction }: Objective): MetricField {
  return { of: "metric", key: metric, stat: bestStat(direction) };
}

/** Which objective applies where: a namespace has its own, or that of the nearest one above it which the caller may read. */
export class Objectives {
  readonly #store: NamespaceStore;

  constructor(parts: { store: NamespaceStore }) {
    this.#store = parts.store;
  }

  /** By the requested namespaces, without those that have none. A missing one has that of the nearest one above it. */
  async list(caller: Caller, namespaces: readonly string[]): Promise<Map<string, HeldObjective>> {
    authorizeCall(caller);
    requireAtMost(namespaces.length, limits.objectivesMax, "namespaces");
    return this.holding(
      caller,
      namespaces.map((path) => parseNamespace(path, { root: true })),
    );
  }

  /** undefined where none applies. */
  async of(caller: Caller, namespace: string): Promise<HeldObjective | undefined> {
    return (await this.holding(caller, [namespace])).get(namespace);
  }

  /** The same as `list` for paths that have been checked. */
  async holding(caller: Caller, paths: readonly string[]): Promise<Map<string, HeldObjective>> {
    const wanted = new Set(paths.flatMap((path) => [...ancestors(path), path]));
    const byPath = new Map(await this.#store.findObjectives([...wanted]));
    const held = new Map<string, HeldObjective>();
    for (const path of paths) {
      const objective = nearest(caller, path, byPath);
      if (objective !== undefined) held.set(path, objective);
    }
    return held;
  }
}

function nearest(
  caller: Caller,
  path: string,
  byPath: ReadonlyMap<string, Objective>,
): HeldObjective | undefined {
  for (const namespace of [path, ...ancestors(path).reverse()]) {
    const objective = byPath.get(namespace);
    if (objective !== undefined && maySee(caller, { namespace })) return { ...objective, namespace };
  }
  return undefined;
}
