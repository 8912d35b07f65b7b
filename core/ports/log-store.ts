import type { LogFilter, LogLine } from "../types/log.ts";

/**
 * Reads the lines that `Journal.append` acknowledged. Lines are numbered by arrival, from 0, per
 * run; a number is never reused, and lines are kept until the run is purged.
 *
 * A call sees everything acknowledged before it was made, and one consistent moment of the log. No call
 * runs for long: an answer that would take more than a fraction of a second is split, and each part says
 * where to continue. An unknown run has no lines.
 *
 * Lines that fail their checksum are never returned. An answer ends before them; a call that begins at
 * them throws `corrupt` (LINES_DAMAGED) with the facts `first` and `next`: where the damage begins, and
 * the first number after it, from which a caller can continue.
 */
export interface LogStore {
  readLog(request: ReadLog, signal?: AbortSignal): Promise<LogPage>;
  searchLog(request: SearchLog, signal?: AbortSignal): Promise<FoundLines>;
  lineCount(runId: string): Promise<number>;
}

export interface ReadLog {
  runId: string;
  filter: LogFilter;
  /** The first number to read. Below 0 it is counted from the end: -100 for the last hundred. */
  from: number;
  /** At most so many lines; fewer when they are long, but at least one where there is one. */
  limit: number;
}

export interface LogPage {
  /** Rising by number. May be empty though `more` is true. */
  lines: LogLine[];
  /** Where to continue reading. */
  next: number;
  /** How many lines the run has in total. */
  total: number;
  /** Whether there are lines from `next` on. */
  more: boolean;
}

export interface SearchLog extends ReadLog {
  pattern: LinePattern;
}

/**
 * An exact text, a text ignoring case (as RE2's flag i), or an RE2 pattern;
 * found anywhere in the line. Core has checked it.
 */
export type LinePattern =
  | { kind: "text"; text: string }
  | { kind: "caseless"; text: string }
  | { kind: "regex"; regex: string };

export interface FoundLines {
  lines: LogLine[];
  /** Where to continue searching when `more` is true. */
  next: number;
  more: boolean;
  /** How many lines were passed, also those that the filter does not select. */
  searched: number;
}
