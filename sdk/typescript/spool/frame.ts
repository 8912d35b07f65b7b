import { crc32 } from "node:zlib";

/**
 * Frames of the spool, as docs/formats/spool.md has them: a head of 17 bytes, then the body.
 *
 *     u32 length of the body | u32 CRC-32 of kind, seq and body | u8 kind | u64 seq | body
 */
export const FRAME_KIND = { open: 1, envelope: 2, upload: 3, source: 4, describe: 5 } as const;

export const FRAME_HEAD_BYTES = 17;
export const SEGMENT_HEAD_BYTES = 12;
export const SPOOL_VERSION = 1;

const MAGIC = Buffer.from("CAIRNSPL", "latin1");
const CRC_FROM = 8;

export interface Frame {
  /** One of FRAME_KIND, or one that only a later version knows. */
  kind: number;
  /** 0 for all but envelopes. */
  seq: number;
  body: Buffer;
}

export function segmentHead(): Buffer {
  const head = Buffer.alloc(SEGMENT_HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(SPOOL_VERSION, MAGIC.length);
  return head;
}

/** undefined for anything but a segment. */
export function segmentVersion(bytes: Buffer): number | undefined {
  if (bytes.length < SEGMENT_HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  return bytes.readUInt32LE(MAGIC.length);
}

/** Fills in the head in front of a body that begins at FRAME_HEAD_BYTES. */
export function sealFrame(frame: Buffer, kind: number, seq: number): Buffer {
  frame.writeUInt32LE(frame.length - FRAME_HEAD_BYTES, 0);
  frame.writeUInt8(kind, 8);
  frame.writeUInt32LE(seq >>> 0, 9);
  frame.writeUInt32LE(Math.floor(seq / 2 ** 32), 13);
  frame.writeUInt32LE(crc32(frame.subarray(CRC_FROM)), 4);
  return frame;
}

export function encodeFrame(kind: number, seq: number, body: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + body.length);
  frame.set(body, FRAME_HEAD_BYTES);
  return sealFrame(frame, kind, seq);
}

/** The whole frame that begins at `at`; undefined when there is none, or its checksum is wrong. */
export function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const end = frameEnd(bytes, at);
  if (end === undefined || crc32(bytes.subarray(at + CRC_FROM, end)) !== bytes.readUInt32LE(at + 4)) {
    return undefined;
  }
  const seq = bytes.readUInt32LE(at + 13) * 2 ** 32 + bytes.readUInt32LE(at + 9);
  return { kind: bytes.readUInt8(at + 8), seq, body: bytes.subarray(at + FRAME_HEAD_BYTES, end) };
}

/** Where a frame at `at` would end by its length; undefined when that is beyond the bytes. */
export function frameEnd(bytes: Buffer, at: number): number | undefined {
  if (at + FRAME_HEAD_BYTES > bytes.length) return undefined;
  const end = at + FRAME_HEAD_BYTES + bytes.readUInt32LE(at);
  return end <= bytes.length ? end : undefined;
}
