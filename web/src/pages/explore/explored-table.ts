import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { findField, printField } from "#lang/query/field-text.ts";
import {
  columnOf,
  flatParams,
  isExplorable,
  type ColumnSource,
  type ExploredColumn,
} from "./explored-column.ts";

/** What is known of a param before it is looked at closely. */
export interface ParamFact {
  readonly key: string;
  /** The field as text. */
  readonly text: string;
  readonly varies: boolean;
  /** How much there is to see in it; those with most come first. */
  readonly variety: number;
}

const PARAMS_MAX = 2_000;
/** Beyond so many values more say nothing new about how much a param varies. */
const COUNTED_VALUES = 64;
/** Texts with more values than these are names rather than choices. */
const CHOICES_MAX = 20;
const SEED = /(?:^|[._/-])(?:random_)?seed$/i;

/** The runs that are explored, as columns that are made when they are asked for. */
export class ExploredTable {
  readonly runs: readonly Run[];
  /** Varying ones first, those that vary most before others. */
  readonly params: readonly ParamFact[];
  readonly tags: readonly string[];
  readonly #source: ColumnSource;
  readonly #columns = new Map<string, ExploredColumn | undefined>();

  constructor(runs: readonly Run[], nowMs: number) {
    this.runs = runs;
    this.#source = { runs, flat: runs.map(flatParams), nowMs };
    this.params = paramFacts(this.#source);
    this.tags = [...new Set(runs.flatMap(({ tags }) => Object.keys(tags)))].toSorted().slice(0, PARAMS_MAX);
  }

  /** Undefined for what is no field, or none that this page can show. */
  column(text: string): ExploredColumn | undefined {
    if (this.#columns.has(text)) return this.#columns.get(text);
    const field = findField(text);
    const column =
      field === undefined || !isExplorable(field) ? undefined : columnOf(this.#source, text, field);
    this.#columns.set(text, column);
    return column;
  }
}

function paramFacts({ runs, flat }: ColumnSource): ParamFact[] {
  const seen = new Map<string, Map<string, number>>();
  for (const params of flat) {
    for (const key of Object.keys(params)) {
      let values = seen.get(key);
      if (values === undefined) {
        if (seen.size >= PARAMS_MAX) continue;
        seen.set(key, (values = new Map()));
      }
      const text = params[key]!;
      if (values.size < COUNTED_VALUES || values.has(text)) values.set(text, (values.get(text) ?? 0) + 1);
    }
  }
  return [...seen]
    .map(([key, values]): ParamFact => {
      const counted = values.values().reduce((sum, each) => sum + each, 0);
      const varies = values.size > 1 || counted < runs.length;
      const variety = varies ? varietyOf(key, values, runs.length) : 0;
      return { key, text: printField({ of: "param", key }), varies, variety };
    })
    .toSorted(
      (a, b) =>
        Number(b.varies) - Number(a.varies) ||
        b.variety - a.variety ||
        a.key.localeCompare(b.key, "en", { numeric: true }),
    );
}

/** The entropy of its values, weighed by how many runs have it; names of single runs and seeds count least. */
function varietyOf(key: string, values: ReadonlyMap<string, number>, runs: number): number {
  if (SEED.test(key)) return 0;
  const isText = [...values.keys()].some((text) => /^["[{]/.test(text));
  if (isText && values.size > CHOICES_MAX) return 0;
  let entropy = 0;
  let counted = 0;
  for (const count of values.values()) {
    entropy -= (count / runs) * Math.log(count / runs);
    counted += count;
  }
  const isFull = values.size >= COUNTED_VALUES;
  return isFull ? Math.log(COUNTED_VALUES) : entropy * (counted / runs);
}
