import { gzipSync } from "node:zlib";
import { frame } from "#wire/connect/testing/raw-call.ts";
import { chooseMethodCall, type Target } from "./methods.ts";
import type { Random } from "./random.ts";

/** One request, however it will be written. */
export interface Ask {
  /** What was chosen, for people. */
  kind: string;
  method: string;
  path: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  extras: readonly Extra[];
}

/** Unusual or invalid parts of a request. Those of one HTTP version are ignored by the other. */
export const EXTRAS = [
  "expect",
  "odd method",
  "wrong type",
  "half gzip",
  "short timeout",
  "foreign origin",
  "forwarded",
  // Of HTTP/1:
  "chunked",
  "connection close",
  "upgrade",
  "garbage after",
  // Of both, each in its way:
  "length too long",
  "length too short",
  "open end",
] as const;
export type Extra = (typeof EXTRAS)[number];

const EXTRAS_MAX = 3;
const ODD_METHODS = ["HEAD", "OPTIONS", "TRACE", "PATCH", "GET", "DELETE", "BREW", "CONNECT"];
const WRONG_TYPES = ["text/plain", "application/json", "application/grpc", "multipart/form-data", "x", ""];

const UNARY_TYPES = [
  "application/json",
  "application/proto",
  "application/grpc",
  "application/grpc-web+proto",
];
const STREAM_TYPES = [
  "application/connect+json",
  "application/connect+proto",
  "application/grpc+proto",
  "application/grpc-web+proto",
];

interface Plain {
  kind: string;
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

export function chooseAsk(random: Random, target: Target): Ask {
  const plain = random.chance(0.7) ? chooseRpc(random, target) : chooseRoute(random, target);
  const [credential, headers] = chooseCredential(random, target);
  plain.headers.push(...headers);
  const extras = chooseExtras(random);
  for (const extra of extras) bend(plain, extra, random);
  return { ...plain, kind: `${plain.kind}, ${credential}`, extras };
}

function chooseExtras(random: Random): Extra[] {
  if (random.chance(0.4)) return [];
  const count = random.between(1, EXTRAS_MAX);
  return [...new Set(Array.from({ length: count }, () => random.pick(EXTRAS)))];
}

function chooseRpc(random: Random, target: Target): Plain {
  const { name, streams, messages } = chooseMethodCall(random, target);
  // Now and then a stream is asked for as one message, and the other way round.
  const framed = random.chance(0.95) ? streams : !streams;
  const type = random.pick(framed ? STREAM_TYPES : UNARY_TYPES);
  const bytes = messages.map((message) => message[type.endsWith("json") ? "json" : "proto"]);
  const isBare = !framed && !type.includes("grpc");
  const body = Buffer.concat(isBare ? bytes : bytes.map((message) => frame(message)));
  const headers: Plain["headers"] = [["content-type", type]];
  if (type.startsWith("application/grpc") && !type.includes("web")) headers.push(["te", "trailers"]);
  return { kind: `${name} ${type}`, method: "POST", path: `/${name}`, headers, body };
}

function chooseRoute(random: Random, { runId, token }: Target): Plain {
  const get = (path: string, headers: Plain["headers"] = []): Plain => ({
    kind: `GET ${path.replace(runId, ":run")}`,
    method: "GET",
    path,
    headers,
    body: Buffer.alloc(0),
  });
  const send = (method: string, path: string, body: Buffer, headers: Plain["headers"] = []): Plain => ({
    kind: `${method} ${path.replace(runId, ":run")}`,
    method,
    path,
    headers,
    body,
  });
  const upload = `/artifacts/${runId}/files/${random.between(0, 7)}`;
  // The same content every time: a long run does not fill the disk.
  const content = Buffer.alloc(random.pick([0, 3, 1_000, 30_000]), "content");
  const json: Plain["headers"] = [["content-type", "application/json"]];
  const credential = { token: token !== undefined && random.chance(0.02) ? token : "wrong" };
  return random.pick([
    () => get("/healthz"),
    () => get("/readyz"),
    () => get("/metrics"),
    () => get(random.pick(["/", "/n/aborts", "/login", "/nowhere"]), [["accept", "text/html"]]),
    () => get("/assets/none.js"),
    () => get(`/artifacts/${runId}/large`),
    () => get(`/artifacts/${runId}/large`),
    () => get(`/artifacts/${runId}/large`, [["range", "bytes=1000-2000000"]]),
    () => get(upload),
    () => send("PUT", upload, content, [["content-type", "application/octet-stream"]]),
    () => send("PUT", upload, content, [["content-type", "application/octet-stream"]]),
    () =>
      send("PUT", upload, content, [
        ["content-range", `bytes 0-${Math.max(content.length - 1, 0)}/60000`],
        ["x-cairn-sha256", "0".repeat(64)],
      ]),
    () => send("DELETE", upload, Buffer.alloc(0)),
    () => get("/results/aborts/result/key"),
    () => send("PUT", "/results/aborts/result/key", Buffer.from('{"a":1}')),
    () => send("POST", "/session", Buffer.from(JSON.stringify(credential)), json),
    () => send("DELETE", "/session", Buffer.alloc(0), json),
  ])();
}

function chooseCredential(random: Random, { token }: Target): [string, Plain["headers"]] {
  const choice = random.pick(["none", "right", "right", "wrong", "malformed", "cookie"] as const);
  switch (choice) {
    case "right":
      return [choice, token === undefined ? [] : [["authorization", `Bearer ${token}`]]];
    case "wrong":
      return [choice, [["authorization", `Bearer cairn_${"w".repeat(40)}`]]];
    case "malformed":
      return [choice, [["authorization", random.pick(["Bearer", "Basic YTpi", "x", "Bearer a b"])]]];
    case "cookie":
      return [choice, [["cookie", "cairn_session=wrong; __Host-cairn=wrong"]]];
    case "none":
      return [choice, []];
  }
}

/** What does not depend on the HTTP version. */
function bend(plain: Plain, extra: Extra, random: Random): void {
  const { headers } = plain;
  switch (extra) {
    case "expect":
      headers.push(["expect", random.chance(0.9) ? "100-continue" : "a-miracle"]);
      break;
    case "odd method":
      plain.method = random.pick(ODD_METHODS);
      break;
    case "wrong type":
      plain.headers = headers.filter(([name]) => name !== "content-type");
      plain.headers.push(["content-type", random.pick(WRONG_TYPES)]);
      break;
    case "half gzip":
      halveGzip(plain);
      break;
    case "short timeout":
      headers.push(["connect-timeout-ms", "1"], ["grpc-timeout", "1m"]);
      break;
    case "foreign origin":
      headers.push(["origin", "http://example.com"]);
      break;
    case "forwarded":
      headers.push(["x-forwarded-for", "10.0.0.1"]);
      break;
    default:
  }
}

function halveGzip(plain: Plain): void {
  const whole = gzipSync(plain.body);
  const half = whole.subarray(0, whole.length / 2);
  const type = plain.headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const isFramed = type.includes("grpc") || type.includes("connect+");
  plain.body = isFramed ? frame(half, 1) : half;
  plain.headers.push(["content-encoding", "gzip"]);
  if (isFramed) plain.headers.push(["grpc-encoding", "gzip"], ["connect-content-encoding", "gzip"]);
}
