import { isUnder } from "#lang/namespace-path.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { strongestRank } from "./ability.ts";
import { rankOf, type Rank } from "../types/role.ts";
import {
  chainOf,
  maskReadsNamespace,
  ROOT,
  scopeKey,
  type HiddenArtifacts,
  type ReadMask,
  type Scope,
} from "../types/scope.ts";
import type { AccessState } from "./state.ts";

/** The most cached answers; when there are more they are all dropped. */
const ANSWERS_MAX = 1_024;

/** A run with a rule of its own. */
interface RuledRun {
  id: string;
  namespace: string;
}

/** Where a caller may read, before it is given an id. */
export type ReadPlaces = Omit<ReadMask, "id">;

/**
 * What some principals together may do (a caller, its groups, everyone), in one version of the state.
 * Callers with the same bindings share it, and each answer is computed once.
 */
export class Standing {
  readonly #state: AccessState;
  readonly #subjects: readonly string[];
  readonly #answers = new Map<string, Rank>();
  #places: ReadPlaces | undefined;
  #runs: readonly RuledRun[] | undefined;
  #hidden: HiddenArtifacts | undefined;

  /** `subjects` are the names whose bindings count; empty for a caller without rights. */
  constructor(state: AccessState, subjects: readonly string[]) {
    this.#state = state;
    this.#subjects = subjects;
  }

  rankAt(scope: Scope): Rank {
    const { namespace, runId } = scope;
    // Where nothing is bound or closed on the run, it is as its namespace.
    const isRuled = runId !== undefined && this.#state.isRuled(runId);
    const asked = isRuled ? namespace + scopeKey(scope) : namespace;
    const known = this.#answers.get(asked);
    if (known !== undefined) return known;
    const rank = this.#workOut(isRuled ? scope : { namespace });
    if (this.#answers.size >= ANSWERS_MAX) this.#answers.clear();
    this.#answers.set(asked, rank);
    return rank;
  }

  /** The strongest there is anywhere within one of the namespaces. */
  strongestWithin(namespaces: readonly string[]): Rank {
    let strongest: Rank = 0;
    for (const namespace of namespaces) strongest = max(strongest, this.rankAt({ namespace }));
    for (const subject of this.#subjects) {
      for (const { scope, role } of this.#state.bindingsOf(subject)) {
        // Nothing cuts a binding off from the very scope it is on.
        if (namespaces.some((path) => isUnder(scope.namespace, path))) {
          strongest = max(strongest, rankOf(role));
        }
      }
    }
    return strongest;
  }

  /** Where it may read, within the namespaces. */
  readPlaces(namespaces: readonly string[]): ReadPlaces {
    this.#places ??= this.#findPlaces();
    if (namespaces.includes(ROOT.namespace)) return this.#places;
    return narrowed(this.#places, this.#ruledRuns(), namespaces);
  }

  /**
   * Artifacts that are closed to it, of whatever run: also of one that it may not read, which may have been moved a moment
   * ago. Only what is closed may be less readable than what is around it.
   */
  hiddenArtifacts(): HiddenArtifacts {
    this.#hidden ??= this.#findHidden();
    return this.#hidden;
  }

  #findHidden(): HiddenArtifacts {
    const hidden = new Map<string, string[]>();
    for (const scope of this.#state.closed.values()) {
      const { runId, artifact } = scope;
      if (runId === undefined || artifact === undefined || this.rankAt(scope) > 0) continue;
      const names = hidden.get(runId);
      if (names === undefined) hidden.set(runId, [artifact]);
      else names.push(artifact);
    }
    return hidden;
  }

  #workOut(scope: Scope): Rank {
    const bindings: { scope: Scope; rank: Rank }[] = [];
    const closed: Scope[] = [];
    for (const step of chainOf(scope)) {
      const key = scopeKey(step);
      if (this.#state.closed.has(key)) closed.push(step);
      for (const subject of this.#subjects) {
        const binding = this.#state.findBinding(subject, key);
        if (binding !== undefined) bindings.push({ scope: step, rank: rankOf(binding.role) });
      }
    }
    return bindings.length === 0 ? 0 : strongestRank({ bindings, closed }, scope);
  }

  /** An answer can only change where something is bound or closed: those places are looked at, and no others. */
  #findPlaces(): ReadPlaces {
    const paths = new Set<string>([ROOT.namespace]);
    for (const { namespace, runId } of this.#ruledScopes()) if (runId === undefined) paths.add(namespace);
    const readable = new Map<string, boolean>();
    for (const path of paths) readable.set(path, this.rankAt({ namespace: path }) > 0);
    const runs = new Map<string, boolean>();
    for (const { id, namespace } of this.#ruledRuns()) {
      const readsRun = this.rankAt({ namespace, runId: id }) > 0;
      const isShut = !readsRun && this.#state.closed.has(scopeKey({ namespace, runId: id }));
      // A closed run is named also where its namespace says the same: it may have been moved a moment ago.
      if (isShut || readsRun !== this.rankAt({ namespace }) > 0) runs.set(id, readsRun);
    }
    return { namespaces: onlyTurns(readable), runs };
  }

  #ruledRuns(): readonly RuledRun[] {
    if (this.#runs === undefined) {
      const runs = new Map<string, RuledRun>();
      for (const { namespace, runId } of this.#ruledScopes()) {
        if (runId !== undefined) runs.set(runId, { id: runId, namespace });
      }
      this.#runs = [...runs.values()];
    }
    return this.#runs;
  }

  *#ruledScopes(): Generator<Scope> {
    for (const subject of this.#subjects) {
      for (const { scope } of this.#state.bindingsOf(subject)) yield scope;
    }
    yield* this.#state.closed.values();
  }
}

function narrowed(
  { namespaces, runs }: ReadPlaces,
  ruledRuns: readonly RuledRun[],
  within: readonly string[],
): ReadPlaces {
  const inside = (path: string) => within.some((namespace) => isUnder(path, namespace));
  const readable = new Map([[ROOT.namespace, false]]);
  const whole: ReadMask = { id: "", namespaces, runs };
  for (const path of within) readable.set(path, maskReadsNamespace(whole, path));
  for (const [path, reads] of namespaces) if (inside(path)) readable.set(path, reads);
  const runsInside = new Map<string, boolean>();
  for (const { id, namespace } of ruledRuns) {
    const reads = runs.get(id);
    if (reads === false || (reads === true && inside(namespace))) runsInside.set(id, reads);
  }
  return { namespaces: onlyTurns(readable), runs: runsInside };
}

/** Without the places that only say again what holds around them. */
function onlyTurns(readable: ReadonlyMap<string, boolean>): Map<string, boolean> {
  const turns = new Map<string, boolean>();
  const mask: ReadMask = { id: "", namespaces: turns, runs: new Map() };
  // A parent's path begins its children's, so it comes before them.
  for (const [path, reads] of [...readable].sort(([a], [b]) => compareCodePoints(a, b))) {
    if (path === ROOT.namespace || maskReadsNamespace(mask, path) !== reads) turns.set(path, reads);
  }
  return turns;
}

function max(a: Rank, b: Rank): Rank {
  return a > b ? a : b;
}
