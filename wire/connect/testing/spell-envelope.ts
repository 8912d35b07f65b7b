import { create, toBinary } from "@bufbuild/protobuf";
import type { ArtifactRecord } from "#proto/cairn/v1/artifact_pb.ts";
import type { LogLines } from "#proto/cairn/v1/log_pb.ts";
import { EnvelopeSchema, type Envelope, type SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import { ProvenanceSchema, type Provenance } from "#proto/cairn/v1/run_pb.ts";
import { double, field, FIXED64, tag, VARINT, varint, varintField, zigzag } from "./protobuf.ts";

/** The many ways to spell an envelope. */

/** Picks 0 to n - 1. */
export type Pick = (n: number) => number;

/** The same message with its fields in any order, lists packed, split or not packed, and unknown fields between. */
export function spellLoosely(message: Envelope, pick: Pick): Buffer {
  const parts: Buffer[][] = [];
  const { run: ref, host } = message;
  // In pieces, which add up.
  if (ref !== undefined) {
    parts.push([
      field(1, spell([[field(1, ref.id)], [field(3, ref.alias)]], pick)),
      field(1, spell([[field(2, ref.path)], [field(4, ref.namespace)], [unknown(pick)]], pick)),
    ]);
  }
  if (host !== undefined) {
    parts.push([
      field(13, spell([[field(1, host.namespace)], [unknown(pick)]], pick)),
      field(13, field(2, host.name)),
    ]);
  }
  parts.push([field(2, "replaced"), field(2, message.writer)], [varintField(3, message.seq)]);
  parts.push(message.series.map((one) => field(4, spellSeries(one, pick))));
  for (const [number, map] of [
    [5, message.params],
    [6, message.tags],
  ] as const) {
    parts.push(
      Object.entries(map).map(([key, value]) =>
        field(number, spell([[field(1, key)], [field(2, value)]], pick)),
      ),
    );
  }
  parts.push([varintField(7, message.status)]);
  parts.push(
    message.lost.map(({ first, last }) =>
      field(8, spell([[varintField(1, first)], [varintField(2, last)]], pick)),
    ),
  );
  parts.push([varintField(9, message.heartbeatSeconds)], [varintField(10, message.endedUs)]);
  parts.push(message.log.map((one) => field(11, spellLines(one, pick))));
  parts.push(message.artifacts.map((one) => field(12, spellArtifact(one, pick))));
  for (const [number, provenance] of [
    [14, message.captured],
    [15, message.provenance],
  ] as const) {
    if (provenance !== undefined)
      parts.push(spellProvenance(provenance).map((piece) => field(number, piece)));
  }
  parts.push([unknown(pick), unknown(pick)]);
  return spell(parts, pick);
}

function spellSeries(message: SeriesPoints, pick: Pick): Buffer {
  const entries = Object.entries(message.labels).map(([key, value]) =>
    field(2, field(1, key), field(2, value)),
  );
  return spell(
    [
      [field(1, message.key)],
      entries,
      [varintField(3, message.kind)],
      spellList(4, VARINT, message.steps.map(zigzag), pick),
      spellList(5, VARINT, message.timesUs.map(zigzag), pick),
      spellList(6, FIXED64, message.values.map(double), pick),
      spellList(7, VARINT, message.integers.map(zigzag), pick),
      spellList(
        8,
        VARINT,
        message.bools.map((value) => varint(value ? 1 + pick(9) : 0)),
        pick,
      ),
      message.texts.map((value) => field(9, value)),
      spellList(10, VARINT, message.nanos.map(varint), pick),
      [unknown(pick)],
    ],
    pick,
  );
}

function spellLines(message: LogLines, pick: Pick): Buffer {
  return spell(
    [
      [varintField(1, message.origin)],
      [field(2, "replaced"), field(2, message.stream)],
      message.rank === undefined ? [] : [varintField(3, message.rank)],
      spellList(4, VARINT, message.timesUs.map(zigzag), pick),
      message.lines.map((line) => field(5, line)),
      [unknown(pick)],
    ],
    pick,
  );
}

function spellArtifact(message: ArtifactRecord, pick: Pick): Buffer {
  const { step, content, sizeBytes, metadata } = message;
  return spell(
    [
      [field(1, message.name)],
      step === undefined ? [] : [varintField(2, step)],
      [varintField(3, message.kind)],
      [field(4, message.uri)],
      content === undefined ? [] : [field(5, "replaced"), field(5, content)],
      [field(6, message.mediaType)],
      Object.entries(metadata).map(([key, value]) =>
        field(7, spell([[field(1, key)], [field(2, value)]], pick)),
      ),
      [field(8, message.sha256)],
      sizeBytes === undefined ? [] : [varintField(9, sizeBytes)],
      [unknown(pick)],
    ],
    pick,
  );
}

/** In pieces, which add up. */
function spellProvenance(message: Provenance): Uint8Array[] {
  const { code, ...rest } = message;
  const pieces = [create(ProvenanceSchema, { ...rest, study: "replaced" })];
  pieces.push(create(ProvenanceSchema, { ...(code !== undefined && { code }) }));
  return [
    ...pieces.map((piece) => toBinary(ProvenanceSchema, piece)),
    // Empty texts are not written as such, but they replace.
    field(5, message.study),
  ];
}

/** Each item alone, or runs of them packed; empty pieces too. */
function spellList(number: number, wireType: number, items: readonly Buffer[], pick: Pick): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < items.length;) {
    const size = pick(4);
    if (size === 0) pieces.push(Buffer.concat([tag(number, wireType), items[at]!]));
    else pieces.push(field(number, ...items.slice(at, at + size)));
    if (pick(8) === 0) pieces.push(field(number));
    at += Math.max(1, size);
  }
  return pieces;
}

function unknown(pick: Pick): Buffer {
  const number = 100 + pick(500);
  switch (pick(4)) {
    case 0:
      return varintField(number, -1n);
    case 1:
      return Buffer.concat([tag(number, FIXED64), Buffer.alloc(8, 255)]);
    case 2:
      return Buffer.concat([tag(number, 5), Buffer.alloc(4, 255)]);
    default:
      return field(number, Buffer.alloc(pick(20), 255));
  }
}

/** Mixes lists of fields; the order within each stays. */
function spell(lists: readonly (readonly Buffer[])[], pick: Pick): Buffer {
  const queues = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const mixed: Buffer[] = [];
  while (queues.length > 0) {
    const at = pick(queues.length);
    mixed.push(queues[at]!.shift()!);
    if (queues[at]!.length === 0) queues.splice(at, 1);
  }
  return Buffer.concat(mixed);
}

/** As protobuf-es writes it. */
export function spellPlainly(message: Envelope): Uint8Array {
  return toBinary(EnvelopeSchema, message);
}
