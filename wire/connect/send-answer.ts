import type { Writable } from "node:stream";
import type { ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import type { HttpResponse } from "#wire/kit/http.ts";
import { toConnectError, type OnFailure } from "./error.ts";
import { frameOf } from "./frames.ts";
import type { OpenCall } from "./open-call.ts";

/**
 * How many parts may wait for the client. A stream would take as many small messages as fit in its buffer,
 * and each of them costs a hundred times its size: with many clients that do not read, that is much.
 */
const WAITING_PARTS_MAX = 4;

/**
 * Sends what the generic stack answers, no faster than the client takes it, and counts every part until
 * the client has it. When there is no room for the first part, which of all but streams is the whole, the
 * answer is an error instead; a stream that has begun is cut off. When the client is gone, whatever makes
 * the answer is told to stop. Rejects when not everything could be sent.
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
  // The head goes with the first part: until then whoever makes the answer may change it.
  let next = await parts?.next();
  if (next?.done === false) {
    try {
      call.answer(next.value.length);
    } catch (thrown) {
      abandon();
      out.end(...refused(answer, toConnectError(thrown, onFailure)));
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

function setHead(response: HttpResponse, { status, header }: UniversalServerResponse): void {
  response.statusCode = status;
  for (const [name, value] of header ?? []) response.setHeader(name, value);
  // A head that goes together with the end leaves no place for trailers.
  if ("stream" in response) response.writeHead(status);
}

/** The way out to one client. */
class Outlet {
  readonly #response: HttpResponse;
  readonly #call: OpenCall;
  #waiting = 0;
  #gone: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(response: HttpResponse, call: OpenCall) {
    this.#response = response;
    this.#call = call;
    const end = (): void => this.#end(new Error("the client went away"));
    response.on("error", end);
    response.once("close", end);
  }

  /** Resolves when the next part may come. Rejects when there is nobody to send to. */
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

  end(answer: UniversalServerResponse, body: Uint8Array): void {
    setHead(this.#response, answer);
    if (answer.trailer !== undefined) this.#response.addTrailers(Object.fromEntries(answer.trailer));
    (this.#response as Writable).end(body);
  }

  #end(cause: Error): void {
    this.#gone ??= cause;
    this.#wake?.();
  }
}

/** The same answer with an error for a body, in its own protocol. */
function refused(
  { status, header = new Headers() }: UniversalServerResponse,
  error: ConnectError,
): [answer: UniversalServerResponse, body: Uint8Array] {
  const type = header.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) {
    const trailer = trailerSerialize(setTrailerStatus(new Headers(), error));
    return [{ status, header }, frameOf(trailerFlag, trailer)];
  }
  if (type.startsWith("application/grpc")) {
    return [{ status, header, trailer: setTrailerStatus(new Headers(), error) }, Buffer.alloc(0)];
  }
  // Of a Connect stream the end says how it went, which only the generic stack can write.
  if (type.startsWith("application/connect")) throw error;
  const body = errorToJsonBytes(error, undefined);
  const headers = new Headers(error.metadata);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(body.length));
  return [{ status: codeToHttpStatus(error.code), header: headers }, body];
}
