import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { encodeFrame, FRAME_KIND, frameAt, type Frame } from "./frame.ts";

/** Why a frame was refused, beside it in a file. */
const Refusal = z.object({
  /** Such as `artifact "model.pt"`. */
  what: z.string(),
  why: z.string(),
  server: z.string(),
  run: z.string(),
});
export type Refusal = z.infer<typeof Refusal>;

/** A frame that a server refused for good. What was not recorded is "". */
export interface RefusedFrame extends Refusal {
  path: string;
  /** One of FRAME_KIND; 0 when the file is damaged. */
  kind: number;
  sizeBytes: number;
}

const refusedFolder = (folder: string) => join(folder, "refused");
const reasonPath = (framePath: string) => framePath.replace(/\.frame$/, ".json");

/** Keeps a frame in the folder of its writer, with the reason, for a person to look at. */
export function setAside(folder: string, frame: Frame, refusal: Refusal): string {
  mkdirSync(refusedFolder(folder), { recursive: true, mode: 0o700 });
  // Only envelopes have a number.
  const name =
    frame.seq > 0 ? String(frame.seq) : createHash("sha256").update(frame.body).digest("hex").slice(0, 16);
  const path = join(refusedFolder(folder), `${name}.frame`);
  writeFileSync(reasonPath(path), `${JSON.stringify(refusal, undefined, 2)}\n`, { mode: 0o600 });
  writeFileSync(path, encodeFrame(frame.kind, frame.seq, frame.body), { mode: 0o600 });
  return path;
}

/** What lies aside in the folder of a writer, envelopes in their order. */
export function refusedFrames(folder: string): RefusedFrame[] {
  let names: string[];
  try {
    names = readdirSync(refusedFolder(folder));
  } catch {
    return [];
  }
  const collator = new Intl.Collator("en", { numeric: true });
  return names
    .filter((name) => name.endsWith(".frame"))
    .sort(collator.compare)
    .map((name) => describeRefused(join(refusedFolder(folder), name)));
}

/** Deletes them. They were never part of the run. */
export function discardRefused(folder: string): number {
  const frames = refusedFrames(folder);
  for (const { path } of frames) {
    rmSync(path, { force: true });
    rmSync(reasonPath(path), { force: true });
  }
  try {
    rmdirSync(refusedFolder(folder));
  } catch {
    // There is none, or something else is in it.
  }
  return frames.length;
}

const WORDS: Readonly<Record<number, string>> = {
  [FRAME_KIND.envelope]: "envelope",
  [FRAME_KIND.upload]: "an artifact",
  [FRAME_KIND.source]: "a source",
  [FRAME_KIND.describe]: "the description of a key",
};

function describeRefused(path: string): RefusedFrame {
  const frame = readFrame(path);
  const number = basename(path, ".frame");
  const word = WORDS[frame?.kind ?? 0] ?? "a frame";
  const what = frame?.kind === FRAME_KIND.envelope ? `${word} ${number}` : word;
  return {
    what,
    why: "",
    server: "",
    run: "",
    ...readRefusal(path),
    path,
    kind: frame?.kind ?? 0,
    sizeBytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  };
}

function readFrame(path: string): Frame | undefined {
  try {
    return frameAt(readFileSync(path), 0);
  } catch {
    return undefined;
  }
}

/** undefined for one of an earlier version. */
function readRefusal(path: string): Refusal | undefined {
  try {
    return Refusal.parse(JSON.parse(readFileSync(reasonPath(path), "utf8")));
  } catch {
    return undefined;
  }
}

/** The file of which `files/<sha256>` in the folder of a writer is a copy or a link. */
export function spooledFilePath(folder: string, sha256: string): string {
  return join(folder, "files", sha256);
}
