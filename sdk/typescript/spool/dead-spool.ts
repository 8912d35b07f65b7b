import { readFileSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Frame } from "./frame.ts";
import type { FrameSource, SpooledFrame } from "./frame-source.ts";
import { readSegment } from "./read-segment.ts";
import { listSegments, type SegmentFile } from "./segments.ts";
import { refusedFrames, setAside, spooledFilePath, type Refusal } from "./set-aside.ts";

/** One that is being delivered. */
interface OpenSegment extends SegmentFile {
  left: number;
}

/** The folder of a writer that no longer writes. */
export class DeadSpool implements FrameSource {
  readonly folder: string;
  readonly writer: string;
  readonly #segments: SegmentFile[];
  readonly #open = new Set<OpenSegment>();
  readonly #keep: boolean;
  /** Places with frames that cannot be read. */
  damages = 0;
  #aside = 0;

  /** With `keep` nothing is removed. */
  constructor(folder: string, { keep = false } = {}) {
    this.folder = folder;
    this.writer = basename(folder);
    this.#segments = listSegments(folder);
    this.#keep = keep;
  }

  /** Throws NewerSpool. */
  read(): readonly SpooledFrame[] | undefined {
    for (let file = this.#segments[0]; file !== undefined; file = this.#segments[0]) {
      const bytes = readIfThere(file.path);
      const { frames, damages } =
        bytes === undefined ? { frames: [], damages: 0 } : readSegment(bytes, this.writer);
      this.#segments.shift();
      this.damages += damages;
      const segment: OpenSegment = { ...file, left: frames.length };
      if (frames.length > 0) {
        this.#open.add(segment);
        return frames.map((frame) => Object.assign(frame, { place: segment }));
      }
      this.#remove(segment);
    }
    return undefined;
  }

  resolve({ place }: SpooledFrame): void {
    const segment = place as OpenSegment;
    if (--segment.left === 0) this.#remove(segment);
  }

  #remove(segment: OpenSegment): void {
    this.#open.delete(segment);
    if (!this.#keep) rmSync(segment.path, { force: true });
  }

  setAside(frame: Frame, refusal: Refusal): string {
    this.#aside++;
    return setAside(this.folder, frame, refusal);
  }

  filePath(sha256: string): string {
    return spooledFilePath(this.folder, sha256);
  }

  /** Removes the folder, when nothing in it is needed. */
  close(): void {
    if (refusedFrames(this.folder).length > 0) return;
    if (this.#keep || this.#open.size > 0 || this.#segments.length > 0 || this.#aside > 0) return;
    try {
      rmSync(join(this.folder, "files"), { recursive: true, force: true });
      rmSync(join(this.folder, "owner.json"), { force: true });
      rmdirSync(this.folder);
    } catch {
      // Frames that were set aside before keep it.
    }
  }
}

/** Another process may be delivering the same folder. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}
