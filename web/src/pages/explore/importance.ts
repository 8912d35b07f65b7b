import {
  chanceOfGroups,
  chanceOfRank,
  cramersV,
  groupEffect,
  quantileGroups,
  rankCorrelation,
  ranksOf,
  spearman,
} from "./association.ts";
import type { ExploredColumn } from "./explored-column.ts";
import type { ExploredTable } from "./explored-table.ts";

/** How one param and the objective go together. */
export interface ImportanceRow {
  readonly column: ExploredColumn;
  /** 0 to 1: the size of a rank correlation, or the root of the corrected share of variance between groups. */
  readonly strength: number;
  /** For numbers: whether the objective rises (1) or falls (-1) with it. */
  readonly rho: number;
  /** Runs that have both. */
  readonly count: number;
  /** Runs without any connection would often show as much. */
  readonly isChance: boolean;
  /** A number that matters without the objective rising or falling with it all along. */
  readonly isCurved: boolean;
  /** Other params that go along with it, so that their parts cannot be told apart. */
  readonly related: string[];
}

export interface Importance {
  readonly rows: readonly ImportanceRow[];
  /** Params that are the same in all these runs, or too rare to say anything. */
  readonly constant: readonly string[];
  readonly rare: readonly string[];
  readonly leftOut: number;
}

const PARAMS_MAX = 200;
const RELATED_AMONG = 16;
/** Whether two params go along with each other is seen in a sample. */
const RELATED_RUNS = 2_000;
const RELATED_FROM = 0.7;
const RUNS_MIN = 5;
const BINS = 5;
/** Groups must say this much more than a rank correlation to be called another shape. */
const CURVE_MARGIN = 0.15;

/** The params by how much they go along with the objective, the strongest first. */
export function importanceOf(table: ExploredTable, objective: ExploredColumn, mask: Uint8Array): Importance {
  const varying = table.params.filter(({ varies }) => varies);
  const constant = table.params.filter(({ varies }) => !varies).map(({ key }) => key);
  const rare: string[] = [];
  const rows: ImportanceRow[] = [];
  for (const { key, text } of varying.slice(0, PARAMS_MAX)) {
    const column = table.column(text);
    if (column === undefined) continue;
    const { own, other } = pairsOf(column, objective, mask);
    if (own.length < RUNS_MIN) rare.push(key);
    else if (new Set(own).size < 2) constant.push(key);
    else {
      const row = rowOf(column, own, other);
      if (row === undefined) rare.push(key);
      else rows.push(row);
    }
  }
  rows.sort((a, b) => b.strength - a.strength || a.column.label.localeCompare(b.column.label));
  addRelated(rows.slice(0, RELATED_AMONG), sampleOf(mask, RELATED_RUNS));
  return {
    rows,
    constant,
    rare,
    leftOut: Math.max(0, varying.length - PARAMS_MAX),
  };
}

/** The values of two columns in the runs that remain and have both. */
function pairsOf(
  one: ExploredColumn,
  two: ExploredColumn,
  mask: Uint8Array,
): { own: Float64Array; other: Float64Array } {
  const own: number[] = [];
  const other: number[] = [];
  for (let i = 0; i < mask.length; i++) {
    const a = one.values[i]!;
    const b = two.values[i]!;
    if (mask[i] === 0 || a !== a || b !== b) continue;
    own.push(a);
    other.push(b);
  }
  return { own: Float64Array.from(own), other: Float64Array.from(other) };
}

function rowOf(
  column: ExploredColumn,
  own: Float64Array,
  objective: Float64Array,
): ImportanceRow | undefined {
  const count = own.length;
  const ranks = ranksOf(objective);
  if (column.kind === "category") {
    const effect = groupEffect(own, ranks);
    if (effect === undefined) return undefined;
    return {
      column,
      strength: Math.sqrt(Math.max(0, effect.epsilonSquared)),
      rho: Number.NaN,
      count,
      isChance: effect.etaSquared < chanceOfGroups(count, effect.groups),
      isCurved: false,
      related: [],
    };
  }
  const ownRanks = ranksOf(own);
  const rho = rankCorrelation(ownRanks, ranks);
  // All values of the objective are the same.
  if (Number.isNaN(rho)) return undefined;
  const bins = groupEffect(quantileGroups(ownRanks, BINS), ranks);
  const byBins = Math.sqrt(Math.max(0, bins?.epsilonSquared ?? 0));
  const isBinChance = bins === undefined || bins.etaSquared < chanceOfGroups(count, bins.groups);
  const isCurved = !isBinChance && byBins > Math.abs(rho) + CURVE_MARGIN;
  return {
    column,
    strength: isCurved ? byBins : Math.abs(rho),
    rho,
    count,
    isChance: !isCurved && Math.abs(rho) < chanceOfRank(count),
    isCurved,
    related: [],
  };
}

/** The same with at most so many runs, evenly spread over them. */
function sampleOf(mask: Uint8Array, countMax: number): Uint8Array {
  const every = Math.ceil(mask.reduce((sum, bit) => sum + bit, 0) / countMax);
  if (every <= 1) return mask;
  let seen = 0;
  return mask.map((bit) => (bit === 1 && seen++ % every === 0 ? 1 : 0));
}

function addRelated(rows: readonly ImportanceRow[], mask: Uint8Array): void {
  for (const [i, one] of rows.entries()) {
    for (const other of rows.slice(i + 1)) {
      if (!(associationOf(one.column, other.column, mask) >= RELATED_FROM)) continue;
      one.related.push(other.column.label);
      other.related.push(one.column.label);
    }
  }
}

/** NaN where too few runs have both. */
function associationOf(one: ExploredColumn, other: ExploredColumn, mask: Uint8Array): number {
  const { own: a, other: b } = pairsOf(one, other, mask);
  if (a.length < RUNS_MIN) return Number.NaN;
  if (one.kind === "number" && other.kind === "number") return Math.abs(spearman(a, b));
  if (one.kind === "category" && other.kind === "category") return cramersV(a, b);
  const effect = one.kind === "category" ? groupEffect(a, ranksOf(b)) : groupEffect(b, ranksOf(a));
  return Math.sqrt(Math.max(0, effect?.epsilonSquared ?? Number.NaN));
}
