import { clockTicks } from "#lang/ticks/clock-ticks.ts";
import { durationText, durationTicks } from "#lang/ticks/duration-ticks.ts";
import { logTicksWithin } from "#lang/ticks/log-ticks.ts";
import { ticksWithin } from "#lang/ticks/number-ticks.ts";
import { linearScale, logScale, type Scale } from "#lang/ticks/scale.ts";
import type { Tick } from "#lang/ticks/tick-labels.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { formatTime } from "#lang/words/times.ts";

/**
 * The kind of x: a number of steps, a wall time, the time since the run began, or another metric; times in
 * microseconds.
 */
export type XKind = "step" | "time" | "relative" | "metric";

export interface View {
  width: number;
  height: number;
  /** Room above the plot, for a title. */
  headPx?: number;
  xKind: XKind;
  x: readonly [number, number];
  y: readonly [number, number];
  log: boolean;
  /** For texts: the text at 0, 1, 2 … */
  words?: readonly string[];
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly y: Scale;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
}

const LABEL_PX = 6.2;
/** Letters are wider than digits, and a cut word begins with three dots. */
const WORD_PX = 7.2;
const TOP = 8;
const BOTTOM = 20;
const RIGHT = 10;
const LEFT_MIN = 34;
const LEFT_MAX = 96;
const X_TICK_PX = 56;
const Y_TICK_PX = 34;
const WORD_MAX = 11;
const WORD_TICK_PX = 15;

/** The layout. The left margin is as wide as the longest label needs. */
export function frameOf(view: View): Frame {
  const { width, log, words, headPx = 0 } = view;
  const top = headPx + TOP;
  const height = headPx + view.height;
  const bottom = Math.max(top + 1, height - BOTTOM);
  const y = (log ? logScale : linearScale)(view.y[0], view.y[1], bottom, top);
  const yCount = Math.max(2, Math.floor((bottom - top) / Y_TICK_PX));
  const yTicks =
    words === undefined
      ? (log ? logTicksWithin : ticksWithin)(y.from, y.to, yCount)
      : wordTicks(words, y, Math.max(1, Math.floor((bottom - top) / WORD_TICK_PX)));
  const longest = yTicks.reduce((most, { label }) => Math.max(most, label.length), 0);
  const signPx = words === undefined ? LABEL_PX : WORD_PX;
  const left = Math.min(LEFT_MAX, Math.max(LEFT_MIN, Math.ceil(longest * signPx) + 12));
  const right = Math.max(left + 1, width - RIGHT);
  const x = linearScale(view.x[0], view.x[1], left, right);
  const xTicks = xTicksOf(view.xKind, x, xCountMax(left, right));
  return { width, height, left, right, top, bottom, x, y, xTicks, yTicks };
}

/** The same picture, moved along x. */
export function movedTo(frame: Frame, xKind: XKind, range: readonly [number, number]): Frame {
  const { left, right } = frame;
  const x = linearScale(range[0], range[1], left, right);
  return { ...frame, x, xTicks: xTicksOf(xKind, x, xCountMax(left, right)) };
}

function xCountMax(left: number, right: number): number {
  return Math.max(1, Math.floor((right - left) / X_TICK_PX));
}

function wordTicks(words: readonly string[], { from, to }: Scale, countMax: number): Tick[] {
  const shown = words
    .map((word, at) => ({ at, label: cut(word) }))
    .filter(({ at }) => at >= from && at <= to);
  const every = Math.ceil(shown.length / countMax);
  return shown.filter((_, i) => i % every === 0);
}

function cut(word: string): string {
  const signs = Array.from(word);
  return signs.length > WORD_MAX ? `${signs.slice(0, WORD_MAX - 1).join("")}…` : word;
}

function xTicksOf(kind: XKind, { from, to }: Scale, countMax: number): Tick[] {
  if (kind === "time") return clockTicks(from, to, countMax);
  if (kind === "relative") return durationTicks(from, to, countMax);
  // Steps are integers.
  return ticksWithin(from, to, countMax, { whole: kind === "step" });
}

/** One x as text, as precise as a pixel of the chart. `name` is that of the metric along x. */
export function xText(kind: XKind, at: number, name = "x"): string {
  if (kind === "metric") return `${name} ${formatNumber(at, { digits: 5 })}`;
  if (kind === "step") return `step ${formatNumber(Math.round(at))}`;
  if (kind === "relative") return `after ${durationText(at)}`;
  return formatTime(at);
}
