import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Envelope as CoreEnvelope } from "#core/model/envelope.ts";
import type { SeriesPoints as CoreSeries } from "#core/model/series.ts";
import { RUN_STATUSES } from "#core/model/run.ts";
import {
  EnvelopeSchema,
  SeriesKind,
  SeriesPointsSchema,
  type Envelope,
  type SeriesPoints,
} from "#proto/cairn/v1/metric_pb.ts";
import { RunStatusSchema, type RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { double, field, FIXED64, tag, VARINT, varint, varintField, zigzag } from "./protobuf.ts";

/** Random envelopes, what they mean, and the many ways to spell them. */

const RUN_ID = "0123456789abcdef0123456789abcdef";
const SAFE = 2n ** 53n;

const text = fc.string({ unit: "binary", maxLength: 80 });
const safe = fc.oneof(
  fc.bigInt({ min: -SAFE, max: SAFE }),
  fc.bigInt({ min: -300n, max: 300n }),
  fc.constantFrom(-SAFE, SAFE, 1n - SAFE, SAFE - 1n, 0n),
);
const bitsDouble = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constantFrom(0x8000000000000000n, 1n, 0x7ff0000000000000n, 0xfff0000000000000n, 0x7ff8dead0000beefn),
  )
  .map((bits) => new Float64Array(BigUint64Array.of(bits).buffer)[0]!);

const label = fc.stringMatching(/^[a-z]{1,8}$/);
const labels = fc.dictionary(label, label, { maxKeys: 4, noNullPrototype: true });

function column<T>(of: fc.Arbitrary<T>, length: number): fc.Arbitrary<T[]> {
  return fc.array(of, { minLength: length, maxLength: length });
}

const series: fc.Arbitrary<SeriesPoints> = fc.nat(12).chain((count) => {
  const typed = fc.oneof(
    column(bitsDouble, count).map((values) => ({ kind: SeriesKind.NUMBER, values })),
    column(bitsDouble, count).map((values) => ({ kind: SeriesKind.UNSPECIFIED, values })),
    column(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), count).map((integers) => ({
      kind: SeriesKind.INTEGER,
      integers,
    })),
    column(fc.boolean(), count).map((bools) => ({ kind: SeriesKind.BOOL, bools })),
    column(text, count).map((texts) => ({ kind: SeriesKind.TEXT, texts })),
  );
  return fc
    .record({
      key: text,
      labels,
      typed,
      steps: fc.oneof(column(safe, 0), column(safe, count)),
      timesUs: fc.oneof(column(safe, 0), column(safe, count)),
      nanos: fc.oneof(column(fc.nat(70_000), 0), column(fc.nat(70_000), count)),
    })
    .map(({ typed: columns, ...rest }) => create(SeriesPointsSchema, { ...rest, ...columns }));
});

const run = fc.constantFrom<MessageInitShape<typeof EnvelopeSchema>["run"]>(
  { id: RUN_ID },
  { path: `a/b/${RUN_ID}` },
  { alias: "job-17 ☃" },
  { alias: "job-17", namespace: "a/b" },
);

export const envelopes: fc.Arbitrary<Envelope> = fc
  .record({
    run,
    writer: text,
    seq: fc.bigInt({ min: 0n, max: SAFE }),
    series: fc.array(series, { maxLength: 4 }),
    params: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    tags: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    status: fc.constantFrom(...RunStatusSchema.values.map(({ number }) => number as RunStatus)),
    lost: fc.array(
      fc.record({ first: fc.bigInt({ min: 0n, max: SAFE }), last: fc.bigInt({ min: 0n, max: SAFE }) }),
      {
        maxLength: 3,
      },
    ),
    heartbeatSeconds: fc.nat(2 ** 32 - 1),
    endedUs: safe,
  })
  .map((init) => create(EnvelopeSchema, init));

/** What core should be given for a message, field by field and the slow way. */
export function meaningOf(message: Envelope): CoreEnvelope {
  const { run: ref, status, params, tags, heartbeatSeconds, endedUs } = message;
  const change = {
    ...(Object.keys(params).length > 0 && { params: new Map(Object.entries(params)) }),
    ...(Object.keys(tags).length > 0 && { tags: new Map(Object.entries(tags)) }),
    ...((status as number) !== 0 && { status: RUN_STATUSES[status - 1]! }),
    ...(heartbeatSeconds !== 0 && { heartbeatSeconds }),
    ...(endedUs !== 0n && { endedUs: Number(endedUs) }),
  };
  const path = ref!.path.split("/");
  return {
    run:
      ref!.id !== ""
        ? { by: "id", id: ref!.id }
        : ref!.alias !== ""
          ? { by: "alias", alias: ref!.alias, namespace: ref!.namespace }
          : { by: "path", namespace: path.slice(0, -1).join("/"), id: path.at(-1)! },
    writer: message.writer,
    seq: Number(message.seq),
    series: message.series.map(meaningOfSeries),
    change: Object.keys(change).length > 0 ? change : undefined,
    lost: message.lost.map(({ first, last }) => ({ first: Number(first), last: Number(last) })),
  };
}

function meaningOfSeries(message: SeriesPoints): CoreSeries {
  const values = (): CoreSeries["points"]["values"] => {
    switch (message.kind) {
      case SeriesKind.INTEGER:
        return { kind: "integer", data: BigInt64Array.from(message.integers) };
      case SeriesKind.BOOL:
        return { kind: "bool", data: Uint8Array.from(message.bools, Number) };
      case SeriesKind.TEXT:
        return { kind: "text", data: message.texts };
      default:
        return { kind: "number", data: Float64Array.from(message.values) };
    }
  };
  const data = values();
  const integers = (all: readonly bigint[]) =>
    all.length === 0 ? undefined : Float64Array.from(all, Number);
  const names = Object.entries(message.labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    key: message.key,
    labels: names,
    points: {
      count: data.data.length,
      steps: integers(message.steps),
      times: integers(message.timesUs),
      nanos: message.nanos.some((nano) => nano !== 0)
        ? Uint16Array.from(message.nanos, (nano) => Math.min(nano, 0xffff))
        : undefined,
      values: data,
    },
  };
}

/** Picks 0 to n - 1. */
export type Pick = (n: number) => number;

/** The same message with its fields in any order, lists packed, split or not packed, and unknown fields between. */
export function spellLoosely(message: Envelope, pick: Pick): Buffer {
  const parts: Buffer[][] = [];
  const { run: ref } = message;
  parts.push([
    // In pieces, which add up.
    field(1, spell([[field(1, ref!.id)], [field(3, ref!.alias)]], pick)),
    field(1, spell([[field(2, ref!.path)], [field(4, ref!.namespace)], [unknown(pick)]], pick)),
  ]);
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
