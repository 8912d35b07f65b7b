import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { ARTIFACT_KINDS, type ArtifactRecord as CoreArtifact } from "#core/types/artifact.ts";
import type { Envelope as CoreEnvelope } from "#core/types/envelope.ts";
import { LOG_ORIGINS, type LogLines as CoreLines } from "#core/types/log.ts";
import type { SeriesPoints as CoreSeries } from "#core/types/series.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { RUN_STATUSES } from "#lang/statuses.ts";
import {
  ArtifactKindSchema,
  ArtifactRecordSchema,
  type ArtifactKind,
  type ArtifactRecord,
} from "#proto/cairn/v1/artifact_pb.ts";
import { LogLinesSchema, LogOriginSchema, type LogLines, type LogOrigin } from "#proto/cairn/v1/log_pb.ts";
import {
  EnvelopeSchema,
  SeriesKind,
  SeriesPointsSchema,
  type Envelope,
  type SeriesPoints,
} from "#proto/cairn/v1/metric_pb.ts";
import { meaningOfProvenance, provenances } from "./provenance-arbitrary.ts";
import { RunStatusSchema, type RunRef as RunRefMessage, type RunStatus } from "#proto/cairn/v1/run_pb.ts";

/** Random envelopes, and what they mean. */

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

const owner = fc.oneof(
  { weight: 3, arbitrary: fc.record({ run }) },
  fc.record({ host: fc.record({ namespace: text, name: text }) }),
);

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

const logLines: fc.Arbitrary<LogLines> = fc.nat(6).chain((count) =>
  fc
    .record({
      origin: fc.constantFrom(...LogOriginSchema.values.map(({ number }) => number as LogOrigin)),
      stream: fc.oneof(fc.constant(""), text),
      rank: fc.option(int32, { nil: undefined }),
      timesUs: fc.oneof(column(safe, 0), column(safe, count)),
      lines: column(text, count),
    })
    .map(({ rank, ...rest }) => create(LogLinesSchema, { ...rest, ...(rank !== undefined && { rank }) })),
);

const artifact: fc.Arbitrary<ArtifactRecord> = fc
  .record({
    name: text,
    step: fc.option(safe, { nil: undefined }),
    kind: fc.constantFrom(...ArtifactKindSchema.values.map(({ number }) => number as ArtifactKind)),
    uri: fc.oneof(fc.constant(""), text),
    content: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: undefined }),
    mediaType: text,
    metadata: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    sha256: fc.oneof(fc.constant(""), text),
    sizeBytes: fc.option(safe, { nil: undefined }),
  })
  .map(({ step, content, sizeBytes, ...rest }) =>
    create(ArtifactRecordSchema, {
      ...rest,
      ...(step !== undefined && { step }),
      ...(content !== undefined && { content }),
      ...(sizeBytes !== undefined && { sizeBytes }),
    }),
  );

export const envelopes: fc.Arbitrary<Envelope> = fc
  .record({
    owner,
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
    log: fc.array(logLines, { maxLength: 3 }),
    artifacts: fc.array(artifact, { maxLength: 3 }),
    captured: fc.option(provenances, { nil: undefined }),
    provenance: fc.option(provenances, { nil: undefined }),
  })
  .map(({ owner: of, captured, provenance, ...init }) =>
    create(EnvelopeSchema, {
      ...init,
      ...of,
      ...(captured !== undefined && { captured }),
      ...(provenance !== undefined && { provenance }),
    }),
  );

/** The expected envelope of core for a message, computed field by field. */
export function meaningOf(message: Envelope): CoreEnvelope {
  const { run: ref, host, status, params, tags, heartbeatSeconds, endedUs, captured, provenance } = message;
  const change = {
    ...(Object.keys(params).length > 0 && { params: new Map(Object.entries(params)) }),
    ...(Object.keys(tags).length > 0 && { tags: new Map(Object.entries(tags)) }),
    ...((status as number) !== 0 && { status: RUN_STATUSES[status - 1]! }),
    ...(heartbeatSeconds !== 0 && { heartbeatSeconds }),
    ...(endedUs !== 0n && { endedUs: Number(endedUs) }),
    ...(captured !== undefined && { captured: meaningOfProvenance(captured) }),
    ...(provenance !== undefined && { addProvenance: meaningOfProvenance(provenance) }),
  };
  return {
    ...(host === undefined
      ? { run: meaningOfRef(ref!) }
      : { host: { namespace: host.namespace, name: host.name } }),
    writer: message.writer,
    seq: Number(message.seq),
    series: message.series.map(meaningOfSeries),
    change: Object.keys(change).length > 0 ? change : undefined,
    lost: message.lost.map(({ first, last }) => ({ first: Number(first), last: Number(last) })),
    log: message.log.length === 0 ? undefined : message.log.map(meaningOfLines),
    artifacts: message.artifacts.length === 0 ? undefined : message.artifacts.map(meaningOfArtifact),
  };
}

function meaningOfRef({ id, path, alias, namespace }: RunRefMessage): RunRef {
  if (id !== "") return { by: "id", id };
  if (alias !== "") return { by: "alias", alias, namespace };
  const segments = path.split("/");
  return { by: "path", namespace: segments.slice(0, -1).join("/"), id: segments.at(-1)! };
}

function meaningOfLines({ origin, stream, rank, timesUs, lines }: LogLines): CoreLines {
  const bytes = lines.map((line) => Buffer.from(line));
  return {
    origin: LOG_ORIGINS[origin === 0 ? 0 : origin - 1]!,
    stream: stream === "" ? "stdout" : stream,
    rank,
    times: timesUs.length === 0 ? undefined : Float64Array.from(timesUs, Number),
    lengths: Uint32Array.from(bytes, ({ length }) => length),
    text: new Uint8Array(Buffer.concat(bytes)),
  };
}

function meaningOfArtifact(message: ArtifactRecord): CoreArtifact {
  const { name, step, kind, uri, content, mediaType, metadata, sha256, sizeBytes } = message;
  return {
    name,
    step: step === undefined ? undefined : Number(step),
    kind: ARTIFACT_KINDS[kind === 0 ? 0 : kind - 1]!,
    uri: uri === "" ? undefined : uri,
    content,
    mediaType,
    metadata: new Map(Object.entries(metadata)),
    sha256: sha256 === "" ? undefined : sha256,
    sizeBytes: sizeBytes === undefined ? undefined : Number(sizeBytes),
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
