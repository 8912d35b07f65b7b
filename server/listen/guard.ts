import { isIP } from "node:net";
import { CairnError, quote } from "#lang/errors.ts";
import { checkUrl } from "#server/auth/url-token.ts";

/**
 * Protects a server that trusts its own machine from foreign web pages.
 *
 * A page on evil.example can make a browser send requests to 127.0.0.1 in two ways. It can let its own
 * name resolve to 127.0.0.1 (DNS rebinding): then Host is evil.example, and the host check refuses it. Or it
 * can post to http://127.0.0.1:4700 directly (CSRF): then Host is fine, but Origin and Sec-Fetch-Site
 * show the origin of the page, and a form cannot choose a content type that our RPCs accept.
 *
 * Reading by GET needs no origin check: without CORS headers, which this server never sends, a
 * page cannot see the answer, and no GET changes anything. RPCs by GET are still checked.
 */
export interface GuardSettings {
  /** What the port is bound to, such as "127.0.0.1" or "::". */
  host: string;
  publicUrl?: string | undefined;
  /** Further names, without port. */
  allowedHosts?: readonly string[] | undefined;
}

/** The input of the guard. Header values are unchanged; undefined if absent. */
export interface GuardFacts {
  method: string;
  /** With or without query. */
  path: string;
  /** `:authority` in HTTP/2. */
  authority: string | undefined;
  /** The Host header; in HTTP/2 it may be sent beside `:authority` and must then be equal. */
  host: string | undefined;
  origin: string | undefined;
  secFetchSite: string | undefined;
  contentType: string | undefined;
}

/** undefined: let it pass. */
export type Guard = (facts: GuardFacts) => CairnError | undefined;

interface HostPort {
  name: string;
  /** "" when not given. */
  port: string;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);
/**
 * The end of a path of a gRPC or Connect method: /cairn.v1.RunService/GetRun. Names of
 * artifacts may look like anything.
 */
const RPC_PATH = /^(?!\/artifacts\/).*\/[A-Za-z_]\w*(?:\.\w+)+\/\w+$/;
const RPC_CONTENT_TYPE =
  /^application\/(?:json|proto|grpc(?:\+(?:proto|json))?|grpc-web(?:-text)?(?:\+(?:proto|json))?|connect\+(?:proto|json))$/;

export function buildGuard(settings: GuardSettings): Guard {
  const hosts = knownHosts(settings);
  const anyAddress = isWildcard(settings.host);
  const publicOrigin = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).origin;

  return (facts) => {
    const shown = checkUrl(facts.path);
    if (shown !== undefined) return shown;
    const given = facts.authority ?? facts.host;
    if (given === undefined) return hostRefusal("", "it is missing");
    const host = parseHostPort(given);
    if (host === undefined) return hostRefusal(given, "it is not a host name");
    if (facts.authority !== undefined && facts.host !== undefined) {
      const other = parseHostPort(facts.host);
      if (other?.name !== host.name || other.port !== host.port) {
        return hostRefusal(facts.host, `it differs from the authority ${quote(facts.authority)}`);
      }
    }
    if (!isKnownHost(host.name, hosts, anyAddress)) return hostRefusal(given, "not a name of this server");

    const rpc = RPC_PATH.test(withoutQuery(facts.path));
    if (READING.has(facts.method) && !(rpc && facts.method === "GET")) return undefined;
    return (
      checkFetchSite(facts.secFetchSite) ??
      checkOrigin(facts.origin, host, publicOrigin) ??
      (rpc && !READING.has(facts.method) ? checkContentType(facts.contentType) : undefined)
    );
  };
}

/** Whether a socket's address is this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  if (isIP(plain) === 4) return plain.startsWith("127.");
  return plain === "::1" || plain === "0:0:0:0:0:0:0:1";
}

/** Whether binding this host makes the port reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === "localhost" || isLoopback(host);
}

/** Whether a Host header or `:authority` is a loopback name of this machine. */
export function isLoopbackAuthority(authority: string | undefined): boolean {
  const host = authority === undefined ? undefined : parseHostPort(authority);
  return host !== undefined && isLoopbackHost(host.name);
}

function knownHosts(settings: GuardSettings): ReadonlySet<string> {
  const hosts = new Set(["localhost", "::1"]);
  if (!isWildcard(settings.host)) hosts.add(plainName(settings.host));
  if (settings.publicUrl !== undefined) hosts.add(plainName(new URL(settings.publicUrl).hostname));
  for (const host of settings.allowedHosts ?? []) hosts.add(plainName(host));
  return hosts;
}

/**
 * On a wildcard bind any IP address is accepted: rebinding needs a name, and a browser that shows an address is
 * connected to that machine.
 */
function isKnownHost(name: string, hosts: ReadonlySet<string>, anyAddress: boolean): boolean {
  const version = isIP(name);
  return hosts.has(name) || (version === 4 && name.startsWith("127.")) || (version > 0 && anyAddress);
}

function isWildcard(host: string): boolean {
  return host === "" || host === "::" || host === "0.0.0.0";
}

function checkFetchSite(site: string | undefined): CairnError | undefined {
  if (site === undefined || site === "same-origin" || site === "none") return undefined;
  return originRefusal(`cannot accept request from another site (sec-fetch-site ${quote(site)})`);
}

function checkOrigin(
  origin: string | undefined,
  host: HostPort,
  publicOrigin: string | undefined,
): CairnError | undefined {
  if (origin === undefined || origin === publicOrigin) return undefined;
  const url = /^https?:\/\/[^/?#@\\\s]+$/.test(origin) && URL.canParse(origin) ? new URL(origin) : undefined;
  if (url !== undefined) {
    // The server cannot know whether a proxy in front speaks TLS: both default ports count as none.
    const defaultPort = url.protocol === "https:" ? "443" : "80";
    const port = host.port === defaultPort ? "" : host.port;
    if (plainName(url.hostname) === host.name && url.port === port) return undefined;
  }
  return originRefusal(`cannot accept request from origin ${quote(origin)}: it is not this server's`);
}

function checkContentType(header: string | undefined): CairnError | undefined {
  const type = (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
  if (RPC_CONTENT_TYPE.test(type)) return undefined;
  return new CairnError(
    "invalid",
    `cannot accept content type ${quote(type)}: this method takes JSON or protobuf`,
    {
      reason: "UNSUPPORTED_MEDIA_TYPE",
      hint: 'Send it with "content-type: application/json".',
    },
  );
}

/** The host parsed last: clients send the same one with every request. */
let last: { text: string; host: HostPort | undefined } = { text: "", host: undefined };

function parseHostPort(text: string): HostPort | undefined {
  if (text !== last.text) last = { text, host: readHostPort(text) };
  return last.host;
}

/** "name", "name:port", "[v6]" and "[v6]:port"; the name in lower case, without brackets and last dot. */
function readHostPort(text: string): HostPort | undefined {
  const match = /^(?:([a-zA-Z0-9_.-]{1,253})|\[([0-9a-fA-F:.]{2,45})\])(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const address = match[2];
  if (address !== undefined && isIP(address) !== 6) return undefined;
  const name = plainName(match[1] ?? address!);
  return name === "" ? undefined : { name, port: match[3] ?? "" };
}

/** IPv6 addresses have many spellings; the URL parser normalizes them. */
function plainName(host: string): string {
  const bare = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "");
  if (isIP(bare) === 6) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  return bare.replace(/\.$/, "");
}

function withoutQuery(path: string): string {
  const mark = path.indexOf("?");
  return mark < 0 ? path : path.slice(0, mark);
}

function hostRefusal(host: string, cause: string): CairnError {
  return new CairnError("forbidden", `cannot accept host ${quote(host)}: ${cause}`, {
    reason: "HOST_REFUSED",
    hint: "Start the server with --public-url or --allow-host to let it answer to another name.",
  });
}

function originRefusal(message: string): CairnError {
  return new CairnError("forbidden", message, {
    reason: "ORIGIN_REFUSED",
    hint: "Start the server with --public-url when people reach it under another address.",
  });
}
