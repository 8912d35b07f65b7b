import type { Writable } from "node:stream";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { HttpResponse } from "#wire/kit/http.ts";
import { toConnectError, type OnFailure } from "../error.ts";
import type { OpenCall } from "../open-call.ts";
import { refusalOf, type Refusal } from "../refusal.ts";

/**
 * How many parts may wait for the client. A stream would take as many small messages as fit in its buffer,
 * and each of them costs a hundred times its size: with many clients that do not read, that is much.
 */
const WAITING_PARTS_MAX = 4;

/**
 * Sends the answer of the generic stack, no faster than the client reads it, and counts every part until
 * the client has it. When there is no room for the first part, which of all but streams is the whole, the
 * answer is an error instead; a stream that has begun is cut off. When the client disconnects, the producer
 * of the answer is stopped. Rejects when not everything could be sent.
 */
export async function sendAnswer(
  answer: UniversalServerResponse,
  response: HttpResponse,
  call: OpenCall,
  onFailure: OnFailure,
): Promise<void> {
  const parts = answer.body?.[Symbol.asyncIterator]();
  const out = new Outlet(response, call);
  const abandon = (): void => void parts?.return?.().catch(() => undefined);
  response.once("close", abandon);
  try {
    await sendParts(answer, parts, out, response, call, onFailure);
  } finally {
    // Also when the client disconnected before the listener was added. An ended answer is not affected.
    abandon();
  }
}

async function sendParts(
  answer: UniversalServerResponse,
  parts: AsyncIterator<Uint8Array> | undefined,
  out: Outlet,
  response: HttpResponse,
  call: OpenCall,
  onFailure: OnFailure,
): Promise<void> {
  // The head goes with the first part: until then the producer of the answer may change it.
  let next = await parts?.next();
  if (next?.done === false) {
    try {
      call.answer(next.value.length);
    } catch (thrown) {
      const error = toConnectError(thrown, onFailure);
      const refusal = refusalOf(answer.header?.get("content-type") ?? "", error);
      if (refusal === undefined) throw error;
      sendRefusal(refusal, response);
      return;
    }
  }
  setHead(response, answer);
  while (next?.done === false) {
    await out.send(next.value);
    next = await parts?.next();
    if (next?.done === false) call.answer(next.value.length);
  }
  if (answer.trailer !== undefined) response.addTrailers(Object.fromEntries(answer.trailer));
  response.end();
}

export function sendRefusal(refusal: Refusal, response: HttpResponse): void {
  if (response.destroyed || response.headersSent) return;
  setHead(response, refusal);
  if (refusal.trailer !== undefined) response.addTrailers(Object.fromEntries(refusal.trailer));
  (response as Writable).end(refusal.content);
}

function setHead(response: HttpResponse, { status, header }: UniversalServerResponse): void {
  response.statusCode = status;
  for (const [name, value] of header ?? []) response.setHeader(name, value);
  // A head that goes together with the end leaves no place for trailers.
  if ("stream" in response) response.writeHead(status);
}

/** The connection to one client. */
class Outlet {
  readonly #response: HttpResponse;
  readonly #call: OpenCall;
  #waiting = 0;
  #gone: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(response: HttpResponse, call: OpenCall) {
    this.#response = response;
    this.#call = call;
    const end = (): void => this.#end(new Error("the client disconnected"));
    response.on("error", end);
    response.once("close", end);
    if (response.destroyed) end();
  }

  /** Resolves when the next part may be sent. Rejects when the client has disconnected. */
  async send(part: Uint8Array): Promise<void> {
    const out: Writable = this.#response;
    this.#waiting++;
    const roomy = out.write(part, (error) => {
      this.#waiting--;
      this.#call.answered(part.length);
      if (error instanceof Error) this.#gone ??= error;
      this.#wake?.();
    });
    const waitingMax = roomy ? WAITING_PARTS_MAX : 1;
    while (this.#waiting >= waitingMax && this.#gone === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#gone !== undefined) throw this.#gone;
  }

  #end(cause: Error): void {
    this.#gone ??= cause;
    this.#wake?.();
  }
}
