import { readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FRAME_KIND, frameAt, type Frame } from "#sdk/spool/frame.ts";
import { DeadSpool } from "#sdk/spool/dead-spool.ts";
import { listSegments } from "#sdk/spool/segments.ts";

/** Something that a server refused for good, and that is kept in the folder of its writer (docs/formats/spool.md). */
export interface RefusedFrame {
  path: string;
  /** undefined for a file that is damaged. */
  frame: Frame | undefined;
  /** Such as "envelope 7". */
  what: string;
  /** "" where it was refused by a client that did not write it down. */
  why: string;
  server: string;
  /** The run that it belongs to; "" where that is unknown. */
  run: string;
}

const ENDING = ".frame";
const KIND_WORDS: Readonly<Record<number, string>> = {
  [FRAME_KIND.envelope]: "envelope",
  [FRAME_KIND.upload]: "an upload",
  [FRAME_KIND.source]: "a source",
};

/** In the order of their names. */
export function listRefused(folder: string): RefusedFrame[] {
  let names: string[];
  try {
    names = readdirSync(join(folder, "refused"));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(ENDING))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => readRefused(join(folder, "refused", name)));
}

function readRefused(path: string): RefusedFrame {
  const frame = readFrame(path);
  const note = readNote(path);
  const text = (name: string): string => {
    const value = note[name];
    return typeof value === "string" ? value : "";
  };
  return {
    path,
    frame,
    what: text("what") || nameOf(frame),
    why: text("why"),
    server: text("server"),
    run: text("run"),
  };
}

function readFrame(path: string): Frame | undefined {
  try {
    return frameAt(readFileSync(path), 0);
  } catch {
    return undefined;
  }
}

function readNote(path: string): Partial<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(readFileSync(notePath(path), "utf8"));
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function nameOf(frame: Frame | undefined): string {
  if (frame === undefined) return "something that cannot be read";
  const kind = KIND_WORDS[frame.kind] ?? "something";
  return frame.kind === FRAME_KIND.envelope ? `${kind} ${frame.seq}` : kind;
}

function notePath(path: string): string {
  return `${path.slice(0, -ENDING.length)}.json`;
}

export function removeRefused({ path }: RefusedFrame): void {
  rmSync(path, { force: true });
  rmSync(notePath(path), { force: true });
}

/** Removes what is empty now: the folder of the refused, and that of the writer when nothing in it is needed. */
export function tidyFolder(folder: string): void {
  try {
    rmdirSync(join(folder, "refused"));
  } catch {
    // Some are left, or there were none.
    return;
  }
  if (listSegments(folder).length === 0) new DeadSpool(folder).close();
}
