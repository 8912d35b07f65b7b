import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { pointsOf } from "#core/ingest/check-envelope.ts";
import { requireAtMost } from "#core/types/check.ts";
import type { Envelope } from "#core/types/envelope.ts";
import { decodeEnvelope } from "./envelope.ts";
import { LENGTH, ProtobufReader } from "./protobuf-reader.ts";
import { expect } from "./series.ts";

/** Of cairn.v1.WriteEnvelopesRequest. */
const ENVELOPES = 1;

/**
 * Decodes cairn.v1.WriteEnvelopesRequest: each envelope, or why it cannot be read. Every envelope has the limits of a single
 * one, and all of them together those of a call, so that at most one envelope is decoded over these.
 */
export function decodeEnvelopes(bytes: Uint8Array): (Envelope | CairnError)[] {
  const reader = new ProtobufReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const decoded: (Envelope | CairnError)[] = [];
  let points = 0;
  let objects = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag >>> 3 !== ENVELOPES) {
      reader.skip(tag);
      continue;
    }
    expect(tag, LENGTH);
    requireAtMost(decoded.length + 1, limits.callEnvelopesMax, "envelopes in one call");
    const end = reader.span();
    const one = decodeOne(reader.bytes.subarray(reader.position, end));
    reader.position = end;
    decoded.push(one);
    if (one instanceof CairnError) continue;
    points += pointsOf(one);
    requireAtMost(points, limits.callPointsMax, "points in one call");
    objects += objectsOf(one);
    requireAtMost(objects, limits.messageObjectsMax, "objects in one message");
  }
  return decoded;
}

function decodeOne(bytes: Uint8Array): Envelope | CairnError {
  try {
    return decodeEnvelope(bytes);
  } catch (thrown) {
    return CairnError.from(thrown);
  }
}

/** Parts of an envelope that take memory of their own, however short. */
function objectsOf({ series, lost, change, log = [], artifacts = [] }: Envelope): number {
  let objects = 1 + series.length + lost.length + log.length + artifacts.length;
  for (const { labels } of series) objects += labels.length;
  for (const { metadata } of artifacts) objects += metadata.size;
  for (const part of [change?.captured, change?.addProvenance]) {
    if (part === undefined) continue;
    const { trainingData, testData, command, environment } = part;
    objects += trainingData.length + testData.length + command.length + environment.size;
  }
  return objects + (change?.params?.size ?? 0) + (change?.tags?.size ?? 0);
}
