import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJson } from "@connectrpc/connect/protocol-connect";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";
import { EnvelopeAckSchema, type Withheld } from "#proto/cairn/v1/metric_pb.ts";
import type { Cairn } from "../client.ts";
import { Failure } from "../failure.ts";
import { httpFailure } from "../http-failure.ts";
import { isFinal } from "../retry.ts";
import { readAnswer } from "./read-answer.ts";

export interface SeqRange {
  first: number;
  last: number;
}

export interface EnvelopeToSend {
  runId: string;
  seq: number;
  /** cairn.v1.Envelope without `run`. */
  body: Uint8Array;
  /** Numbers before it that will never come. */
  lost: SeqRange | undefined;
}

/** What the server said, when it said something that another attempt would not change. */
export type Sent =
  | { kind: "stored"; duplicate: boolean; withheld: Withheld | undefined }
  | { kind: "gap"; expected: number; failure: Failure }
  | { kind: "reused"; failure: Failure }
  | { kind: "refused"; failure: Failure };

const SEND_MS_MAX = 60_000;

/** Throws Failure for errors that may pass. */
export async function sendEnvelope(
  cairn: Cairn,
  envelope: EnvelopeToSend,
  signal: AbortSignal,
): Promise<Sent> {
  const { seq } = envelope;
  const { status, bytes, headers } = await readAnswer(cairn, "/cairn.v1.MetricService/WriteEnvelope", {
    method: "POST",
    headers: { "content-type": "application/proto" },
    body: withRun(envelope),
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS_MAX)]),
  });
  if (status === 200 && headers.get("content-type") === "application/proto") {
    const ack = tryDecode(bytes);
    if (ack !== undefined && Number(ack.seq) === seq) {
      return { kind: "stored", duplicate: ack.duplicate, withheld: ack.withheld };
    }
  }
  if (status === 200) throw notCairn(cairn.url, "its answer is not an acknowledgement");
  const [error, isOurs] = errorOf(status, bytes, headers, cairn.url);
  // A refusal without an error of a Cairn server may come from a proxy.
  if (!isOurs) throw error;
  if (error.reason === "SEQ_GAP") {
    return { kind: "gap", expected: Number(error.facts["expected"]), failure: error };
  }
  if (error.reason === "SEQ_REUSED") return { kind: "reused", failure: error };
  if (isFinal(error)) return { kind: "refused", failure: error };
  throw error;
}

function tryDecode(bytes: Uint8Array) {
  try {
    return fromBinary(EnvelopeAckSchema, bytes);
  } catch {
    return undefined;
  }
}

/** The error, and whether a Cairn server has made it. */
function errorOf(status: number, bytes: Uint8Array, headers: Headers, url: string): [Failure, boolean] {
  const text = Buffer.from(bytes).toString();
  const fallback = new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status));
  let error: ConnectError;
  try {
    error = errorFromJson(JSON.parse(text), headers, fallback);
  } catch {
    return [httpFailure(`cannot write to ${url}`, { status, headers }, text), false];
  }
  return [Failure.from(error, url), error.findDetails(ErrorDetailSchema).length > 0];
}

function notCairn(url: string, cause: string): Failure {
  return new Failure(Code.Unavailable, `cannot write to ${url}: ${cause}`, {
    reason: "NOT_CAIRN",
    hint: "check the address: another program may answer there",
  });
}

const LENGTH = 2;
const scratch = new ByteWriter(128);

/** Field 1 is put in front, `lost` at the end: the bytes in the spool are not changed. */
function withRun({ runId, body, lost }: EnvelopeToSend): Uint8Array<ArrayBuffer> {
  scratch.reset();
  scratch.varint((1 << 3) | LENGTH);
  scratch.varint(runId.length + 2);
  scratch.varint((1 << 3) | LENGTH);
  scratch.text(runId);
  const head = scratch.finish();
  if (lost !== undefined) {
    const range = new ByteWriter(32);
    range.varint(1 << 3);
    range.varint(lost.first);
    range.varint(2 << 3);
    range.varint(lost.last);
    scratch.varint((8 << 3) | LENGTH);
    scratch.varint(range.length);
    scratch.copy(range.written());
  }
  const tail = scratch.finish();
  const message = new Uint8Array(head.length + body.length + tail.length);
  message.set(head);
  message.set(body, head.length);
  message.set(tail, head.length + body.length);
  return message;
}
