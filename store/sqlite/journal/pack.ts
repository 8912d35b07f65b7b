import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import { writeBlock } from "#base/codec/block.ts";
import { CodecError } from "#base/codec/error.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import type { SeqRange } from "#core/types/envelope.ts";
import type { RunChange } from "#core/types/run.ts";
import type { SeriesPoints } from "#core/types/series.ts";
import type { AppendEnvelope } from "#core/ports/journal.ts";
import type { PackedEnvelope, PackedExtras } from "./append.ts";
import { seriesName } from "../series/catalog.ts";
import { labelsToText } from "../series/labels.ts";
import { packLines, type PackedLines } from "../lines/pack.ts";

const scratch = new ByteWriter(1 << 16);
const LENGTH_MODULUS = 2 ** 20;
const HASH_BYTES = 16;
const NO_LINES: readonly PackedLines[] = [];

/**
 * Writes the points as log blocks, so that one buffer goes to the storage thread instead of many.
 * Throws `invalid` for points that no block can hold.
 */
export function packEnvelope(
  envelope: AppendEnvelope,
  nowUs: number,
): PackedEnvelope & { body: Uint8Array<ArrayBuffer> } {
  const { runId, namespace, host, writer, seq, lost, change, series } = envelope;
  const { log, artifacts, kept, audit, dropRepeated } = envelope;
  let points = 0;
  const names: string[] = [];
  scratch.reset();
  for (const one of series) {
    names.push(seriesName(one.key, labelsToText(one.labels)));
    points += one.points.count;
    writePoints(one);
  }
  const body = scratch.finish();
  const crc = crc32(body);
  const texts = [
    names.join("\n"),
    change === undefined ? "" : changeText(change),
    lostText(lost),
    artifactsText(artifacts ?? []),
  ];
  const said = texts.join("");
  let contentCrc = crc;
  let contentBytes = body.length;
  let sentLines = NO_LINES;
  let extras: PackedExtras | undefined;
  if (log !== undefined || artifacts !== undefined) {
    extras = { lines: packedLog(log ?? []), artifacts: artifacts ?? [] };
    sentLines = extras.lines;
    for (const piece of extras.lines) {
      contentCrc = crc32(piece.body, contentCrc);
      contentBytes += piece.body.length;
    }
    // The digest is of the whole envelope, whichever part of it is stored.
    if (kept !== undefined) extras = { lines: packedLog(kept.log ?? []), artifacts: kept.artifacts ?? [] };
  }
  // 32 bits of checksum and 20 of length: a number that SQLite and a double both hold exactly.
  const digest = crc32(said, contentCrc) * LENGTH_MODULUS + ((contentBytes + said.length) % LENGTH_MODULUS);
  return {
    runId,
    host,
    namespace,
    writer,
    seq,
    lost,
    change: kept === undefined ? change : kept.change,
    names,
    kinds: series.map((one) => one.points.values.kind),
    body,
    points,
    digest,
    hash: dropRepeated === true && seq === 0 ? contentHash(texts, body, sentLines) : undefined,
    crc,
    nowUs,
    extras,
    audit,
  };
}

/** Buffers that are transferred to the storage thread without a copy. */
export function buffersOf(packed: readonly ReturnType<typeof packEnvelope>[]): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  for (const { body, extras } of packed) {
    buffers.push(body.buffer);
    if (extras !== undefined) buffers.push(...extras.lines.map((piece) => piece.body.buffer));
  }
  return buffers;
}

/**
 * A digest distinguishes two bodies under one number, which may fail once in 2^32. Here a body is compared with thousands,
 * and one that is mistaken for another is lost.
 */
function contentHash(
  texts: readonly string[],
  points: Uint8Array,
  lines: readonly PackedLines[],
): Uint8Array {
  const hash = createHash("sha256");
  const pieces = [points, ...lines.map(({ body }) => body)];
  hash.update(JSON.stringify([texts, pieces.map(({ length }) => length)]));
  for (const piece of pieces) hash.update(piece);
  return Uint8Array.from(hash.digest().subarray(0, HASH_BYTES));
}

function packedLog(log: NonNullable<AppendEnvelope["log"]>): PackedLines[] {
  try {
    return packLines(log);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw new CairnError("invalid", `cannot append log lines: ${cause.message}`, { cause });
  }
}

/** Content is in it by its digest, which was taken when the record was checked. */
function artifactsText(artifacts: readonly ArtifactRecord[]): string {
  if (artifacts.length === 0) return "";
  return JSON.stringify(artifacts.map((record) => plain({ ...record, content: undefined })));
}

function writePoints({ key, points }: SeriesPoints): void {
  const { nanos } = points;
  // Zeros mean the same as no nanos, and must not change the digest.
  const said = nanos?.every((nano) => nano === 0) === true ? { ...points, nanos: undefined } : points;
  try {
    writeBlock(scratch, said);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw new CairnError("invalid", `cannot append series ${quote(key)}: ${cause.message}`, { cause });
  }
}

/** The same for any order of fields, and whether empty fields are present or not. */
function changeText(change: RunChange): string {
  return JSON.stringify(plain(change)) ?? "";
}

function plain(value: unknown): unknown {
  if (value === false) return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  const entries = (value instanceof Map ? [...value] : Object.entries(value))
    .map(([key, one]: [string, unknown]): [string, unknown] => [key, plain(one)])
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : entries;
}

function lostText(lost: readonly SeqRange[]): string {
  return lost
    .map(({ first, last }) => `${first}-${last}`)
    .sort()
    .join();
}
