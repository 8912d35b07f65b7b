import { CairnError, quote } from "#lang/errors.ts";
import type { Field } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";
import type { Importance, ImportanceBounds, ParamImportance } from "../ports/run-search.ts";
import { quantileGroups, ranksOf } from "#base/ranks.ts";
import {
  chanceOfGroups,
  chanceOfRank,
  cramersV,
  groupEffect,
  rankCorrelation,
  spearman,
} from "./association.ts";
import type { RunColumn, RunTable } from "./run-table.ts";

const RELATED_AMONG = 16;
/** Association of two params is measured on a sample of the runs. */
const RELATED_RUNS = 2_000;
const RELATED_FROM = 0.7;
const RUNS_MIN = 5;
const BINS = 5;
/** Groups must explain this much more than a rank correlation for the shape to be another one. */
const CURVE_MARGIN = 0.15;

interface Scored {
  readonly row: ParamImportance;
  /** Of an even sample of the runs. */
  readonly sample: RunColumn;
}

/** The params by how strongly they are associated with the objective. */
export async function importanceOf(
  table: RunTable,
  objective: Field,
  { paramsMax, valuesMax }: ImportanceBounds,
): Promise<Importance> {
  const target = await table.column(objective);
  if (target?.kind === "category") {
    throw new CairnError(
      "invalid",
      `cannot explain ${quote(printField(objective))}: not all its values are numbers`,
    );
  }
  const varying = table.params.filter((param) => param.varies);
  const constant = table.params.filter((param) => !param.varies).map(({ key }) => key);
  const rare: string[] = [];
  const looked = varying.slice(0, Math.min(paramsMax, Math.ceil(valuesMax / Math.max(1, table.count))));
  const scored: Scored[] = [];
  const explained = target === undefined ? undefined : new Explained(target.values);
  for (const { key } of looked) {
    const column = await table.column({ of: "param", key });
    const pairs = column && explained?.pairsWith(column.values);
    if (column === undefined || pairs === undefined || pairs.own.length < RUNS_MIN) rare.push(key);
    else if (pairs.own.every((value) => value === pairs.own[0])) constant.push(key);
    else {
      const row = score(key, column.kind, pairs);
      if (row === undefined) rare.push(key);
      else scored.push({ row, sample: sampleOf(column) });
    }
  }
  scored.sort((a, b) => b.row.strength - a.row.strength || (a.row.key < b.row.key ? -1 : 1));
  addRelated(scored.slice(0, RELATED_AMONG));
  return {
    params: scored.map(({ row }) => row),
    constant,
    rare,
    runs: explained?.count ?? 0,
    leftOut: varying.length - looked.length,
  };
}

interface Pairs {
  /** Of the param, in the runs that have both. */
  own: Float64Array;
  /** Ranks of the objective in these runs. */
  ranks: Float64Array;
}

/** The objective. Mostly all runs have a param, and then the ranks are the same for all of them. */
class Explained {
  readonly #values: Float64Array;
  readonly count: number;
  #ranksOfAll: Float64Array | undefined;

  constructor(values: Float64Array) {
    this.#values = values;
    this.count = countNumbers(values);
  }

  pairsWith(values: Float64Array): Pairs {
    const own = new Float64Array(this.count);
    const target = new Float64Array(this.count);
    let count = 0;
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i]) || Number.isNaN(this.#values[i])) continue;
      own[count] = values[i]!;
      target[count++] = this.#values[i]!;
    }
    if (count === this.count) return { own, ranks: (this.#ranksOfAll ??= ranksOf(target)) };
    return { own: own.subarray(0, count), ranks: ranksOf(target.subarray(0, count)) };
  }
}

function countNumbers(values: Float64Array): number {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) count++;
  return count;
}

function score(key: string, kind: RunColumn["kind"], { own, ranks }: Pairs): ParamImportance | undefined {
  const runs = own.length;
  if (kind === "category") {
    const effect = groupEffect(own, ranks);
    if (effect === undefined) return undefined;
    return {
      key,
      strength: Math.sqrt(Math.max(0, effect.epsilonSquared)),
      rho: Number.NaN,
      runs,
      isChance: effect.etaSquared < chanceOfGroups(runs, effect.groups),
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
  const isBinChance = bins === undefined || bins.etaSquared < chanceOfGroups(runs, bins.groups);
  const isCurved = !isBinChance && byBins > Math.abs(rho) + CURVE_MARGIN;
  return {
    key,
    strength: isCurved ? byBins : Math.abs(rho),
    rho,
    runs,
    isChance: !isCurved && Math.abs(rho) < chanceOfRank(runs),
    isCurved,
    related: [],
  };
}

/** The same rows of every column. */
function sampleOf(column: RunColumn): RunColumn {
  const every = Math.max(1, Math.ceil(column.values.length / RELATED_RUNS));
  const values = Float64Array.from(
    { length: Math.ceil(column.values.length / every) },
    (_, i) => column.values[i * every]!,
  );
  return { ...column, values };
}

function addRelated(scored: readonly Scored[]): void {
  for (const [i, one] of scored.entries()) {
    for (const other of scored.slice(i + 1)) {
      if (!(associationOf(one.sample, other.sample) >= RELATED_FROM)) continue;
      one.row.related.push(other.row.key);
      other.row.related.push(one.row.key);
    }
  }
}

/** NaN where too few runs have both. */
function associationOf(one: RunColumn, other: RunColumn): number {
  const isThere = one.values.map((value, i) =>
    Number(!Number.isNaN(value) && !Number.isNaN(other.values[i])),
  );
  const a = one.values.filter((_, i) => isThere[i] === 1);
  const b = other.values.filter((_, i) => isThere[i] === 1);
  if (a.length < RUNS_MIN) return Number.NaN;
  if (one.kind === "number" && other.kind === "number") return Math.abs(spearman(a, b));
  if (one.kind === "category" && other.kind === "category") return cramersV(a, b);
  const effect = one.kind === "category" ? groupEffect(a, ranksOf(b)) : groupEffect(b, ranksOf(a));
  return Math.sqrt(Math.max(0, effect?.epsilonSquared ?? Number.NaN));
}
