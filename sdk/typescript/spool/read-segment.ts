import { envelopeNames } from "./envelope-names.ts";
import {
  FRAME_HEAD_BYTES,
  FRAME_KIND,
  frameAt,
  frameEnd,
  SEGMENT_HEAD_BYTES,
  SPOOL_VERSION,
  segmentVersion,
  type Frame,
} from "./frame.ts";

export interface SegmentContent {
  /** All that can be read, in order. */
  frames: Frame[];
  /** Places with data that cannot be read; a torn tail is one. */
  damages: number;
  /** Bytes that belong to no frame. */
  damagedBytes: number;
}

/** What a search for the next whole frame may cost; a segment has 8 MiB. */
const SEARCH_BYTES_MAX = 1 << 30;

/** Throws for a segment of a version that this client does not know. */
export function readSegment(bytes: Buffer, writer: string): SegmentContent {
  const version = segmentVersion(bytes);
  if (version !== undefined && version > SPOOL_VERSION) throw new NewerSpool(version);
  // A damaged head does not affect the frames behind it.
  const content = readFrames(bytes, Math.min(SEGMENT_HEAD_BYTES, bytes.length), writer);
  if (version !== SPOOL_VERSION && bytes.length > 0) {
    content.damages++;
    content.damagedBytes += Math.min(SEGMENT_HEAD_BYTES, bytes.length);
  }
  return content;
}

/** The frames from `from` on, despite damage between them. */
export function readFrames(bytes: Buffer, from: number, writer: string): SegmentContent {
  const content: SegmentContent = { frames: [], damages: 0, damagedBytes: 0 };
  const search = new FrameSearch(bytes, writer);
  let at = from;
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    if (frame !== undefined) {
      content.frames.push(frame);
      at += FRAME_HEAD_BYTES + frame.body.length;
      continue;
    }
    // Mostly its body was hit and its length is right: then the next frame begins where this one ends.
    const end = frameEnd(bytes, at);
    const isLengthRight = end !== undefined && (end === bytes.length || frameAt(bytes, end) !== undefined);
    const next = isLengthRight ? end : search.next(at + 1);
    content.damages++;
    content.damagedBytes += next - at;
    at = next;
  }
  return content;
}

/** Looks for whole frames where it is not known where one begins. */
class FrameSearch {
  readonly #bytes: Buffer;
  readonly #writer: string;
  #searchedBytes = 0;

  constructor(bytes: Buffer, writer: string) {
    this.#bytes = bytes;
    this.#writer = writer;
  }

  /** Where the next one begins; the end of the bytes when there is none. */
  next(from: number): number {
    const bytes = this.#bytes;
    for (let at = from; at + FRAME_HEAD_BYTES <= bytes.length; at++) {
      if (!looksLikeFrame(bytes, at)) continue;
      this.#searchedBytes += frameEnd(bytes, at)! - at;
      if (this.#searchedBytes > SEARCH_BYTES_MAX) break;
      const frame = frameAt(bytes, at);
      if (frame !== undefined && isOf(frame, this.#writer)) return at;
    }
    return bytes.length;
  }
}

/** Cheap, so that a checksum is computed for few of the places where no frame begins. */
function looksLikeFrame(bytes: Buffer, at: number): boolean {
  const kind = bytes[at + 8]!;
  if (kind < FRAME_KIND.open || kind > FRAME_KIND.source) return false;
  const high = bytes.readUInt32LE(at + 13);
  if (kind === FRAME_KIND.envelope ? high >= 2 ** 21 : high !== 0 || bytes.readUInt32LE(at + 9) !== 0) {
    return false;
  }
  return frameEnd(bytes, at) !== undefined;
}

/** A file that a run has logged may hold the spool of another one. */
function isOf({ kind, seq, body }: Frame, writer: string): boolean {
  if (kind !== FRAME_KIND.envelope) return true;
  const names = envelopeNames(body);
  return names !== undefined && names.writer === writer && names.seq === seq;
}

/** The spool was written by a later version of a client. */
export class NewerSpool extends Error {
  constructor(version: number) {
    super(
      `cannot read the spool: it is of version ${version}, this client knows ${SPOOL_VERSION}; update Cairn to deliver it`,
    );
    this.name = "NewerSpool";
  }
}
