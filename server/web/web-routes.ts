import { randomBytes } from "node:crypto";
import { CairnError, quote } from "#lang/errors.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { sendBytes } from "#wire/kit/respond.ts";
import { contentTypeOf, type Call, type Route } from "#wire/kit/router.ts";
import { homePage } from "./home-page.ts";
import type { SessionCookie } from "../auth/session-cookie.ts";
import type { WebFiles } from "./web-files.ts";

/** Addresses of pages. All get the same document, which renders the page of its address. */
export const PAGE_PATHS = [
  "/",
  "/n",
  "/n/*namespace",
  "/r/:run",
  "/compare",
  "/explore",
  "/explore/*namespace",
  "/about",
  "/access",
  "/login",
] as const;

const YEAR_S = 31_536_000;

export interface WebParts {
  /** undefined when the pages were not built: then all show how to call the API. */
  files: WebFiles | undefined;
  version: string;
  needsToken: boolean;
  cookie: Pick<SessionCookie, "isMissing">;
}

/** The pages and their assets. They have no data: that comes from the API, with its access checks. */
export function webRoutes(parts: WebParts): Route[] {
  return [
    ...PAGE_PATHS.map((path): Route => ({
      method: "GET",
      path,
      permission: "public",
      handler: ({ request, response }) => sendPage(parts, request, response, 200),
    })),
    {
      method: "GET",
      path: "/assets/:file",
      permission: "public",
      handler: (call) => sendAsset(parts.files, call),
    },
  ];
}

/** For unknown addresses: a browser that requests a page gets the not-found page. False for all others. */
export function sendMissingPage(parts: WebParts, request: HttpRequest, response: HttpResponse): boolean {
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (parts.files === undefined || !isReading || !takesHtml(request.headers.accept)) return false;
  // A service or a file, for any client.
  if (/^\/[^/?]*\./.test(request.url ?? "")) return false;
  sendPage(parts, request, response, 404);
  return true;
}

/** By name: a client that accepts anything is not a browser that opens a page. */
function takesHtml(accept = ""): boolean {
  return accept.split(",").some((type) => contentTypeOf(type) === "text/html");
}

function sendPage(parts: WebParts, request: HttpRequest, response: HttpResponse, status: 200 | 404): void {
  const nonce = randomBytes(16).toString("base64");
  response.setHeader("content-security-policy", policy(nonce));
  // Then the page need not make a call to find out.
  const isSignedOut = parts.needsToken && parts.cookie.isMissing(request.headers);
  const page = parts.files?.page(nonce, { isSignedOut }) ?? plainPage(parts, request, nonce);
  sendBytes(response, status, "text/html; charset=utf-8", page);
}

function plainPage({ version, needsToken }: WebParts, request: HttpRequest, nonce: string): Buffer {
  const authority = request.headers[":authority"] ?? request.headers.host ?? "127.0.0.1:4700";
  const url = `${"encrypted" in request.socket ? "https" : "http"}://${String(authority)}`;
  return Buffer.from(homePage({ version, url, needsToken, nonce }));
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    // Not 'self', because uploads of users have the same origin.
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "worker-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "frame-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sendAsset(files: WebFiles | undefined, { request, response, params }: Call): void {
  const name = params.get("file")!;
  const asset = files?.asset(name);
  if (asset === undefined) throw new CairnError("not-found", `cannot find asset ${quote(name)}`);
  // Its name changes with its content.
  response.setHeader("cache-control", `public, max-age=${YEAR_S}, immutable`);
  response.setHeader("vary", "accept-encoding");
  // A worker has the policy of its own file, and the one for the watch must be able to call the API.
  response.setHeader("content-security-policy", "default-src 'none'; connect-src 'self'");
  const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  if (asset.gzipped === undefined || !takesGzip) {
    sendBytes(response, 200, asset.contentType, asset.bytes);
    return;
  }
  response.setHeader("content-encoding", "gzip");
  sendBytes(response, 200, asset.contentType, asset.gzipped);
}
