import {
  ConnectError,
  createConnectRouter,
  type ConnectRouter,
  type ContextValues,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
} from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { limits } from "#lang/limits.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { contentTypeOf } from "#wire/kit/router.ts";
import { withContent } from "./answer/answer-content.ts";
import { checkRequest } from "./check/request.ts";
import { closeSoon } from "./close-soon.ts";
import type { OnFailure } from "./error.ts";
import type { OpenCall } from "./open-call.ts";
import { isProtocolType, refusalOf, type Refusal } from "./refusal.ts";
import { sendAnswer, sendRefusal } from "./answer/send-answer.ts";
import { TIMEOUT_MS_MAX } from "./timeout.ts";

// Big answers are columns of doubles, which gzip hardly shrinks and slows down twentyfold.
const COMPRESS_NOTHING = Number.MAX_SAFE_INTEGER;

export interface AdapterOptions {
  routes(router: ConnectRouter): void;
  /** Runs before anything of a body is read; throws a ConnectError to refuse. A second call passes. */
  requestGate(context: Pick<HandlerContext, "method" | "values">): Promise<void>;
  interceptors: Interceptor[];
  openCall(): OpenCall;
  contextValues(request: HttpRequest, call: OpenCall): ContextValues;
  onFailure: OnFailure;
}

/** The generic RPC stack behind a check of every message, as a listener for requests. */
export function connectAdapter(
  options: AdapterOptions,
): (request: HttpRequest, response: HttpResponse) => void {
  const router = createConnectRouter({
    requestGate: options.requestGate,
    interceptors: options.interceptors,
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: limits.messageBytesMax,
    compressMinBytes: COMPRESS_NOTHING,
    maxTimeoutMs: TIMEOUT_MS_MAX,
    jsonOptions: { ignoreUnknownFields: false },
  });
  options.routes(router);
  const handlers = new Map<string, UniversalHandler>(
    router.handlers.map((handler) => [handler.requestPath, handler]),
  );
  return (request, response) => {
    const handler = handlers.get(request.url?.split("?", 1)[0] ?? "")!;
    const call = options.openCall();
    response.once("close", () => call.close());
    endEarly(request, response);
    const values = options.contextValues(request, call);
    const serve = async (): Promise<void> => {
      if (request.method === "POST") {
        const refusal = await refusalBy(options.requestGate, handler, request, values);
        if (refusal !== undefined) return sendRefusal(refusal, response);
      }
      const received = universalRequestFromNodeRequest(request, response, undefined, values);
      const checked = await handler(checkRequest(received, handler.method, call, options.onFailure));
      const answer = await withContent(checked, handler.method, values, call, options.onFailure);
      await sendAnswer(answer, response, call, options.onFailure);
    };
    // The client disconnected. All other failures are answers.
    serve().catch(() => response.destroy());
  };
}

/**
 * Calls the gate before the generic stack, which needs many times as long to refuse: a refused caller
 * must cost the least. Requests without a content type of a known protocol are left to the stack.
 */
async function refusalBy(
  gate: AdapterOptions["requestGate"],
  { method }: UniversalHandler,
  request: HttpRequest,
  values: ContextValues,
): Promise<Refusal | undefined> {
  const type = contentTypeOf(request.headers["content-type"]);
  if (!isProtocolType(type)) return undefined;
  try {
    await gate({ method, values });
    return undefined;
  } catch (thrown) {
    return refusalOf(type, ConnectError.from(thrown));
  }
}

/** An answer may be sent before the client has sent everything: the rest of the request is not awaited. */
function endEarly(request: HttpRequest, response: HttpResponse): void {
  if ("stream" in response) {
    const { stream } = response;
    stream.once("wantTrailers", () => closeSoon(stream));
  } else response.once("finish", () => request.resume());
}
