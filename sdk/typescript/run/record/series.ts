import { KIND, type Kind } from "./kind.ts";

export type LabelPairs = readonly (readonly [name: string, value: string])[];
export type OtherValue = bigint | boolean | string;

// Up to 64 bytes are kept within the object, which makes a series that has few points cheap.
const CAPACITY_MIN = 8;
/** A column that was larger releases its memory when it was written. */
const CAPACITY_KEPT = 1_024;
const NOTHING = new Float64Array(0);

/** The points of one series that wait to be written, in columns that grow. */
export class Series {
  readonly key: string;
  readonly labels: LabelPairs;
  readonly kind: Kind;
  count = 0;
  /** Of the points that wait: all of them have a step, or none has. */
  hasSteps = true;
  steps = NOTHING;
  times = NOTHING;
  /** Of a series of numbers. */
  numbers = NOTHING;
  /** Of any other. */
  others: OtherValue[] = [];

  constructor(key: string, labels: LabelPairs, kind: Kind) {
    this.key = key;
    this.labels = labels;
    this.kind = kind;
  }

  /** NaN means no step. */
  push(step: number, timeUs: number, value: number): void {
    const at = this.#next(step, timeUs);
    this.numbers[at] = value;
  }

  pushOther(step: number, timeUs: number, value: OtherValue): void {
    this.#next(step, timeUs);
    this.others.push(value);
  }

  #next(step: number, timeUs: number): number {
    const at = this.count++;
    if (at === this.steps.length) this.#grow();
    this.steps[at] = step;
    this.times[at] = timeUs;
    return at;
  }

  #grow(): void {
    const capacity = Math.max(CAPACITY_MIN, this.steps.length * 2);
    this.steps = grown(this.steps, capacity);
    this.times = grown(this.times, capacity);
    if (this.kind === KIND.number) this.numbers = grown(this.numbers, capacity);
  }

  /** The points were written. */
  clear(): void {
    this.count = 0;
    if (this.others.length > 0) this.others = [];
    if (this.steps.length > CAPACITY_KEPT) this.steps = this.times = this.numbers = NOTHING;
  }
}

function grown(column: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity);
  larger.set(column);
  return larger;
}
