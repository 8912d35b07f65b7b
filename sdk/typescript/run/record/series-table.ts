import { KIND, type Kind } from "./kind.ts";
import { KnownSeries } from "./known-series.ts";
import { clientLimits } from "../client-limits.ts";
import { limits } from "#lang/limits.ts";
import { quoted, type Notices } from "../notices.ts";
import { cutText, keyProblem, labelValueProblem } from "../problems.ts";
import { Series, type LabelPairs, type OtherValue } from "./series.ts";

/** Series of one set of labels, by key. */
interface LabelTable {
  pairs: LabelPairs;
  /** What distinguishes this set from others. */
  text: string;
  series: Map<string, Series>;
}

const INT64_MAX = 2n ** 63n;

/** Adds values to the series that each belongs to. */
export class SeriesTable {
  readonly #defaults: Readonly<Record<string, string>>;
  readonly #notices: Notices;
  /** Called when pending points must be written before more can be added. */
  readonly #collect: () => void;
  readonly #seriesMax: number;
  readonly #known = new KnownSeries();
  readonly #tables = new Map<string, LabelTable>();
  #plain: LabelTable;
  /** Those that have points waiting. */
  readonly #active: Series[] = [];
  #hot = 0;
  pendingPoints = 0;
  #pendingBytes = 0;

  constructor(
    defaults: Readonly<Record<string, string>>,
    notices: Notices,
    collect: () => void,
    seriesMax: number = limits.seriesPerRunMax,
  ) {
    this.#defaults = defaults;
    this.#notices = notices;
    this.#collect = collect;
    this.#seriesMax = seriesMax;
    this.#plain = this.#tableOf({});
  }

  /** NaN means no step. */
  add(
    values: Readonly<Record<string, unknown>>,
    labels: object | undefined,
    step: number,
    timeUs: number,
  ): void {
    const table = labels === undefined ? this.#plain : this.#tableOf(labels);
    for (const key of Object.keys(values)) {
      const value = values[key];
      const series = typeof value === "number" ? table.series.get(key) : undefined;
      if (series !== undefined && series.kind === KIND.number && series.hasSteps === (step === step)) {
        if (series.count === 0) this.#active.push(series);
        series.push(step, timeUs, value as number);
        this.pendingPoints++;
      } else {
        this.#addAny(table, key, value, step, timeUs, 1);
      }
    }
  }

  #addAny(table: LabelTable, key: string, value: unknown, step: number, timeUs: number, depth: number): void {
    const kind = kindOf(value);
    if (kind === undefined) {
      this.#addNested(table, key, value, step, timeUs, depth);
      return;
    }
    const series = table.series.get(key) ?? this.#open(table, key, kind);
    if (series === undefined) return;
    const fit = fitted(value as number | OtherValue, series.kind);
    if (fit === undefined) {
      this.#refuse(key, `it was logged as ${NAMES[series.kind]} before, and ${quoted(value)} is not`);
      return;
    }
    const hasSteps = !Number.isNaN(step);
    if (series.count > 0 && series.hasSteps !== hasSteps) this.#collect();
    if (series.count === 0) {
      series.hasSteps = hasSteps;
      this.#active.push(series);
    }
    if (typeof fit === "number") series.push(step, timeUs, fit);
    else series.pushOther(step, timeUs, typeof fit === "string" ? this.#textOf(key, fit) : fit);
    this.pendingPoints++;
    if (
      this.pendingPoints >= clientLimits.collectPointsMax ||
      this.#pendingBytes >= clientLimits.collectBytesMax
    ) {
      this.#collect();
    }
  }

  #textOf(key: string, value: string): string {
    const text = cutText(value, limits.textValueBytesMax);
    if (text.length < value.length) {
      this.#notices.once(`text ${key}`, `a text of metric ${quoted(key)} was cut: it has more than 64 KiB`);
    }
    this.#pendingBytes += text.length;
    return text;
  }

  #addNested(
    table: LabelTable,
    key: string,
    value: unknown,
    step: number,
    timeUs: number,
    depth: number,
  ): void {
    const plain = typeof value === "object" && value !== null && isPlain(value);
    if (!plain) {
      this.#refuse(key, `${describe(value)} is not a number, bigint, boolean or text`);
      return;
    }
    if (depth >= clientLimits.valueDepthMax) {
      this.#refuse(key, `it is nested deeper than ${clientLimits.valueDepthMax}`);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      this.#addAny(table, `${key}/${name}`, inner, step, timeUs, depth + 1);
    }
  }

  /** undefined when there cannot be such a series. */
  #open(table: LabelTable, key: string, kind: Kind): Series | undefined {
    const problem = keyProblem(key);
    if (problem !== undefined) {
      this.#refuse(key, problem);
      return undefined;
    }
    const known = this.#known.kindOf(key, table.text);
    if (known === 0) {
      if (this.#known.size >= this.#seriesMax) {
        this.#notices.once("series", "there are a million metrics in this run; new ones are left out");
        return undefined;
      }
      this.#known.add(key, table.text, kind);
    }
    const series = new Series(key, table.pairs, known === 0 ? kind : known);
    table.series.set(key, series);
    this.#hot++;
    return series;
  }

  /** What the server knows of a series of an earlier writer. */
  learn(key: string, labels: Readonly<Record<string, string>>, kind: number): void {
    if (kind < KIND.number || kind > KIND.text) return;
    const text = labelText(Object.entries(labels).sort(byName));
    if (this.#known.kindOf(key, text) === 0) this.#known.add(key, text, kind as Kind);
  }

  #refuse(key: string, cause: string): void {
    this.#notices.once(`key ${key}`, `cannot log metric ${quoted(key)}: ${cause}; such values are left out`);
  }

  #tableOf(labels: object): LabelTable {
    const given: [string, unknown][] = Object.entries({ ...this.#defaults, ...labels });
    const pairs: [string, string][] = [];
    for (const [name, value] of given) {
      if (value === undefined || value === null) continue;
      const text = labelValue(value);
      const problem = keyProblem(name, limits.labelBytesMax) ?? labelValueProblem(text);
      if (problem === undefined && pairs.length < limits.labelsMax) pairs.push([name, text]);
      else {
        const cause = problem ?? `a series has at most ${limits.labelsMax} labels`;
        this.#notices.once(`label ${name}`, `cannot use label ${quoted(name)}: ${cause}; it is left out`);
      }
    }
    pairs.sort(byName);
    const text = labelText(pairs);
    let table = this.#tables.get(text);
    if (table === undefined) {
      table = { pairs, text, series: new Map() };
      this.#tables.set(text, table);
    }
    return table;
  }

  /** Returns all pending points, and clears them. */
  drain(take: (series: Series) => void): void {
    for (const series of this.#active) {
      take(series);
      series.clear();
    }
    this.#active.length = 0;
    this.pendingPoints = 0;
    this.#pendingBytes = 0;
    if (this.#hot > clientLimits.hotSeriesMax || this.#tables.size > clientLimits.hotSeriesMax) this.#cool();
  }

  /** Nothing waits now; series and labels that are used again are found again. */
  #cool(): void {
    const { pairs, text } = this.#plain;
    this.#tables.clear();
    this.#plain = { pairs, text, series: new Map() };
    this.#tables.set(text, this.#plain);
    this.#hot = 0;
  }
}

const NAMES: Readonly<Record<Kind, string>> = { 1: "a number", 2: "an integer", 3: "a bool", 4: "a text" };

function kindOf(value: unknown): Kind | undefined {
  switch (typeof value) {
    case "number":
      return KIND.number;
    case "bigint":
      return KIND.integer;
    case "boolean":
      return KIND.bool;
    case "string":
      return KIND.text;
    default:
      return undefined;
  }
}

/** The value converted to the kind, when that is exact. */
function fitted(value: number | OtherValue, kind: Kind): number | OtherValue | undefined {
  switch (kind) {
    case KIND.number:
      if (typeof value === "number") return value;
      if (typeof value === "bigint") return BigInt(Number(value)) === value ? Number(value) : undefined;
      return typeof value === "boolean" ? Number(value) : undefined;
    case KIND.integer: {
      const integer = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
      if (typeof integer !== "bigint") return undefined;
      return integer < INT64_MAX && integer >= -INT64_MAX ? integer : undefined;
    }
    case KIND.bool:
      if (value === 0 || value === 1) return value === 1;
      return typeof value === "boolean" ? value : undefined;
    default:
      return typeof value === "string" ? value : undefined;
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object"
    ? `an object of class ${quoted(value.constructor?.name ?? "")}`
    : `a ${typeof value}`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Anything a template would take. */
function labelValue(value: unknown): string {
  return typeof value === "string" ? value : `${value as number}`;
}

function labelText(pairs: LabelPairs): string {
  return pairs.length === 0 ? "" : JSON.stringify(pairs);
}
