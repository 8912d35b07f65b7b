import type { SeriesInfo, SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import type { Sample } from "#proto/cairn/v1/series_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { labelsText } from "#sdk/series.ts";
import { History } from "./history.ts";

/** How far back the pace is measured. */
const PACE_MS = 60_000;
const PACE_SAMPLES_MAX = 240;
const REWOUND_EVENTS = 5;
/** Keys of one run that are followed; of those beyond that only favourites. */
const KEYS_MAX = 64;
/** Points that came while the history was being read. */
export const HELD_MAX = 10_000;
const MACHINE = /^(?:system|perf)\//;

/** The label set that is shown of a key: the first one received. */
export interface FollowedKey {
  readonly key: string;
  readonly labels: string;
  readonly history: History;
  /** Whether the history goes back to the first point, so that it may be drawn. */
  readonly isWhole: boolean;
  /** The newest point when the server listed the key; the history, which was read afterwards, may have newer ones. */
  readonly last?: Sample | undefined;
}

/** What a history contained when it was read. */
interface ReadUpTo {
  step: number;
  last: Sample | undefined;
}

/** One run of the live view, with the data received so far. */
export class TopRow {
  run: Run;
  step: number | undefined;
  /** The last activity, by the clock of its sender. */
  seenMs: number;
  /** When it was seen to end; undefined while it runs. */
  endedMs: number | undefined;
  readonly keys = new Map<string, FollowedKey>();
  /** Metrics to show first: the objective, then the loss or any other. */
  favourites: readonly string[] = [];
  /** The run has more metrics than are followed. */
  hasMoreKeys = false;
  #samples: { ms: number; step: number }[] = [];
  #paceBefore: number | undefined;
  /** Events in a row with a lower step than the highest. */
  #lower = 0;
  /** Of keys without a newer point yet: the watch begins before the histories were read, so some of its points are in them. */
  #readUpTo = new Map<string, ReadUpTo>();
  #held: SeriesPoints[] | undefined;
  #heldPoints = 0;
  #holds = 0;

  constructor(run: Run) {
    this.run = run;
    this.seenMs = Number(run.updatedUs) / 1000;
  }

  get isRunning(): boolean {
    return this.run.status === RunStatus.RUNNING;
  }

  update(run: Run, nowMs: number): void {
    this.run = run;
    this.seenMs = Math.max(this.seenMs, Number(run.updatedUs) / 1000);
    if (this.isRunning) this.endedMs = undefined;
    else this.endedMs ??= nowMs;
  }

  /**
   * From now on points are buffered until the history has been read, because it may contain them, too. Pass the number
   * to `load`: of several concurrent reads, the last one counts.
   */
  hold(): number {
    this.#held = [];
    this.#heldPoints = 0;
    return ++this.#holds;
  }

  /** Series that the server lists, before any point is received. There may be more. */
  describe(series: readonly SeriesInfo[], hasMore: boolean): void {
    this.hasMoreKeys = hasMore;
    for (const { summary } of series) {
      const { first, last } = summary ?? {};
      if (last?.step !== undefined) this.step = Math.max(this.step ?? -Infinity, Number(last.step));
      if (last?.timeUs !== undefined) this.seenMs = Math.max(this.seenMs, Number(last.timeUs) / 1000);
      if (first?.step === undefined || last?.step === undefined) continue;
      if (first.timeUs === undefined || last.timeUs === undefined) continue;
      const seconds = Number(last.timeUs - first.timeUs) / 1e6;
      if (seconds > 0) this.#paceBefore ??= Number(last.step - first.step) / seconds;
    }
  }

  /**
   * The histories as they were read; points received meanwhile are added where they are newer. False when these were too
   * many to be held: then points are missing, and no history is whole until it is read again.
   */
  load(read: readonly FollowedKey[], hold: number): boolean {
    if (hold !== this.#holds) return true;
    const isComplete = this.#heldPoints <= HELD_MAX;
    this.keys.clear();
    for (const each of read) {
      if (this.#hasRoomFor(each.key))
        this.keys.set(each.key, isComplete ? each : { ...each, isWhole: false });
    }
    this.#readUpTo = new Map(
      [...this.keys.values()].map(({ key, history, last }) => [
        key,
        { step: Math.max(Number(last?.step ?? -Infinity), history.lastX), last },
      ]),
    );
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const points of held) this.#take(points);
    return isComplete;
  }

  #hasRoomFor(key: string): boolean {
    const hasRoom = this.keys.size < KEYS_MAX || this.favourites.includes(key);
    this.hasMoreKeys ||= !hasRoom;
    return hasRoom;
  }

  addPoints(series: readonly SeriesPoints[], nowMs: number): void {
    this.seenMs = Math.max(this.seenMs, nowMs);
    const step = series.reduce(
      (most, { steps }) => Math.max(most, Number(steps.at(-1) ?? -Infinity)),
      -Infinity,
    );
    if (step > -Infinity) this.#moveTo(step, nowMs);
    for (const points of series) {
      if (this.#held === undefined) this.#take(points);
      else if ((this.#heldPoints += points.steps.length) <= HELD_MAX) this.#held.push(points);
    }
  }

  #take(points: SeriesPoints): void {
    const { key, steps, timesUs } = points;
    const values = numbersOf(points);
    if (values === undefined) return;
    const labels = labelsText(points.labels);
    let followed = this.keys.get(key);
    if (followed === undefined) {
      if (!this.#hasRoomFor(key)) return;
      followed = { key, labels, history: new History(), isWhole: true };
      this.keys.set(key, followed);
    }
    if (followed.labels !== labels) return;
    const { history } = followed;
    for (const [i, value] of values.entries()) {
      const step = steps[i];
      const upTo = this.#readUpTo.get(key);
      if (upTo !== undefined && wasRead(upTo, step, timesUs[i])) continue;
      // Points arrive in order, so all later ones are new, too.
      this.#readUpTo.delete(key);
      history.add(step === undefined ? history.pointCount : Number(step), value);
    }
  }

  /** Some metrics lag behind others; the run has only gone back when no higher step comes for a while. */
  #moveTo(step: number, nowMs: number): void {
    if (step < (this.step ?? -Infinity)) {
      if (++this.#lower < REWOUND_EVENTS) return;
      this.#samples = [];
    }
    this.#lower = 0;
    this.step = step;
    this.#samples.push({ ms: nowMs, step });
    while (this.#samples.length > PACE_SAMPLES_MAX || this.#samples[0]!.ms < nowMs - PACE_MS)
      this.#samples.shift();
  }

  /** Steps per second: of the last minute, or else of the whole run. */
  get pace(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first !== undefined && last !== undefined && last.ms - first.ms >= 2_000) {
      return ((last.step - first.step) / (last.ms - first.ms)) * 1000;
    }
    return this.#paceBefore;
  }

  /** At most `count` metrics: existing favourites, then losses, then others, and system metrics last. */
  shown(count: number): readonly string[] {
    const rank = (key: string) => {
      const liked = this.favourites.indexOf(key);
      if (liked >= 0) return liked - this.favourites.length;
      return /loss/i.test(key) ? 0 : MACHINE.test(key) ? 2 : 1;
    };
    return [...this.keys.keys()].sort((a, b) => rank(a) - rank(b)).slice(0, count);
  }
}

/** Whether the history contains the point. A later one at a lower step is new: the run went back. */
function wasRead({ step: upTo, last }: ReadUpTo, step?: bigint, timeUs?: bigint): boolean {
  const lastUs = last?.timeUs;
  const isTimed = timeUs !== undefined && lastUs !== undefined;
  if (step === undefined) return isTimed && timeUs <= lastUs;
  const hasGoneBack = isTimed && timeUs > lastUs && step <= (last?.step ?? -1n);
  return Number(step) <= upTo && !hasGoneBack;
}

/** undefined for texts. */
function numbersOf({ kind, values, integers, bools }: SeriesPoints): readonly number[] | undefined {
  if (kind === SeriesKind.TEXT) return undefined;
  if (kind === SeriesKind.INTEGER) return integers.map(Number);
  return kind === SeriesKind.BOOL ? bools.map(Number) : values;
}
