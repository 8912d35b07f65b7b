import { limits } from "#lang/limits.ts";
import { requireAtMost } from "#core/types/check.ts";
import type { Envelope, SeqRange } from "#core/types/envelope.ts";
import type { HostName } from "#core/types/host.ts";
import type { SeriesPoints } from "#core/types/series.ts";
import { ArtifactDecoder } from "./artifact.ts";
import { ChangeDecoder } from "./change.ts";
import { LogDecoder } from "./log.ts";
import { decodeSeries, expect } from "./series.ts";
import { requireNoRun } from "../map/host.ts";
import { toRunRef } from "../map/run.ts";
import { LENGTH, ProtobufReader, VARINT } from "./protobuf-reader.ts";

/**
 * Decodes cairn.v1.Envelope straight into core's columns. Every envelope passes through here, also
 * those that came as JSON or through the generic stack, so there is one set of rules.
 */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = new ProtobufReader(buffer);
  let run: RunNames | undefined;
  let host: HostName | undefined;
  let writer = "";
  let seq = 0;
  let pointsLeft: number = limits.envelopePointsMax;
  const series: SeriesPoints[] = [];
  const lost: SeqRange[] = [];
  let log: LogDecoder | undefined;
  let artifacts: ArtifactDecoder | undefined;
  let change: ChangeDecoder | undefined;
  while (reader.more) {
    const tag = reader.tag();
    switch (tag >>> 3) {
      case 1:
        expect(tag, LENGTH);
        // Given in pieces, a message is the sum of them.
        run ??= { id: "", path: "", alias: "", namespace: "" };
        decodeRunNames(reader.message(), run);
        break;
      case 2:
        expect(tag, LENGTH);
        writer = reader.text("writer");
        break;
      case 3:
        expect(tag, VARINT);
        seq = reader.uint64("seq");
        break;
      case 4:
        expect(tag, LENGTH);
        series.push(decodeSeries(reader.message(), pointsLeft));
        pointsLeft -= series.at(-1)!.points.count;
        requireAtMost(series.length, limits.envelopeSeriesMax, "series in one envelope");
        break;
      case 8:
        expect(tag, LENGTH);
        lost.push(decodeRange(reader.message()));
        requireAtMost(lost.length, limits.envelopeLostRangesMax, "lost ranges in one envelope");
        break;
      case 11:
        expect(tag, LENGTH);
        (log ??= new LogDecoder()).add(reader.message());
        break;
      case 12:
        expect(tag, LENGTH);
        (artifacts ??= new ArtifactDecoder()).add(reader.message());
        break;
      case 13:
        expect(tag, LENGTH);
        decodeHostName(reader.message(), (host ??= { namespace: "", name: "" }));
        break;
      default:
        if (!(change ??= new ChangeDecoder()).add(tag, reader)) reader.skip(tag);
    }
  }
  return {
    run: host === undefined ? toRunRef(run) : requireNoRun(run, host),
    host,
    writer,
    seq,
    series,
    change: change?.finish(),
    lost,
    log: log?.groups,
    artifacts: artifacts?.records,
  } as Envelope;
}

interface RunNames {
  id: string;
  path: string;
  alias: string;
  namespace: string;
}

function decodeRunNames(reader: ProtobufReader, ref: RunNames): void {
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ((1 << 3) | LENGTH)) ref.id = reader.text("run id");
    else if (tag === ((2 << 3) | LENGTH)) ref.path = reader.text("run path");
    else if (tag === ((3 << 3) | LENGTH)) ref.alias = reader.text("alias");
    else if (tag === ((4 << 3) | LENGTH)) ref.namespace = reader.text("namespace");
    else reader.skip(tag);
  }
}

function decodeHostName(reader: ProtobufReader, host: HostName): void {
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ((1 << 3) | LENGTH)) host.namespace = reader.text("namespace");
    else if (tag === ((2 << 3) | LENGTH)) host.name = reader.text("host name");
    else reader.skip(tag);
  }
}

function decodeRange(reader: ProtobufReader): SeqRange {
  const range = { first: 0, last: 0 };
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ((1 << 3) | VARINT)) range.first = reader.uint64("lost range");
    else if (tag === ((2 << 3) | VARINT)) range.last = reader.uint64("lost range");
    else reader.skip(tag);
  }
  return range;
}
