import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeFrame, type Frame } from "./frame.ts";

/** Keeps a frame in the folder of its writer, for a person to look at. */
export function setAside(folder: string, frame: Frame): string {
  const refused = join(folder, "refused");
  mkdirSync(refused, { recursive: true, mode: 0o700 });
  // Only envelopes have a number.
  const name =
    frame.seq > 0 ? String(frame.seq) : createHash("sha256").update(frame.body).digest("hex").slice(0, 16);
  const path = join(refused, `${name}.frame`);
  writeFileSync(path, encodeFrame(frame.kind, frame.seq, frame.body), { mode: 0o600 });
  return path;
}

/** The file of which `files/<sha256>` in the folder of a writer is a copy or a link. */
export function spooledFilePath(folder: string, sha256: string): string {
  return join(folder, "files", sha256);
}
