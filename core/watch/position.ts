import { crc32 } from "node:zlib";
import type { Seal } from "#base/seal.ts";
import { CairnError, quote } from "#lang/errors.ts";

/**
 * Up to where a watcher was notified. Runs and points have a position of their own, since one event has
 * one kind only. Points are sent run by run: `points` is the position of all of them, and `part` is the
 * progress of the current round, so that after a disconnect between two events nothing is missing and
 * nothing is sent twice.
 */
export interface Cursor {
  runs: number;
  points: number;
  part: Part | undefined;
}

/** A round up to `upTo`: all runs before number `run` are at it, that one is at `at`, the others at `points`. */
export interface Part {
  upTo: number;
  run: number;
  at: number;
}

/** The position of no journal: changes since are never known. */
export const NOWHERE = "0.0";

/** Identifies a list of runs; a part is only valid for that list. */
export function fingerprint(runIds: Iterable<string>): number {
  return crc32([...runIds].join());
}

/** Also matches those of earlier versions, which are of another journal in any case. */
const TEXT = /^([0-9a-f]{1,64})((?:\.[\w-]{1,120}){1,6})$/;
const NUMBERS = 2;
const NUMBERS_WITH_PART = 6;

/** Of one journal: what positions are counted in, and what hides the count. */
export interface PositionSpace {
  readonly epoch: string;
  readonly seal: Seal;
}

/**
 * Such as "5f0c….Qk3v…": the journal, and sealed the two positions and what there is of a part. They count the
 * changes of all callers, and a watcher must not learn how many hidden ones there were.
 */
export function cursorToText(cursor: Cursor, { epoch, seal }: PositionSpace, runs: number): string {
  const { part } = cursor;
  const numbers = [cursor.runs, cursor.points];
  if (part !== undefined) numbers.push(part.upTo, part.run, part.at, runs);
  return `${epoch}.${seal.close(numbers)}`;
}

/** undefined when the text is of another journal, and so means nothing in this one. */
export type Resumed =
  | {
      cursor: Cursor;
      /** False when it is in the middle of points of other runs than these. */
      partKnown: boolean;
      /** Identifies the runs of the part. */
      runs: number;
    }
  | undefined;

/** Throws `invalid` for a text that is not a position. */
export function cursorFromText(text: string, { epoch, seal }: PositionSpace, runs: number): Resumed {
  const match = TEXT.exec(text);
  if (match === null) throw notOne(text);
  if (match[1] !== epoch) return undefined;
  const numbers = seal.open(match[2]!.slice(1));
  if (numbers?.length !== NUMBERS && numbers?.length !== NUMBERS_WITH_PART) throw notOne(text);
  const [runsAt, points, upTo, run, at, of] = numbers as [number, number, ...number[]];
  const part = upTo === undefined ? undefined : { upTo, run: run!, at: at! };
  const partKnown = part === undefined || of === runs;
  return { cursor: { runs: runsAt, points, part }, partKnown, runs: of ?? runs };
}

/**
 * Where all of them are: what happened after any of them comes. Only the first may be in the middle of a round; where
 * another one is before the end of that, the round begins again.
 */
export function earliest([first, ...others]: readonly Resumed[]): Resumed {
  if (first === undefined) return undefined;
  let { runs, points, part } = first.cursor;
  for (const other of others) {
    if (other === undefined) return undefined;
    runs = Math.min(runs, other.cursor.runs);
    points = Math.min(points, other.cursor.points);
    if (part !== undefined && other.cursor.points < part.upTo) part = undefined;
  }
  return { ...first, cursor: { runs, points, part }, partKnown: first.partKnown || part === undefined };
}

function notOne(text: string): CairnError {
  return new CairnError("invalid", `cannot continue from position ${quote(text)}: it is not one`, {
    hint: "give the position of a read or of an event of an earlier watch as it was, or none",
  });
}
