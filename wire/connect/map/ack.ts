import { create } from "@bufbuild/protobuf";
import { summarizeWrites, type WriteOutcome } from "#core/ingest/write-outcome.ts";
import type { EnvelopeAck } from "#core/types/envelope.ts";
import {
  EnvelopeAckSchema,
  WriteEnvelopesResponseSchema,
  type EnvelopeAck as AckMessage,
  type WriteEnvelopesResponse,
} from "#proto/cairn/v1/metric_pb.ts";
import { toItemError, type OnFailure } from "../error.ts";
import { fromForbidden } from "./namespace.ts";

export function fromAck({ seq, duplicate, points, withheld }: EnvelopeAck): AckMessage {
  const forbidden = withheld && fromForbidden(withheld.forbidden);
  return create(EnvelopeAckSchema, {
    seq: BigInt(seq),
    duplicate,
    points: BigInt(points),
    ...(withheld !== undefined && {
      withheld: {
        lines: BigInt(withheld.lines),
        artifacts: BigInt(withheld.artifacts),
        ...(forbidden !== undefined && { forbidden }),
      },
    }),
  });
}

export function fromOutcomes(
  outcomes: readonly WriteOutcome[],
  onFailure: OnFailure,
): WriteEnvelopesResponse {
  return create(WriteEnvelopesResponseSchema, {
    results: outcomes.map((outcome) =>
      outcome.ok ? { ack: fromAck(outcome.ack) } : { error: toItemError(outcome.error, onFailure) },
    ),
    rejected: summarizeWrites(outcomes).rejected,
  });
}
