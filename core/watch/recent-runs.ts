import { movedPath } from "#lang/namespace-path.ts";
import { CHANGED, type JournalChange, type NamespaceMove, type RunMove } from "../ports/journal.ts";

/** Of one run; most runs are in few namespaces, but the list needs a limit. */
const MOVES_MAX = 16;
/** Of namespaces; they are rare. */
const NAMESPACE_MOVES_MAX = 256;
const NO_MOVES: readonly RunMove[] = [];

/** A run that changed. */
export interface ChangedRun {
  readonly runId: string;
  readonly namespace: string;
  readonly purged: boolean;
  /** The position of its last change of the requested kinds. */
  readonly position: number;
  /** The last times it left each namespace, in no order. */
  readonly moves: readonly RunMove[];
}

/** One run with the positions of its last changes, in a list by the last of them. */
interface Entry {
  readonly runId: string;
  namespace: string;
  moves: readonly RunMove[];
  position: number;
  purged: boolean;
  /** By kind; 0 for never. */
  runAt: number;
  pointsAt: number;
  linesAt: number;
  artifactsAt: number;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** The runs that changed last, each once, by their last change. When there are too many, the first is forgotten. */
export class RecentRuns {
  readonly #runsMax: number;
  readonly #runs = new Map<string, Entry>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #namespaceMoves: readonly NamespaceMove[] = [];
  #floor = 0;

  /** Knows no changes up to `floor`. */
  constructor(runsMax: number, floor: number) {
    this.#runsMax = runsMax;
    this.#floor = floor;
  }

  /** Changes after a position below this one are no longer known. */
  get floor(): number {
    return this.#floor;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Runs that are remembered are at their new paths from now on, but those that were purged before. */
  noteNamespaces(moves: readonly NamespaceMove[]): void {
    for (const { from, to } of moves) {
      for (const entry of this.#runs.values()) {
        if (!entry.purged) entry.namespace = movedPath(entry.namespace, from, to);
      }
    }
    const all = [...this.#namespaceMoves, ...moves];
    this.#namespaceMoves = all.slice(-NAMESPACE_MOVES_MAX);
    const forgotten = all.at(-NAMESPACE_MOVES_MAX - 1);
    if (forgotten !== undefined) this.#floor = Math.max(this.#floor, forgotten.position);
  }

  /** Moves of namespaces after the position, rising; it must not be below `floor`. */
  namespaceMovesSince(position: number): readonly NamespaceMove[] {
    return this.#namespaceMoves.filter((move) => move.position > position);
  }

  note({
    runId,
    namespace,
    what,
    position,
    moves,
  }: Omit<JournalChange, "envelopes" | "namespaceMoves">): void {
    let entry = this.#runs.get(runId);
    if (entry === undefined) entry = this.#add(runId, namespace);
    else if (entry !== this.#newest) this.#unlink(entry);
    if (entry !== this.#newest) this.#append(entry);
    entry.position = position;
    entry.namespace = namespace;
    if (moves !== undefined) this.#noteMoves(entry, moves);
    if ((what & CHANGED.run) !== 0) entry.runAt = position;
    if ((what & CHANGED.points) !== 0) entry.pointsAt = position;
    if ((what & CHANGED.lines) !== 0) entry.linesAt = position;
    if ((what & CHANGED.artifacts) !== 0) entry.artifactsAt = position;
    if ((what & CHANGED.purged) !== 0) {
      entry.purged = true;
      entry.runAt = position;
    }
  }

  /** Runs with a change of these kinds after the position, the earliest first; it must not be below `floor`. */
  since(position: number, what: number): ChangedRun[] {
    const changed: ChangedRun[] = [];
    for (let entry = this.#newest; entry !== undefined && entry.position > position; entry = entry.older) {
      const at = lastOf(entry, what);
      if (at <= position) continue;
      const { runId, namespace, purged, moves } = entry;
      changed.push({ runId, namespace, purged, position: at, moves });
    }
    return changed.sort((a, b) => a.position - b.position);
  }

  /** The position of the run's last change of these kinds; 0 when none is known. */
  lastOf(runId: string, what: number): number {
    const entry = this.#runs.get(runId);
    return entry === undefined ? 0 : lastOf(entry, what);
  }

  #noteMoves(entry: Entry, moves: readonly RunMove[]): void {
    const last = new Map([...entry.moves, ...moves].map(({ from, position }) => [from, position]));
    entry.moves = Array.from(last, ([from, position]) => ({ from, position }));
    if (last.size <= MOVES_MAX) return;
    entry.moves = entry.moves.toSorted((a, b) => a.position - b.position).slice(-MOVES_MAX);
    this.#floor = Math.max(this.#floor, entry.moves[0]!.position - 1);
  }

  #add(runId: string, namespace: string): Entry {
    const entry: Entry = {
      runId,
      namespace,
      moves: NO_MOVES,
      position: 0,
      purged: false,
      runAt: 0,
      pointsAt: 0,
      linesAt: 0,
      artifactsAt: 0,
      older: undefined,
      newer: undefined,
    };
    this.#runs.set(runId, entry);
    if (this.#runs.size > this.#runsMax) {
      const forgotten = this.#oldest!;
      this.#floor = forgotten.position;
      this.#unlink(forgotten);
      this.#runs.delete(forgotten.runId);
    }
    return entry;
  }

  #append(entry: Entry): void {
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = entry.newer = undefined;
  }
}

function lastOf(entry: Entry, what: number): number {
  let at = 0;
  if ((what & CHANGED.run) !== 0) at = entry.runAt;
  if ((what & CHANGED.points) !== 0) at = Math.max(at, entry.pointsAt);
  if ((what & CHANGED.lines) !== 0) at = Math.max(at, entry.linesAt);
  if ((what & CHANGED.artifacts) !== 0) at = Math.max(at, entry.artifactsAt);
  if ((what & CHANGED.moved) !== 0) for (const { position } of entry.moves) at = Math.max(at, position);
  return at;
}
