import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireKey, requireText } from "./check.ts";

export const LOG_ORIGINS = ["process", "scheduler"] as const;
export type LogOrigin = (typeof LOG_ORIGINS)[number];

export const DEFAULT_STREAM = "stdout";

/** The source of a line. */
export interface LogSource {
  origin: LogOrigin;
  /** "stdout", "stderr" or any other short name. */
  stream: string;
  rank: number | undefined;
}

/**
 * Lines of one source in columns, as they are sent in an envelope. The creator must ensure that each
 * line is valid UTF-8 by itself: nothing after a wire checks the bytes again. A line may hold any
 * character, also line feeds and NUL.
 */
export interface LogLines extends LogSource {
  /** Microseconds, one per line; undefined for the time of arrival. */
  times: Float64Array | undefined;
  /** Bytes of each line. */
  lengths: Uint32Array;
  /** The lines run together. */
  text: Uint8Array;
  /** Logged by the program itself, not captured from its output. Not stored. */
  written?: boolean | undefined;
}

export interface LogLine extends LogSource {
  /** By arrival, from 0, per run. */
  number: number;
  timeUs: number;
  text: string;
}

/** Which lines; an undefined field selects all. */
export interface LogFilter {
  origin: LogOrigin | undefined;
  stream: string | undefined;
  rank: number | undefined;
  /** Inclusive. */
  fromUs: number | undefined;
  toUs: number | undefined;
}

export const EVERY_LINE: LogFilter = {
  origin: undefined,
  stream: undefined,
  rank: undefined,
  fromUs: undefined,
  toUs: undefined,
};

export function checkedFilter(filter: LogFilter): LogFilter {
  const { stream, fromUs, toUs } = filter;
  if (stream !== undefined) requireText(stream, limits.logStreamBytesMax, "log stream");
  if (fromUs !== undefined && toUs !== undefined && fromUs > toUs) {
    throw new CairnError("invalid", `cannot read lines from ${fromUs} to ${toUs}: the range is empty`);
  }
  return filter;
}

export function checkedFrom(from: number): number {
  if (Number.isSafeInteger(from)) return from;
  throw new CairnError("invalid", `cannot read a log from ${quote(String(from))}: it is not a line number`);
}

export function sameSource(a: LogSource, b: LogSource): boolean {
  return a.stream === b.stream && a.rank === b.rank && a.origin === b.origin;
}

/** Everything about the lines of an envelope that can be checked without the store. */
export function checkLog(log: readonly LogLines[]): void {
  let lines = 0;
  for (const one of log) {
    checkLines(one);
    lines += one.lengths.length;
  }
  // Groups without a line are ignored, but there must not be millions of them either.
  requireAtMost(log.length, limits.envelopeLinesMax, "groups of lines in one envelope");
  requireAtMost(lines, limits.envelopeLinesMax, "log lines in one envelope");
}

function checkLines({ stream, rank, times, lengths, text }: LogLines): void {
  requireKey(stream, "log stream", limits.logStreamBytesMax);
  if (rank !== undefined && (rank | 0) !== rank) {
    throw new CairnError("invalid", `cannot append lines of rank "${rank}": it is not a 32-bit integer`);
  }
  if (times !== undefined) {
    if (times.length !== lengths.length) throw unevenLines(stream, times.length, lengths.length);
    for (const time of times) requireLineTime(time, stream);
  }
  let size = 0;
  for (const length of lengths) {
    requireLineBytes(length);
    size += length;
  }
  if (size !== text.length) {
    throw new CairnError(
      "invalid",
      `cannot append lines of stream ${quote(stream)}: they have ${text.length} bytes, not ${size}`,
    );
  }
}

/** Before anything of that size is made. */
export function requireLineBytes(sizeBytes: number): void {
  requireAtMost(sizeBytes, limits.logLineBytesMax, "bytes in one log line");
}

const INTEGER_MAX = 2 ** 53;

function requireLineTime(timeUs: number, stream: string): void {
  if (timeUs === Math.floor(timeUs) && timeUs <= INTEGER_MAX && timeUs >= -INTEGER_MAX) return;
  throw new CairnError(
    "invalid",
    `cannot append lines of stream ${quote(stream)}: time "${timeUs}" is not an integer within 2^53`,
    { reason: "UNSAFE_INTEGER", hint: "times are microseconds since 1970" },
  );
}

/** `found` times where there are `count` lines. */
export function unevenLines(stream: string, found: number, count: number): CairnError {
  return new CairnError(
    "invalid",
    `cannot append lines of stream ${quote(stream)}: ${found} times for ${count} lines`,
    { reason: "COLUMNS_UNEVEN", hint: "give each line a time, or none of them" },
  );
}
