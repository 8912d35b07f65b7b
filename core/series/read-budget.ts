import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { ReadBounds } from "../ports/point-store.ts";

/**
 * How columns are encoded: as bytes in binary protobuf, or as text: lists of numbers in any
 * encoding and everything in JSON.
 */
export type AnswerForm = "bytes" | "text";

/** A double in binary; a number as decimal text, with its comma. */
const NUMBER_BYTES: Readonly<Record<AnswerForm, number>> = { bytes: 8, text: 20 };

export function readBounds(form: AnswerForm): ReadBounds {
  return {
    pointsMax: limits.readPointsMax,
    bytesMax: form === "bytes" ? limits.readBytesMax : limits.readTextBytesMax,
    numberBytes: NUMBER_BYTES[form],
  };
}

export function groupNumbersMax(form: AnswerForm): number {
  if (form === "bytes") return limits.groupNumbersMax;
  return Math.floor(limits.readTextBytesMax / NUMBER_BYTES.text);
}

/** Step, time and value. */
const POINT_NUMBERS = 3;
const BUCKET_NUMBERS = 8;
/** Of a series without its key, labels and points. */
const SERIES_BYTES = 512;

/** Parts of an answer; an absent one is 0. */
export interface ReadParts {
  series?: number;
  points?: number;
  buckets?: number;
  /** Beyond those of points and buckets: nanoseconds. */
  numbers?: number;
  textBytes?: number;
}

/** What is left of the bounds of one answer. All methods throw `exhausted` above them. */
export class ReadBudget {
  readonly #bounds: ReadBounds;
  #points = 0;
  #bytes = 0;
  #held = 0;

  constructor(bounds: ReadBounds) {
    this.#bounds = bounds;
  }

  spend(parts: ReadParts): void {
    this.require(parts);
    this.#points += pointsOf(parts);
    this.#bytes += this.#bytesOf(parts);
  }

  /** Checks that so much more fits, before it is read. */
  require(parts: ReadParts): void {
    const { pointsMax, bytesMax } = this.#bounds;
    const points = this.#points + pointsOf(parts);
    if (points > pointsMax) throw this.#tooMuch(points, pointsMax, "points");
    const bytes = this.#bytes + this.#bytesOf(parts);
    if (bytes > bytesMax) throw this.#tooMuch(bytes, bytesMax, "bytes");
  }

  /** Counts what is kept in memory for the whole read though it may not be in the answer. */
  hold(bytes: number): void {
    this.#held += bytes;
    if (this.#held > this.#bounds.bytesMax) throw this.#tooMuch(this.#held, this.#bounds.bytesMax, "bytes");
  }

  #bytesOf({ series = 0, points = 0, buckets = 0, numbers = 0, textBytes = 0 }: ReadParts): number {
    const all = points * POINT_NUMBERS + buckets * BUCKET_NUMBERS + numbers;
    return all * this.#bounds.numberBytes + series * SERIES_BYTES + textBytes;
  }

  #tooMuch(amount: number, max: number, unit: string): CairnError {
    const isText = this.#bounds.numberBytes > NUMBER_BYTES.bytes;
    const instead = isText ? ", or columns as bytes over binary protobuf instead of JSON" : "";
    return new CairnError(
      "exhausted",
      `cannot read series: the answer would be at least ${amount} ${unit}, and the most is ${max}`,
      {
        reason: "LIMIT_EXCEEDED",
        facts: { limit: String(max) },
        hint: `ask for fewer series, a range, or fewer \`buckets\`${instead}`,
      },
    );
  }
}

function pointsOf({ points = 0, buckets = 0 }: ReadParts): number {
  return points + buckets;
}
