import { maskReadsNamespace, type ReadMask } from "../types/scope.ts";
import { ALL_ALLOWED, FORBIDS_NOTHING, type ForbiddenCapture } from "../types/capture.ts";
import type { Namespace } from "../types/namespace.ts";
import type { Tags } from "../types/run.ts";
import { ancestors } from "#lang/namespace-path.ts";
import type { BestRun } from "../objective/best-runs.ts";
import type { HeldObjective } from "../objective/objectives.ts";
import type { NamespaceTally } from "../ports/run-search.ts";

export interface CountedNamespace extends Namespace {
  runCount: number;
  subtreeRunCount: number;
  subtreeRunningCount: number;
  /** 0 when there is none. */
  lastActivityUs: number;
  /** What must not be captured there, also because of namespaces above. */
  forbidden: ForbiddenCapture;
  /** The objective of its runs; undefined where none applies. */
  held?: HeldObjective | undefined;
  /** Only on request. */
  best?: BestRun | undefined;
}

const NO_TAGS: Tags = new Map();

type Counts = Omit<CountedNamespace, keyof Namespace | "forbidden" | "held" | "best">;

const NO_RUNS: Counts = { runCount: 0, subtreeRunCount: 0, subtreeRunningCount: 0, lastActivityUs: 0 };

/**
 * The tree of namespaces as one caller sees it: those it may read, and the ancestors of those. Of an ancestor that it
 * may not read it sees only the path and the count of its own runs, not whether it is in the trash.
 */
export class NamespaceTree {
  readonly #mask: ReadMask | undefined;
  readonly #counts = new Map<string, Counts>();

  /** `tally` counts only what the mask lets it read. */
  constructor(mask: ReadMask | undefined, tally: readonly NamespaceTally[]) {
    this.#mask = mask;
    for (const { namespace, runs, running, lastActivityUs } of tally) {
      for (const path of [...ancestors(namespace), namespace]) {
        const before = this.#counts.get(path) ?? NO_RUNS;
        this.#counts.set(path, {
          runCount: path === namespace ? runs : before.runCount,
          subtreeRunCount: before.subtreeRunCount + runs,
          subtreeRunningCount: before.subtreeRunningCount + running,
          lastActivityUs: Math.max(before.lastActivityUs, lastActivityUs),
        });
      }
    }
  }

  get isWhole(): boolean {
    return this.#mask === undefined;
  }

  shows(path: string): boolean {
    const mask = this.#mask;
    return mask === undefined || this.reads(path) || this.#counts.has(path) || waysOf(mask).has(path);
  }

  reads(path: string): boolean {
    return this.#mask === undefined || maskReadsNamespace(this.#mask, path);
  }

  view(namespace: Namespace, forbidden: ForbiddenCapture): CountedNamespace {
    const { path } = namespace;
    const counts = this.#counts.get(path) ?? NO_RUNS;
    if (this.reads(path)) {
      return { ...namespace, ...counts, forbidden };
    }
    const nothing = { id: 0, description: "", objective: undefined, tags: NO_TAGS, createdUs: 0 };
    return {
      path,
      ...nothing,
      deletedUs: undefined,
      capture: FORBIDS_NOTHING,
      ...counts,
      forbidden: ALL_ALLOWED,
    };
  }
}

const known = new WeakMap<ReadMask, ReadonlySet<string>>();

/** Everything above the namespaces that a mask opens. A caller's mask is the same for many calls. */
function waysOf(mask: ReadMask): ReadonlySet<string> {
  let ways = known.get(mask);
  if (ways === undefined) {
    const opened = [...mask.namespaces].filter(([, readable]) => readable).map(([path]) => path);
    ways = new Set(opened.flatMap((path) => ancestors(path)));
    known.set(mask, ways);
  }
  return ways;
}
