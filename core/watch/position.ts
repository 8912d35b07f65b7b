import { crc32 } from "node:zlib";
import type { Seal } from "#base/seal.ts";
import { CairnError, quote } from "#lang/errors.ts";

/**
 * Up to where a watcher was notified. Runs and points have a position of their own, since one event tells
 * of one kind only. Points are told run by run: `points` is where all of them stand, and `part` says
 * how far the present round has come, so that after a break between two events nothing is missing and
 * nothing comes twice.
 */
export interface Cursor {
  runs: number;
  points: number;
  part: Part | undefined;
}

/** A round up to `upTo`: all runs before number `run` are there, that one is at `at`, the others at `points`. */
export interface Part {
  upTo: number;
  run: number;
  at: number;
}

/** The position of no journal: what happened since is never known. */
export const NOWHERE = "0.0";

/** Stands for a list of runs, which a part is only good for. */
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
 * changes of all callers, and a watcher must not learn how many there were of those that it may not see.
 */
export function cursorToText(cursor: Cursor, { epoch, seal }: PositionSpace, runs: number): string {
  const { part } = cursor;
  const numbers = [cursor.runs, cursor.points];
  if (part !== undefined) numbers.push(part.upTo, part.run, part.at, runs);
  return `${epoch}.${seal.close(numbers)}`;
}

/** undefined when the text is of another journal, and so says nothing about this one. */
export type Resumed =
  | {
      cursor: Cursor;
      /** False when it is in the middle of points of other runs than these. */
      partKnown: boolean;
      /** Stands for the runs that the part is of. */
      runs: number;
    }
  | undefined;

/** Throws `invalid` for what was never a position. */
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
  return new CairnError("invalid", `cannot go on from position ${quote(text)}: it is not one`, {
    hint: "give the position of a read or of an event of an earlier watch as it was, or none",
  });
}
