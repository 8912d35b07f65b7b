import { create } from "@bufbuild/protobuf";
import type { EnvelopeAck } from "#core/types/envelope.ts";
import { EnvelopeAckSchema, type EnvelopeAck as AckMessage } from "#proto/cairn/v1/metric_pb.ts";
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
