import type { XKind } from "../../charts/paint/frame.ts";
import type { Smoothing } from "#lang/smooth.ts";
import type { Middle, Spread } from "#sdk/series.ts";
import type { Reduction } from "../../charts/lines/reduce.ts";

/**
 * The chart parameters of an address. Every page with charts has these beside its own: spread the result of
 * `readChartSearch` into its parameters.
 */
export interface ChartSearch {
  /** Without it, steps. */
  x?: "time" | "relative" | "metric";
  /** The metric along x; only with x=metric. */
  xkey?: string;
  logy?: true;
  clip?: true;
  /** Points that restarts replaced are drawn faded. */
  rewound?: true;
  /** Kind and amount, such as ema-0.6. */
  smooth?: string;
  /** Which keys: part of a name, a glob, or /a pattern/. */
  keys?: string;
  /** The visible range of x: 100..2000, in steps or microseconds. */
  range?: string;
  /** The visible range of y of single charts: loss:0.1..0.5,val%2Facc:0.9..1 */
  yrange?: string;
  /** Groups instead of runs: mean-std, median-minmax and so on. */
  group?: string;
  /** One line for all labels of a run, or a row of colours for each. */
  labels?: Reduction | "heat";
  /** Sections that are folded, joined by commas. */
  shut?: string;
}

/** Undefined removes a parameter. */
export type ChartSearchPatch = { [Name in keyof ChartSearch]: ChartSearch[Name] | undefined };

const TEXT_MAX = 500;
const Y_TEXT_MAX = 4_000;
/** With more charts than that, the oldest range of y is dropped. */
const Y_RANGES_MAX = 12;
const LABEL_WAYS = ["mean", "min", "max", "p95", "heat"] as const;

export function readChartSearch(given: Record<string, unknown>): ChartSearch {
  const search: ChartSearch = {};
  const text = (name: string, lengthMax = TEXT_MAX): string => {
    const value = given[name];
    if (typeof value !== "string" && typeof value !== "number") return "";
    return String(value).slice(0, lengthMax);
  };
  const x = text("x");
  if (x === "time" || x === "relative") search.x = x;
  if (x === "metric" && text("xkey") !== "") {
    search.x = x;
    search.xkey = text("xkey");
  }
  if (isOn(given["logy"])) search.logy = true;
  if (isOn(given["clip"])) search.clip = true;
  if (isOn(given["rewound"])) search.rewound = true;
  if (smoothingOf(text("smooth")).kind !== "none") search.smooth = text("smooth");
  if (text("keys") !== "") search.keys = text("keys");
  if (rangeOf(text("range")) !== undefined) search.range = text("range");
  const yrange = text("yrange", Y_TEXT_MAX);
  if (yRangesOf(yrange).size > 0) search.yrange = yrange;
  if (groupOf(text("group")) !== undefined) search.group = text("group");
  const labels = text("labels");
  const known = LABEL_WAYS.find((each) => each === labels);
  if (known !== undefined) search.labels = known;
  if (text("shut") !== "") search.shut = text("shut");
  return search;
}

function isOn(value: unknown): boolean {
  return value === true || value === "true" || value === 1 || value === "1";
}

export function xKindOf({ x }: ChartSearch): XKind {
  return x ?? "step";
}

/** Kinds of smoothing with the amounts a slider goes through. */
export const SMOOTHINGS = {
  none: { label: "Smoothing: none", from: 0, to: 0, step: 1, start: 0 },
  ema: { label: "Exponential", from: 0, to: 0.99, step: 0.01, start: 0.6 },
  time: { label: "Exponential by x", from: 0, to: 0.99, step: 0.01, start: 0.6 },
  mean: { label: "Running mean", from: 3, to: 101, step: 2, start: 9 },
  gauss: { label: "Gaussian", from: 1, to: 50, step: 1, start: 3 },
} as const;

export type SmoothingName = keyof typeof SMOOTHINGS;

/** Name and amount; none for an invalid text. */
export function smoothingParts(text: string | undefined): { name: SmoothingName; amount: number } {
  const [name = "", number = ""] = (text ?? "").split("-", 2);
  if (!(Object.hasOwn(SMOOTHINGS, name) && name !== "none" && number !== ""))
    return { name: "none", amount: 0 };
  const known = SMOOTHINGS[name as SmoothingName];
  const amount = Number(number);
  if (!Number.isFinite(amount)) return { name: "none", amount: 0 };
  return { name: name as SmoothingName, amount: Math.min(known.to, Math.max(known.from, amount)) };
}

export function smoothingOf(text: string | undefined): Smoothing {
  const { name, amount } = smoothingParts(text);
  switch (name) {
    case "none":
      return { kind: "none" };
    case "ema":
      return { kind: "ema", weight: amount };
    case "time":
      return { kind: "time-ema", weight: amount, unit: 1 };
    case "mean":
      return { kind: "mean", window: amount };
    case "gauss":
      return { kind: "gaussian", sigma: amount };
  }
}

export function rangeOf(text: string | undefined): readonly [number, number] | undefined {
  const match = /^(-?\d[\d.e+-]{0,24}?)\.\.(-?\d[\d.e+-]{0,24})$/.exec(text ?? "");
  if (match === null) return undefined;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : undefined;
}

const FIXED_MAX = 20;

/** As few digits as distinguish the pixels of a chart. */
export function rangeText([from, to]: readonly [number, number]): string {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(to - from)));
  const text = (value: number): string => String(digits > FIXED_MAX ? value : Number(value.toFixed(digits)));
  return `${text(from)}..${text(to)}`;
}

/** By key. Invalid ranges are ignored. */
export function yRangesOf(text: string | undefined): ReadonlyMap<string, readonly [number, number]> {
  const ranges = new Map<string, readonly [number, number]>();
  for (const part of (text ?? "").split(",")) {
    const [key = "", range] = part.split(":", 2);
    const read = rangeOf(range);
    if (read !== undefined) ranges.set(decoded(key), read);
  }
  return ranges;
}

/** The text with another part of y for one chart, or without one. */
export function withYRange(
  text: string | undefined,
  key: string,
  range: readonly [number, number] | undefined,
): string | undefined {
  const ranges = new Map(yRangesOf(text));
  ranges.delete(key);
  if (range !== undefined) ranges.set(key, range);
  const parts = [...ranges].map(([name, each]) => `${encodeURIComponent(name)}:${rangeText(each)}`);
  while (parts.length > Y_RANGES_MAX || parts.join().length > Y_TEXT_MAX) parts.shift();
  return parts.join() || undefined;
}

/** The decoded text, or the text itself if it is invalid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MIDDLES: readonly Middle[] = ["mean", "median"];
const SPREADS: readonly Spread[] = ["std", "stderr", "minmax", "ci95"];

export interface Grouping {
  middle: Middle;
  spread: Spread;
}

export function groupOf(text: string | undefined): Grouping | undefined {
  const [middle, spread] = (text ?? "").split("-", 2);
  const found = {
    middle: MIDDLES.find((each) => each === middle),
    spread: SPREADS.find((each) => each === spread),
  };
  return found.middle === undefined || found.spread === undefined
    ? undefined
    : { middle: found.middle, spread: found.spread };
}
