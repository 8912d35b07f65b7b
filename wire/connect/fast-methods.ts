import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import type { Caller } from "#core/access/caller.ts";
import type { EnvelopeAck } from "#core/types/envelope.ts";
import {
  Encoding,
  EnvelopeAckSchema,
  ReadSeriesRequestSchema,
  ReadSeriesResponseSchema,
  WriteEnvelopesResponseSchema,
} from "#proto/cairn/v1/metric_pb.ts";
import { SearchRunsRequestSchema, SearchRunsResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { binaryForm } from "./answer/answer-form.ts";
import { checkBinary } from "./check/binary.ts";
import type { ConnectOptions } from "./core.ts";
import { decodeEnvelope } from "./decode/envelope.ts";
import { decodeEnvelopes } from "./decode/envelopes.ts";
import { encodeRead } from "./answer/encode-read.ts";
import { fromAck, fromOutcomes } from "./map/ack.ts";
import { fromFound, toSearchRuns } from "./map/run.ts";
import { fromReadResult, toReadRequest } from "./map/series.ts";

/** A method that accepts and returns bytes. */
export interface FastMethod {
  /** As "package.Service/Method". */
  name: string;
  /** The answer in pieces, which together are one message. */
  answer(caller: Caller, message: Uint8Array): Promise<readonly Uint8Array[]>;
}

/** Those that carry points, and the search, which must be fast. */
export function fastMethods({
  core: { ingest, metrics, positions, runs },
  onFailure,
}: Pick<ConnectOptions, "core" | "onFailure">): FastMethod[] {
  return [
    {
      name: "cairn.v1.MetricService/WriteEnvelope",
      answer: async (caller, message) => [encodeAck(await ingest.write(caller, decodeEnvelope(message)))],
    },
    {
      name: "cairn.v1.MetricService/WriteEnvelopes",
      answer: async (caller, message) => {
        const outcomes = await ingest.writeAll(caller, decodeEnvelopes(message));
        return [toBinary(WriteEnvelopesResponseSchema, fromOutcomes(outcomes, onFailure))];
      },
    },
    {
      name: "cairn.v1.MetricService/ReadSeries",
      answer: async (caller, message) => {
        checkBinary(ReadSeriesRequestSchema, message);
        const request = fromBinary(ReadSeriesRequestSchema, message);
        const position = positions.now();
        const result = await metrics.read(caller, toReadRequest(request, binaryForm(request.encoding)));
        if (request.encoding !== Encoding.NUMBERS) return encodeRead(result, position);
        const answer = fromReadResult(result, request.encoding);
        answer.position = position;
        return [toBinary(ReadSeriesResponseSchema, answer)];
      },
    },
    {
      name: "cairn.v1.RunService/SearchRuns",
      answer: async (caller, message) => {
        checkBinary(SearchRunsRequestSchema, message);
        const request = fromBinary(SearchRunsRequestSchema, message);
        const position = positions.now();
        const answer = fromFound(await runs.search(caller, toSearchRuns(request)));
        answer.position = position;
        return [toBinary(SearchRunsResponseSchema, answer)];
      },
    },
  ];
}

const scratch = new ByteWriter(64);

function encodeAck(ack: EnvelopeAck): Uint8Array {
  const { seq, duplicate, points, withheld } = ack;
  // Rare: the rest is for thousands of calls a second.
  if (withheld !== undefined) return toBinary(EnvelopeAckSchema, fromAck(ack));
  if (seq > 0) {
    scratch.u8(0x08);
    scratch.varint(seq);
  }
  if (duplicate) {
    scratch.u8(0x10);
    scratch.u8(1);
  }
  if (points > 0) {
    scratch.u8(0x18);
    scratch.varint(points);
  }
  return scratch.finish();
}
