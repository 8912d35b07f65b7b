import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { CairnError } from "#lang/errors.ts";
import { type Guard, type GuardFacts, isLoopback, isLoopbackAuthority } from "#server/listen/guard.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { errorBody, httpStatusOf } from "#wire/kit/http-error.ts";
import { sendError } from "#wire/kit/respond.ts";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Answers a request the guard refuses. True: it is allowed. */
export function guardRequest(guard: Guard, request: HttpRequest, response: HttpResponse): boolean {
  const refusal =
    checkOneHost(request.rawHeaders) ?? guard(factsOf(request.headers, request.method, request.url));
  if (refusal === undefined) return true;
  sendError(request, response, refusal);
  return false;
}

/** The same for a raw HTTP/2 stream, whose parser refuses a second host itself. */
export function guardStream(guard: Guard, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const refusal = guard(factsOf(headers, headers[":method"], headers[":path"]));
  if (refusal === undefined) return true;
  refuseStream(stream, refusal);
  return false;
}

/**
 * Whether a request comes from this machine: a loopback socket, a loopback name in Host, and no header of a proxy that
 * forwards remote requests. Only such a caller may be the owner.
 */
export function isLocalCaller(address: string | undefined, headers: Headers): boolean {
  if (!isLoopback(address) || !isLoopbackAuthority(single(headers[":authority"] ?? headers["host"])))
    return false;
  for (const name in headers) {
    if (PROXY_HEADERS.has(name) || name.startsWith("x-forwarded")) return false;
  }
  return true;
}

const PROXY_HEADERS: ReadonlySet<string> = new Set([
  "forwarded",
  "via",
  "x-original-forwarded-for",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
]);

/** Of several Node returns the first, and a proxy may have checked another one. */
function checkOneHost(rawHeaders: readonly string[]): CairnError | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts < 2) return undefined;
  return new CairnError("invalid", "cannot accept request: it has more than one Host", {
    reason: "HOST_REFUSED",
  });
}

function factsOf(headers: Headers, method: string | undefined, path: string | undefined): GuardFacts {
  return {
    method: method ?? "",
    path: path ?? "",
    authority: single(headers[":authority"]),
    host: single(headers["host"]),
    origin: single(headers["origin"]),
    secFetchSite: single(headers["sec-fetch-site"]),
    contentType: single(headers["content-type"]),
  };
}

/** Duplicate values do not match anything, and so are refused. */
function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

function refuseStream(stream: ServerHttp2Stream, error: CairnError): void {
  if (stream.destroyed) return;
  stream.respond({
    ":status": httpStatusOf(error),
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  stream.end(JSON.stringify(errorBody(error)));
  stream.resume();
}
