import type { HandlerContext } from "@connectrpc/connect";
import type { AnswerForm } from "#core/series/read-budget.ts";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";

/** gRPC, gRPC-Web and Connect; the base64 of gRPC-Web is not among them. */
const BINARY = /^application\/(?:proto|grpc(?:-web)?(?:\+proto)?)\s*(?:;|$)/i;

/** The encoding of the columns of an answer, by the requested one and that of the request. */
export function answerForm(encoding: Encoding, { requestHeader }: HandlerContext): AnswerForm {
  // Whatever is not surely binary is counted as text, which is allowed less.
  return BINARY.test(requestHeader.get("content-type") ?? "") ? binaryForm(encoding) : "text";
}

/** The same where the message is known to be binary. */
export function binaryForm(encoding: Encoding): AnswerForm {
  return encoding === Encoding.NUMBERS ? "text" : "bytes";
}
