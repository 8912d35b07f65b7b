import type { Caller } from "#core/access/caller.ts";
import { isPermission, type Permission } from "#core/types/permission.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { Account } from "#core/quota/account.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { decodePath, parseTarget } from "#wire/kit/path.ts";
import { sendError, setSecurityHeaders } from "#wire/kit/respond.ts";

/**
 * Plain HTTP routes as data: who may call a route is declared beside its path, so that one test can walk
 * them all and one place can enforce it.
 *
 * A path is made of literal segments, ":name" (one segment) and, last, "*name" (one or more segments,
 * joined by "/"). Literal wins over ":name", ":name" over "*name", whatever order the routes are given in.
 */
export interface Route {
  method: RouteMethod;
  path: string;
  permission: Permission;
  /**
   * Content types a body may have, without parameters; "" is a request that names none.
   * JSON only unless said otherwise, which no HTML form can send. ANY_TYPE is all but those a
   * form would name.
   */
  accepts?: readonly string[];
  /** Its body or its answer may take long, so it counts as an open stream of its caller. */
  streams?: boolean;
  /** A list of what is below it, so that "/" may also be at the end of its address. Only for a path of literals. */
  isFolder?: true;
  /** Only reads, and is what a browser asks for by itself, where a page can add no header: images, frames, links. */
  byBrowser?: boolean;
  handler: (call: Call) => void | Promise<void>;
}

/** GET serves HEAD too. */
export const ROUTE_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type RouteMethod = (typeof ROUTE_METHODS)[number];

/** One request that has found its route, before authentication. */
export interface UncheckedCall {
  request: HttpRequest;
  response: HttpResponse;
  route: Route;
  /** The decoded path, segments joined by "/" as `params` are. */
  params: ReadonlyMap<string, string>;
  query: URLSearchParams;
}

/** One request on its way to a handler. */
export interface Call extends UncheckedCall {
  /** Who asks, with the route's permission. What the route touches must still be authorized. */
  caller: Caller;
  /** Pays for the bytes of the body, which the handler counts (`readBody`, `paced`). */
  account: Account | undefined;
}

/** Who calls, with what pays for it where calls are counted. */
export type Admitted = Caller & { account?: Account };

export type Match =
  | { found: true; route: Route; params: ReadonlyMap<string, string> }
  /** `allow` lists the methods the path has; empty when there is no such path. */
  | { found: false; allow: readonly string[] };

export interface RouterOptions {
  /**
   * Called before every handler, public routes included: says who calls, or throws `unauthenticated`,
   * `forbidden` or `exhausted`. There is no router without it.
   */
  enforce: (call: UncheckedCall) => Admitted | Promise<Admitted>;
  /** Called with errors of the server itself, which the caller sees only as a number. */
  onFailure: (incident: string, error: CairnError) => void;
  /**
   * Called for a path without a route, with any method. Returns true when it has answered; otherwise the answer is that the
   * route is unknown. The caller is not authenticated, so it must not disclose anything.
   */
  onMissing?: (request: HttpRequest, response: HttpResponse) => boolean;
}

export interface Router {
  readonly routes: readonly Route[];
  /** Throws `invalid` for a path that no route may ever see. */
  match(method: string, path: string): Match;
  /** Answers every request, also with 404, 405 and 500. Never rejects. */
  serve(request: HttpRequest, response: HttpResponse): Promise<void>;
}

interface Node {
  literals: Map<string, Node>;
  one: Node | undefined;
  /** By method, for paths that end here. */
  ends: Map<string, Endpoint>;
  /** By method, for any path below this one. */
  rests: Map<string, Endpoint>;
}

interface Endpoint {
  route: Route;
  names: readonly string[];
}

const ACCEPTS_DEFAULT: readonly string[] = ["application/json"];
export const ANY_TYPE = "*/*";
/**
 * What a form sends, save for text/plain, which is a file's type too: a route that takes anything must
 * not be one that a form can reach, so it must not be a POST.
 */
const FORM_TYPES: ReadonlySet<string> = new Set(["application/x-www-form-urlencoded", "multipart/form-data"]);

/** Throws `internal` at start for a route without a permission, a misspelt one, and two that collide. */
export function buildRouter(routes: readonly Route[], options: RouterOptions): Router {
  const root = emptyNode();
  for (const route of routes) insert(root, route);
  // Compared as they are sent: any other path with an empty segment is refused.
  const folders = new Set(routes.filter(({ isFolder }) => isFolder).map(({ path }) => `${path}/`));
  const match = (method: string, path: string): Match =>
    find(root, method, decodePath(folders.has(path) ? path.slice(0, -1) : path));
  return {
    routes: [...routes],
    match,
    serve: (request, response) => serve(match, options, request, response),
  };
}

async function serve(
  match: Router["match"],
  options: RouterOptions,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  try {
    const target = parseTarget(request.url);
    const method = request.method ?? "";
    const matched = match(method, target.path);
    if (!matched.found) {
      if (matched.allow.length === 0 && options.onMissing?.(request, response) === true) return;
      if (matched.allow.length > 0) response.setHeader("allow", matched.allow.join(", "));
      throw missing(method, target.path, matched.allow);
    }
    const { route, params } = matched;
    const call: UncheckedCall = {
      request,
      response,
      route,
      params,
      query: new URLSearchParams(target.query),
    };
    setSecurityHeaders(response);
    const caller = await options.enforce(call);
    checkContentType(route, request);
    await route.handler({ ...call, caller, account: caller.account });
  } catch (thrown) {
    const failure = sendError(request, response, thrown);
    if (failure !== undefined) options.onFailure(failure.incident, failure.error);
  }
}

function missing(method: string, path: string, allow: readonly string[]): CairnError {
  if (allow.length === 0) {
    return new CairnError("not-found", `cannot find path ${quote(path)}: no such route`);
  }
  const cause = `method ${quote(method)} is not among ${allow.join(", ")}`;
  return new CairnError("invalid", `cannot call path ${quote(path)}: ${cause}`, {
    reason: "METHOD_NOT_ALLOWED",
  });
}

function checkContentType(route: Route, request: HttpRequest): void {
  if (route.method === "GET") return;
  const given = contentTypeOf(request.headers["content-type"]);
  const accepts = route.accepts ?? ACCEPTS_DEFAULT;
  if (accepts.includes(given)) return;
  if (accepts.includes(ANY_TYPE) && !FORM_TYPES.has(given)) return;
  // A call without a body need not say of what type the body is.
  if (given === "" && !hasBody(request)) return;
  const cause = `content type ${quote(given)} is not among ${accepts.filter((type) => type !== "").join(", ")}`;
  throw new CairnError("invalid", `cannot read body of ${quote(route.path)}: ${cause}`, {
    reason: "UNSUPPORTED_MEDIA_TYPE",
  });
}

/** The media type in lower case, without parameters. */
export function contentTypeOf(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

function hasBody(request: HttpRequest): boolean {
  const length = request.headers["content-length"];
  if (length !== undefined) return length !== "0";
  if (request.httpVersionMajor >= 2) return !("stream" in request && request.stream.endAfterHeaders);
  return request.headers["transfer-encoding"] !== undefined;
}

function emptyNode(): Node {
  return { literals: new Map(), one: undefined, ends: new Map(), rests: new Map() };
}

function insert(root: Node, route: Route): void {
  if (!isPermission(route.permission)) {
    throw broken(route, `no permission; it has ${quote(String(route.permission))}`);
  }
  if (!ROUTE_METHODS.includes(route.method)) throw broken(route, "unknown method");
  if (route.method === "POST" && route.accepts?.includes(ANY_TYPE) === true) {
    throw broken(route, "a form could reach a POST that takes any content type");
  }
  if (!route.path.startsWith("/")) throw broken(route, 'a path starts with "/"');
  const segments = route.path === "/" ? [] : route.path.slice(1).split("/");
  const names: string[] = [];
  let node = root;
  for (const [index, segment] of segments.entries()) {
    const name = /^[:*]([a-z][a-zA-Z0-9]*)$/.exec(segment)?.[1];
    if (name !== undefined) {
      if (names.includes(name)) throw broken(route, `two segments named ${quote(name)}`);
      names.push(name);
    }
    if (segment.startsWith("*") && name !== undefined) {
      if (index !== segments.length - 1) throw broken(route, `${quote(segment)} is not last`);
      claim(node.rests, route, names);
      return;
    }
    if (segment.startsWith(":") && name !== undefined) {
      node = node.one ??= emptyNode();
      continue;
    }
    if (!/^[a-zA-Z0-9._~-]+$/.test(segment)) throw broken(route, `bad segment ${quote(segment)}`);
    const next = node.literals.get(segment) ?? emptyNode();
    node.literals.set(segment, next);
    node = next;
  }
  claim(node.ends, route, names);
}

function claim(endpoints: Map<string, Endpoint>, route: Route, names: readonly string[]): void {
  const other = endpoints.get(route.method);
  if (other !== undefined) throw broken(route, `it collides with ${quote(other.route.path)}`);
  endpoints.set(route.method, { route, names });
}

function broken(route: Route, cause: string): CairnError {
  return new CairnError("internal", `cannot add route ${quote(`${route.method} ${route.path}`)}: ${cause}`);
}

/** Each node is at one depth, so this visits a node at most once whatever the path. */
function find(root: Node, method: string, segments: readonly string[]): Match {
  const wanted = method === "HEAD" ? "GET" : method;
  const allow = new Set<string>();
  const values: string[] = [];

  const take = (endpoints: Map<string, Endpoint>, last: readonly string[]): Match | undefined => {
    for (const known of endpoints.keys()) {
      allow.add(known);
      if (known === "GET") allow.add("HEAD");
    }
    const endpoint = endpoints.get(wanted);
    if (endpoint === undefined) return undefined;
    const all = [...values, ...last];
    const params = new Map(endpoint.names.map((name, index) => [name, all[index]!]));
    return { found: true, route: endpoint.route, params };
  };

  const walk = (node: Node, depth: number): Match | undefined => {
    const segment = segments[depth];
    if (segment === undefined) return take(node.ends, []);
    const literal = node.literals.get(segment);
    const byLiteral = literal === undefined ? undefined : walk(literal, depth + 1);
    if (byLiteral !== undefined) return byLiteral;
    if (node.one !== undefined) {
      values.push(segment);
      const byOne = walk(node.one, depth + 1);
      if (byOne !== undefined) return byOne;
      values.pop();
    }
    return node.rests.size === 0 ? undefined : take(node.rests, [segments.slice(depth).join("/")]);
  };

  return walk(root, 0) ?? { found: false, allow: [...allow].sort() };
}
