import { toBinary, type DescMethod } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { answerKey } from "../context.ts";
import { toConnectError, type OnFailure } from "../error.ts";
import { frameOf } from "../frames.ts";
import { jsonSlices } from "./json-slices.ts";
import type { OpenCall } from "../open-call.ts";
import { refusalOf } from "../refusal.ts";

/**
 * Puts the message of a call into the answer that the generic stack has made for an empty one. The stack
 * would make all of the text at once, and no other request is served meanwhile; here it is made in slices, and
 * not for a client that has disconnected. Errors and streams are not changed.
 */
export async function withContent(
  answer: UniversalServerResponse,
  method: DescMethod,
  values: ContextValues,
  call: OpenCall,
  onFailure: OnFailure,
): Promise<UniversalServerResponse> {
  const message = values.get(answerKey);
  if (message === undefined || answer.body === undefined || answer.body === null) {
    call.endWork();
    return answer;
  }
  values.delete(answerKey);
  const header = new Headers(answer.header);
  const type = header.get("content-type") ?? "";
  let content: Uint8Array;
  try {
    content = type.endsWith("json")
      ? Buffer.concat(await jsonSlices(method.output, message, { signal: call.signal }))
      : toBinary(method.output, message);
  } catch (thrown) {
    const refusal = refusalOf(type, toConnectError(thrown, onFailure));
    if (refusal === undefined) throw thrown;
    return { ...refusal, body: replaceFirst(answer.body, refusal.content) };
  } finally {
    call.endWork();
  }
  if (type === "application/json" || type === "application/proto") {
    header.set("content-length", String(content.length));
    return { ...answer, header, body: replaceFirst(answer.body, content) };
  }
  return { ...answer, header, body: replaceFirst(answer.body, frameOf(0, content)) };
}

/** The empty message is the first thing in a body; behind it there may be trailers. */
async function* replaceFirst(
  body: AsyncIterable<Uint8Array>,
  content: Uint8Array,
): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const part of body) {
    yield first ? content : part;
    first = false;
  }
}
