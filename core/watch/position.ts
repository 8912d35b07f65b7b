import { crc32 } from "node:zlib";
import { CairnError, quote } from "../errors.ts";

/**
 * How far a watcher has been told. Runs and points have a position of their own, since one event tells
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

/** Stands for a list of runs, which a part is only good for. */
export function fingerprint(runIds: Iterable<string>): number {
  return crc32([...runIds].join());
}

const TEXT = /^([0-9a-f]{1,64})((?:\.[0-9a-z]{1,11}){2,6})$/;

/** Such as "5f0c….2s.2s": the process, the two positions and what there is of a part, in base 36. */
export function cursorToText(cursor: Cursor, epoch: string, runs: number): string {
  const { part } = cursor;
  const numbers = [cursor.runs, cursor.points];
  if (part !== undefined) numbers.push(part.upTo, part.run, part.at, runs);
  return [epoch, ...numbers.map((number) => number.toString(36))].join(".");
}

export interface Resumed {
  cursor: Cursor;
  /** False when the text is of another process, and so says nothing about this one. */
  known: boolean;
  /** False when it is in the middle of points of other runs than these. */
  partKnown: boolean;
}

/** Throws `invalid` for what was never a position. */
export function cursorFromText(
  text: string,
  { epoch, position: last }: { epoch: string; position: number },
  runs: number,
): Resumed {
  const match = TEXT.exec(text);
  const numbers =
    match?.[2]!
      .slice(1)
      .split(".")
      .map((digits) => Number.parseInt(digits, 36)) ?? [];
  if (match === null || (numbers.length !== 2 && numbers.length !== 6)) {
    throw new CairnError("invalid", `cannot go on from position ${quote(text)}: it is none`, {
      hint: "give the position of an event of an earlier watch as it was, or none",
    });
  }
  const [runsAt, points, upTo, run, at, of] = numbers as [number, number, ...number[]];
  const part = upTo === undefined ? undefined : { upTo, run: run!, at: at! };
  return {
    cursor: { runs: runsAt, points, part },
    known: match[1] === epoch && Math.max(runsAt, points, upTo ?? 0) <= last,
    partKnown: part === undefined || of === runs,
  };
}
