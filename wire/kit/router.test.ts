import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { OWNER, type Caller } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { sendJson, sendNothing } from "#wire/kit/respond.ts";
import {
  ANY_TYPE,
  buildRouter,
  type Call,
  type Match,
  type Route,
  type RouteMethod,
} from "#wire/kit/router.ts";
import { callHttp2, serveBoth } from "#wire/kit/testing.ts";

function route(method: RouteMethod, path: string, more: Partial<Route> = {}): Route {
  const handler = ({ response, params, route: { path: own } }: Call): void => {
    sendJson(response, 200, { own, params: Object.fromEntries(params) });
  };
  return { method, path, permission: "read", handler, ...more };
}

const owner: Caller = { ...OWNER, permission: "read" };
const nothing = { enforce: () => owner, onFailure: () => {} };

function pathOf(match: Match): string {
  return match.found ? match.route.path : "none";
}

const routes: Route[] = [
  route("GET", "/"),
  route("GET", "/runs/:id"),
  route("DELETE", "/runs/:id"),
  route("GET", "/runs/best"),
  route("GET", "/runs/:id/series/:key"),
  route("GET", "/runs/best/series/all"),
  route("GET", "/files/:run/*path"),
  route("PUT", "/files/:run/*path", { accepts: ["application/octet-stream", ""] }),
  route("POST", "/runs"),
];

test.each([
  ["GET", "/", "/", {}],
  ["GET", "/runs/7", "/runs/:id", { id: "7" }],
  ["HEAD", "/runs/7", "/runs/:id", { id: "7" }],
  ["DELETE", "/runs/best", "/runs/:id", { id: "best" }],
  ["GET", "/runs/best", "/runs/best", {}],
  ["GET", "/runs/best/series/loss", "/runs/:id/series/:key", { id: "best", key: "loss" }],
  ["GET", "/runs/best/series/all", "/runs/best/series/all", {}],
  ["GET", "/runs/a%2Fb", "/runs/:id", { id: "a/b" }],
  ["GET", "/files/7/a/b%20c.txt", "/files/:run/*path", { run: "7", path: "a/b c.txt" }],
])("%s %s goes to %s", (method, path, own, params) => {
  const match = buildRouter(routes, nothing).match(method, path);
  expect(pathOf(match)).toBe(own);
  expect(match.found && Object.fromEntries(match.params)).toEqual(params);
});

test.each([
  ["GET", "/nowhere", []],
  ["GET", "/files/7", []],
  ["GET", "/runs", ["POST"]],
  ["POST", "/runs/7", ["DELETE", "GET", "HEAD"]],
  ["POST", "/files/7/x", ["GET", "HEAD", "PUT"]],
  ["get", "/runs/7", ["DELETE", "GET", "HEAD"]],
])("%s %s goes nowhere, and says what would", (method, path, allow) => {
  expect(buildRouter(routes, nothing).match(method, path)).toEqual({ found: false, allow });
});

test.each<[string, Route[]]>([
  ["no permission", [route("GET", "/a", { permission: undefined as never })]],
  ["no permission", [route("GET", "/a", { permission: "admin" as never })]],
  ["collides", [route("GET", "/a/:x"), route("GET", "/a/:y")]],
  ["collides", [route("GET", "/a/*x"), route("GET", "/a/*y")]],
  ["collides", [route("GET", "/a"), route("GET", "/a")]],
  ["is not last", [route("GET", "/a/*x/b")]],
  ["two segments named", [route("GET", "/:a/:a")]],
  ["bad segment", [route("GET", "/a//b")]],
  ["bad segment", [route("GET", "/a/")]],
  ["bad segment", [route("GET", "/a/b%20c")]],
  ["bad segment", [route("GET", "/a/:B-c")]],
  ['starts with "/"', [route("GET", "a")]],
  ["unknown method", [route("HEAD" as never, "/a")]],
  ["a form could reach", [route("POST", "/a", { accepts: [ANY_TYPE] })]],
])("a table is refused at start: %s", (cause, table) => {
  expect(() => buildRouter(table, nothing)).toThrow(cause);
});

test("a route of names matches exactly the paths of its shape", () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,4}$/);
  const router = buildRouter([route("GET", "/x/:a/:b"), route("GET", "/x/:a/:b/*c")], nothing);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const match = router.match("GET", `/x${parts.map((one) => `/${one}`).join("")}`);
      const [a, b, ...rest] = parts;
      const params = rest.length === 0 ? { a, b } : { a, b, c: rest.join("/") };
      expect(match.found && Object.fromEntries(match.params)).toEqual(b === undefined ? false : params);
    }),
  );
});

const failures: string[] = [];
const enforced: string[] = [];
const table: Route[] = [
  ...routes,
  route("GET", "/nothing", { handler: ({ response }) => sendNothing(response) }),
  route("GET", "/closed", { permission: "administer" }),
  route("GET", "/broken", {
    handler: () => {
      throw new Error("SELECT secret");
    },
  }),
  route("GET", "/busy", {
    handler: () =>
      Promise.reject(new CairnError("unavailable", "cannot answer: busy", { retryAfterMs: 1500 })),
  }),
  route("GET", "/half", {
    handler: async ({ response }) => {
      response.setHeader("content-type", "text/plain");
      const body: Writable = response;
      await new Promise<void>((resolve) => void body.write("half", () => resolve()));
      throw new Error("broke off");
    },
  }),
  route("GET", "/query", { handler: ({ response, query }) => sendJson(response, 200, query.getAll("a")) }),
];
const router = buildRouter(table, {
  enforce({ route: { permission, path } }) {
    enforced.push(path);
    if (permission === "administer") throw new CairnError("forbidden", "cannot read: not yours");
    return { ...owner, permission };
  },
  onFailure: (_incident, error) => failures.push(error.message),
});
const { http1, http2 } = await serveBoth((request, response) => void router.serve(request, response));

/** The same call over both versions of HTTP. */
async function both(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; headers: (name: string) => string | undefined; body: string }[]> {
  const one = await fetch(http1 + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const two = await callHttp2(http2, method, path, headers, body);
  return [
    { status: one.status, headers: (name) => one.headers.get(name) ?? undefined, body: await one.text() },
    { status: two.status, headers: (name) => two.headers[name] as string | undefined, body: two.body },
  ];
}

test("an answer carries the headers that keep browsers at bay", async () => {
  for (const answer of await both("GET", "/runs/7")) {
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ own: "/runs/:id", params: { id: "7" } });
    expect(answer.headers("x-content-type-options")).toBe("nosniff");
    expect(answer.headers("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(answer.headers("referrer-policy")).toBe("no-referrer");
    expect(answer.headers("cache-control")).toBe("no-store");
    expect(answer.headers("access-control-allow-origin")).toBeUndefined();
  }
});

test("HEAD is answered like GET, without the body", async () => {
  for (const answer of await both("HEAD", "/runs/7")) {
    expect(answer.status).toBe(200);
    expect(answer.headers("content-length")).toBe("39");
    expect(answer.body).toBe("");
  }
});

test("nothing is 204", async () => {
  for (const answer of await both("GET", "/nothing")) expect([answer.status, answer.body]).toEqual([204, ""]);
});

test("404 and 405 are JSON, 405 with Allow", async () => {
  for (const answer of await both("GET", "/nowhere")) {
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "not-found" });
  }
  for (const method of ["POST", "OPTIONS"]) {
    for (const answer of await both(method, "/runs/7")) {
      expect(answer.status).toBe(405);
      expect(answer.headers("allow")).toBe("DELETE, GET, HEAD");
      expect(answer.headers("content-security-policy")).toBeDefined();
    }
  }
});

test("a path that climbs is 400", async () => {
  for (const answer of await both("GET", "/files/7/%2e%2e%2fx")) {
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ reason: "INVALID_PATH" });
  }
});

test("what enforces comes before the handler, for every route", async () => {
  for (const answer of await both("GET", "/closed")) expect(answer.status).toBe(403);
  enforced.length = 0;
  await both("GET", "/runs/7");
  expect(enforced).toEqual(["/runs/:id", "/runs/:id"]);
});

test("internal errors are logged and not sent to the caller", async () => {
  failures.length = 0;
  for (const answer of await both("GET", "/broken")) {
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret");
  }
  expect(failures).toEqual(["unexpected failure: SELECT secret", "unexpected failure: SELECT secret"]);
});

test("Retry-After tells when to come again", async () => {
  for (const answer of await both("GET", "/busy")) {
    expect([answer.status, answer.headers("retry-after")]).toEqual([503, "2"]);
  }
});

test("an answer that breaks off is not taken for whole", async () => {
  await expect(fetch(`${http1}/half`).then((response) => response.text())).rejects.toThrow();
  const stream = http2.request({ ":path": "/half" });
  await expect(text(stream)).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
});

test("S5: a body of a type the route does not take is refused, so no form gets in", async () => {
  const statuses = async (path: string, method: string, type: string): Promise<number[]> =>
    (await both(method, path, type === "" ? {} : { "content-type": type }, "{}")).map(({ status }) => status);
  expect(await statuses("/runs", "POST", "application/json; charset=utf-8")).toEqual([200, 200]);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    expect(await statuses("/runs", "POST", type)).toEqual([415, 415]);
  }
  expect(await statuses("/files/7/x", "PUT", "application/octet-stream")).toEqual([200, 200]);
  expect(await statuses("/files/7/x", "PUT", "application/json")).toEqual([415, 415]);
  // Without a body there is no type to name.
  for (const answer of await both("DELETE", "/runs/7")) expect(answer.status).toBe(200);
});

test("the query is decoded once", async () => {
  for (const answer of await both("GET", "/query?a=1&a=%2525&b=3")) {
    expect(JSON.parse(answer.body)).toEqual(["1", "%25"]);
  }
});
