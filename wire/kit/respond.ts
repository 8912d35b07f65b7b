import { randomUUID } from "node:crypto";
import { constants } from "node:http2";
import type { Writable } from "node:stream";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { errorBody, httpStatusOf, retryAfterOf } from "#wire/kit/http-error.ts";

/**
 * How much of an unwanted body is read and dropped after an error, and for how long, so that a
 * client which writes everything before it reads still sees the answer.
 */
const DISCARD_BYTES_MAX = 2 * limits.messageBytesMax;
const DISCARD_MS_MAX = 10_000;

const JSON_TYPE = "application/json; charset=utf-8";

/** On everything that is not HTML. A page has its own policy and sets its own header. */
const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["x-frame-options", "DENY"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cache-control", "no-store"],
];

/** Sets headers that keep a browser from running or sniffing a response; existing ones are kept. */
export function setSecurityHeaders(response: HttpResponse): void {
  for (const [name, value] of SECURITY_HEADERS) {
    if (!response.hasHeader(name)) response.setHeader(name, value);
  }
}

/** Answers with JSON; to a HEAD request without the body, but with its length. */
export function sendJson(response: HttpResponse, status: number, value: unknown): void {
  sendBytes(response, status, JSON_TYPE, Buffer.from(JSON.stringify(value)));
}

export function sendBytes(
  response: HttpResponse,
  status: number,
  contentType: string,
  body: Uint8Array,
): void {
  setHead(response, status, contentType, body);
  if (response.req.method === "HEAD") response.end();
  else response.end(body);
}

/** Answers 204, for a call without a result. */
export function sendNothing(response: HttpResponse): void {
  setSecurityHeaders(response);
  response.statusCode = 204;
  response.end();
}

/**
 * Answers with an error, whatever was thrown. When part of an answer was sent already, the
 * exchange is cut off, so that the client does not use half of it as a complete answer. Returns what
 * belongs in the log for an error that is the server's own, and undefined for all others.
 */
export function sendError(
  request: HttpRequest,
  response: HttpResponse,
  thrown: unknown,
): { incident: string; error: CairnError } | undefined {
  const error = CairnError.from(thrown);
  const ours = error.code === "internal" || error.code === "corrupt";
  const incident = ours ? { incident: randomUUID(), error } : undefined;
  if (response.headersSent) {
    if (!response.writableEnded) cutOff(response);
    return incident;
  }
  for (const name of ["content-encoding", "content-disposition", "etag", "last-modified"]) {
    response.removeHeader(name);
  }
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  const body = Buffer.from(JSON.stringify(errorBody(error, incident?.incident)));
  if (isBodyWhole(request) || request.method === "HEAD") {
    sendBytes(response, httpStatusOf(error), JSON_TYPE, body);
    return incident;
  }
  // Over HTTP/1 the end of an answer may close the connection. With bytes unread that is a reset, which
  // can overtake the answer: so it goes out now and ends when the client has sent all it has to.
  setHead(response, httpStatusOf(error), JSON_TYPE, body);
  const out: Writable = response;
  if (request.httpVersionMajor < 2) out.write(body);
  else out.end(body);
  discardRest(request, () => out.end());
  return incident;
}

/** Ends an exchange after an uncaught error, which is in the log under `incident`. */
export function failExchange(request: HttpRequest, response: HttpResponse, incident: string): void {
  if (!response.headersSent && !response.destroyed) {
    const error = new CairnError("internal", "the server failed");
    sendBytes(response, 500, JSON_TYPE, Buffer.from(JSON.stringify(errorBody(error, incident))));
  } else if (!response.writableEnded) cutOff(response);
  request.resume();
}

function setHead(response: HttpResponse, status: number, contentType: string, body: Uint8Array): void {
  setSecurityHeaders(response);
  response.statusCode = status;
  response.setHeader("content-type", contentType);
  response.setHeader("content-length", String(body.byteLength));
}

/** Ends an exchange so that the client knows that what it has is not all. */
function cutOff(response: HttpResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

function isBodyWhole(request: HttpRequest): boolean {
  return request.complete || request.readableEnded || request.destroyed;
}

/** Reads the rest of a body and forgets it, up to a point. */
function discardRest(request: HttpRequest, onDone: () => void): void {
  let discarded = 0;
  const cut = (): void => {
    onDone();
    request.destroy();
  };
  const timer = setTimeout(cut, DISCARD_MS_MAX);
  request.on("data", (chunk: Uint8Array) => {
    discarded += chunk.byteLength;
    if (discarded > DISCARD_BYTES_MAX) cut();
  });
  request.on("end", onDone);
  request.on("close", () => {
    clearTimeout(timer);
    onDone();
  });
  request.on("error", () => {});
  request.resume();
}
