import { expect, test } from "vitest";
import {
  buildGuard,
  type GuardFacts,
  type GuardSettings,
  isLoopback,
  isLoopbackHost,
} from "#server/listen/guard.ts";
import { guardRequest, guardStream, isLocalCaller } from "#server/listen/guard-request.ts";
import {
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  parseFrames,
  PREFACE,
  requestFields,
} from "#server/testing/frames.ts";
import { callHttp2, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";

const RPC = "/cairn.v1.RunService/CreateRun";
const LOCAL: GuardSettings = { host: "127.0.0.1" };
const PUBLIC: GuardSettings = {
  host: "0.0.0.0",
  publicUrl: "https://cairn.example.org/base",
  allowedHosts: ["cairn.svc"],
};

function judge(settings: GuardSettings, facts: Partial<GuardFacts>): string {
  const refusal = buildGuard(settings)({
    method: "GET",
    path: "/",
    authority: undefined,
    host: "localhost:4700",
    origin: undefined,
    secFetchSite: undefined,
    contentType: undefined,
    ...facts,
  });
  return refusal?.reason ?? "pass";
}

test.each([
  // a server on this machine only
  [LOCAL, "localhost", "pass"],
  [LOCAL, "localhost:4700", "pass"],
  [LOCAL, "localhost:9999", "pass"], // a tunnel
  [LOCAL, "LocalHost.", "pass"],
  [LOCAL, "127.0.0.1:4700", "pass"],
  [LOCAL, "127.1.2.3", "pass"],
  [LOCAL, "[::1]:4700", "pass"],
  [LOCAL, "[0:0:0:0:0:0:0:1]", "pass"],
  [LOCAL, "evil.example", "HOST_REFUSED"],
  [LOCAL, "localhost.evil.example", "HOST_REFUSED"],
  [LOCAL, "127.0.0.1.evil.example", "HOST_REFUSED"],
  [LOCAL, "127.0.0.1@evil.example", "HOST_REFUSED"],
  [LOCAL, "evil.example#localhost", "HOST_REFUSED"],
  [LOCAL, "localhost, evil.example", "HOST_REFUSED"],
  [LOCAL, "localhost:4700:1", "HOST_REFUSED"],
  [LOCAL, "localhost:port", "HOST_REFUSED"],
  [LOCAL, "192.168.1.5", "HOST_REFUSED"],
  [LOCAL, "2130706433", "HOST_REFUSED"],
  [LOCAL, "0x7f.1", "HOST_REFUSED"],
  [LOCAL, "127.1", "HOST_REFUSED"],
  [LOCAL, "[fe80::1]", "HOST_REFUSED"],
  [LOCAL, "[zz]", "HOST_REFUSED"],
  [LOCAL, "::1", "HOST_REFUSED"],
  [LOCAL, ".", "HOST_REFUSED"],
  [LOCAL, "", "HOST_REFUSED"],
  [LOCAL, undefined, "HOST_REFUSED"],
  // the name it is bound to
  [{ host: "10.0.0.5" }, "10.0.0.5:4700", "pass"],
  [{ host: "10.0.0.5" }, "10.0.0.6:4700", "HOST_REFUSED"],
  [{ host: "fe80::1%eth0" }, "[fe80::1]:4700", "pass"],
  [{ host: "gpu-box" }, "gpu-box", "pass"],
  [{ host: "FD00::0:1" }, "[fd00::1]", "pass"],
  // every address of the machine, and its public names
  [PUBLIC, "192.168.1.5:4700", "pass"],
  [PUBLIC, "[fd00::1]:4700", "pass"],
  [PUBLIC, "cairn.example.org", "pass"],
  [PUBLIC, "CAIRN.example.org:443", "pass"],
  [PUBLIC, "cairn.svc:4700", "pass"],
  [PUBLIC, "other.example.org", "HOST_REFUSED"],
] as [GuardSettings, string | undefined, string][])("S5: %j with host %j: %s", (settings, host, verdict) => {
  expect(judge(settings, { host })).toBe(verdict);
  expect(judge(settings, { host: undefined, authority: host })).toBe(verdict);
});

test("S5: a host that differs from the authority is refused", () => {
  expect(judge(LOCAL, { authority: "localhost:4700", host: "localhost:4700" })).toBe("pass");
  expect(judge(LOCAL, { authority: "localhost", host: "127.0.0.1" })).toBe("HOST_REFUSED");
  expect(judge(LOCAL, { authority: "localhost", host: "evil.example" })).toBe("HOST_REFUSED");
  expect(judge(LOCAL, { authority: "evil.example", host: "localhost" })).toBe("HOST_REFUSED");
});

const ORIGINS: [settings: GuardSettings, host: string, origin: string | undefined, same: boolean][] = [
  [LOCAL, "localhost:4700", undefined, true],
  [LOCAL, "localhost:4700", "http://localhost:4700", true],
  [LOCAL, "127.0.0.1:4700", "http://127.0.0.1:4700", true],
  [LOCAL, "[::1]:4700", "http://[::1]:4700", true],
  [LOCAL, "localhost", "http://localhost", true],
  [LOCAL, "localhost:80", "http://localhost", true],
  [LOCAL, "localhost", "https://localhost", true],
  [LOCAL, "localhost:443", "https://localhost", true],
  [LOCAL, "localhost:4700", "http://localhost:3000", false],
  [LOCAL, "localhost:4700", "http://localhost", false],
  [LOCAL, "localhost:4700", "http://127.0.0.1:4700", false],
  [LOCAL, "localhost:4700", "http://evil.example", false],
  [LOCAL, "localhost:4700", "http://localhost:4700.evil.example", false],
  [LOCAL, "localhost:4700", "http://evil.example@localhost:4700", false],
  [LOCAL, "localhost:4700", "http://localhost:4700/", false],
  [LOCAL, "localhost:4700", "file://", false],
  [LOCAL, "localhost:4700", "null", false],
  [LOCAL, "localhost:4700", "", false],
  [LOCAL, "localhost:4700", "http://localhost:4700, http://evil.example", false],
  [LOCAL, "localhost:4700", "chrome-extension://abc", false],
  [PUBLIC, "10.0.0.1:4700", "https://cairn.example.org", true], // a proxy that sets its own Host
  [PUBLIC, "10.0.0.1:4700", "http://cairn.example.org", false],
  [PUBLIC, "cairn.example.org", "https://cairn.example.org", true],
];

test.each(ORIGINS)("S5: %j, host %j, origin %j counts as own: %s", (settings, host, origin, same) => {
  const verdict = same ? "pass" : "ORIGIN_REFUSED";
  const json = { host, origin, contentType: "application/json" };
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE", "ODD"]) {
    expect(judge(settings, { ...json, method, path: "/api/x" })).toBe(verdict);
    expect(judge(settings, { ...json, method, path: RPC })).toBe(verdict);
  }
  // An RPC by GET is an RPC; any other read is allowed with the right host.
  expect(judge(settings, { host, origin, path: `${RPC}?encoding=json&message=%7B%7D` })).toBe(verdict);
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    expect(judge(settings, { host, origin, method, path: "/runs" })).toBe("pass");
  }
});

test.each([
  [undefined, "pass"],
  ["same-origin", "pass"],
  ["none", "pass"],
  ["same-site", "ORIGIN_REFUSED"],
  ["cross-site", "ORIGIN_REFUSED"],
  ["anything", "ORIGIN_REFUSED"],
])("S5: sec-fetch-site %j on what changes something: %s", (secFetchSite, verdict) => {
  const post = { method: "POST", contentType: "application/json", secFetchSite };
  expect(judge(LOCAL, { ...post, path: RPC })).toBe(verdict);
  expect(judge(LOCAL, { ...post, path: "/api/2.0/mlflow/runs/create" })).toBe(verdict);
  expect(judge(LOCAL, { path: RPC, secFetchSite })).toBe(verdict);
  expect(judge(LOCAL, { path: "/", secFetchSite })).toBe("pass");
});

const TYPES: [type: string | undefined, verdict: string][] = [
  ["application/json", "pass"],
  ["application/json; charset=utf-8", "pass"],
  ["Application/JSON", "pass"],
  ["application/proto", "pass"],
  ["application/grpc", "pass"],
  ["application/grpc+proto", "pass"],
  ["application/grpc-web+proto", "pass"],
  ["application/grpc-web-text", "pass"],
  ["application/connect+json", "pass"],
  ["application/connect+proto", "pass"],
  ["text/plain", "UNSUPPORTED_MEDIA_TYPE"],
  ["text/plain; application/json", "UNSUPPORTED_MEDIA_TYPE"],
  ["multipart/form-data; boundary=x", "UNSUPPORTED_MEDIA_TYPE"],
  ["application/x-www-form-urlencoded", "UNSUPPORTED_MEDIA_TYPE"],
  ["application/jsonx", "UNSUPPORTED_MEDIA_TYPE"],
  ["", "UNSUPPORTED_MEDIA_TYPE"],
  [undefined, "UNSUPPORTED_MEDIA_TYPE"],
];

test.each(TYPES)("S5: content type %j for an RPC: %s", (contentType, verdict) => {
  for (const path of [RPC, `/base${RPC}`, `${RPC}?x=1`]) {
    expect(judge(LOCAL, { method: "POST", path, contentType })).toBe(verdict);
  }
  // Plain routes name their own types, which the router checks.
  expect(judge(LOCAL, { method: "POST", path: "/write", contentType })).toBe("pass");
});

test("S5: over the whole matrix only a known host, own origin and valid type pass together", () => {
  for (const host of ["localhost:4700", "evil.example"]) {
    for (const [settings, ownHost, origin, same] of ORIGINS) {
      if (settings !== LOCAL || ownHost !== "localhost:4700") continue;
      for (const [contentType, type] of TYPES) {
        for (const secFetchSite of [undefined, "same-origin", "cross-site"]) {
          const verdict = judge(LOCAL, {
            method: "POST",
            path: RPC,
            host,
            origin,
            contentType,
            secFetchSite,
          });
          const good = host === "localhost:4700" && same && type === "pass" && secFetchSite !== "cross-site";
          expect(verdict === "pass").toBe(good);
        }
      }
    }
  }
});

test("a refusal has a hint", () => {
  const refusal = buildGuard(LOCAL)({
    method: "GET",
    path: "/",
    authority: undefined,
    host: "evil.example",
    origin: undefined,
    secFetchSite: undefined,
    contentType: undefined,
  });
  expect(refusal).toMatchObject({ code: "forbidden" });
  expect(refusal?.message).toBe('cannot accept host "evil.example": not a name of this server');
  expect(refusal?.hint).toContain("--public-url");
});

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::FFFF:127.0.0.1", true],
  ["128.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["::2", false],
  ["127.0.0.1.evil", false],
  ["", false],
  [undefined, false],
])("address %j is loopback: %s", (address, loopback) => {
  expect(isLoopback(address)).toBe(loopback);
});

test("a caller behind a proxy, or with another host name, is not local", () => {
  const host = "127.0.0.1:4700";
  expect(isLocalCaller("127.0.0.1", { host })).toBe(true);
  expect(isLocalCaller("10.0.0.1", { host })).toBe(false);
  const added = [
    "forwarded",
    "via",
    "x-forwarded",
    "x-forwarded-for",
    "x-forwarded-new",
    "x-original-forwarded-for",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
  ];
  for (const name of added) {
    expect(isLocalCaller("127.0.0.1", { host, [name]: "" }), name).toBe(false);
  }
  for (const name of ["localhost", "LOCALHOST:1", "[::1]:4700", "127.1.2.3"]) {
    expect(isLocalCaller("127.0.0.1", { host: name }), name).toBe(true);
    expect(isLocalCaller("::1", { ":authority": name }), name).toBe(true);
  }
  for (const name of ["box.example", "10.0.0.1", "localhost.box.example", "", "a b", undefined]) {
    expect(isLocalCaller("127.0.0.1", { host: name }), name).toBe(false);
    expect(isLocalCaller("127.0.0.1", { host, ":authority": name ?? "x" }), name).toBe(false);
  }
  expect([isLoopbackHost("localhost"), isLoopbackHost("::1"), isLoopbackHost("0.0.0.0")]).toEqual([
    true,
    true,
    false,
  ]);
});

const { open, session } = usePorts();

test("S5: on a real port the guard answers 403 over HTTP/1, HTTP/2 and raw streams", async () => {
  const guard = buildGuard(LOCAL);
  const { url, port } = await open({
    onStream: (stream, headers) => headers[":path"] === "/raw" && !guardStream(guard, stream, headers),
    onRequest(request, response) {
      if (guardRequest(guard, request, response)) response.end("in");
    },
  });
  expect(await (await fetch(url)).text()).toBe("in");
  const client = session(url);
  expect((await callHttp2(client, {})).body).toBe("in");
  expect((await callHttp2(client, { ":path": "/raw" })).body).toBe("in");
  for (const path of ["/", "/raw"]) {
    const refused = await callHttp2(client, { ":path": path, ":authority": `evil.example:${port}` });
    expect(refused.headers[":status"]).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({ code: "forbidden", reason: "HOST_REFUSED" });
    const both = await callHttp2(client, { ":path": path, host: "evil.example" });
    expect(both.headers[":status"]).toBe(403);
  }
  const form = await fetch(url, { method: "POST", body: "a=b", headers: { origin: "http://evil.example" } });
  expect(form.status).toBe(403);
  expect(form.headers.get("access-control-allow-origin")).toBeNull();
});

test("S5: more than one Host is refused, whichever comes first", async () => {
  const guard = buildGuard(LOCAL);
  const { port } = await open({
    onStream: (stream, headers) => !guardStream(guard, stream, headers),
    onRequest(request, response) {
      if (guardRequest(guard, request, response)) response.end("in");
    },
  });
  const hosts = ["Host: 127.0.0.1", "hOST: evil.example", "Host: 127.0.0.1"];
  for (const given of [hosts, hosts.slice(0, 2), hosts.slice(1), [hosts[0], hosts[2]]]) {
    const client = await RawClient.connect(port);
    await client.send(`GET / HTTP/1.1\r\n${given.join("\r\n")}\r\nConnection: close\r\n\r\n`);
    await client.closed();
    expect(client.text).toMatch(/^HTTP\/1\.1 400 /);
    expect(client.text).toContain("HOST_REFUSED");
  }
  // HTTP/2 itself allows one.
  const client = await RawClient.connect(port);
  const fields = [requestFields("GET", "/"), field("host", "localhost"), field("host", "evil.example")];
  const asked = frame(FRAME.headers, END_HEADERS | END_STREAM, 1, Buffer.concat(fields));
  await client.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), asked]));
  await client.until(({ received }) => parseFrames(received).some(({ stream }) => stream === 1));
  expect(parseFrames(client.received).find(({ stream }) => stream === 1)!.type).toBe(FRAME.rstStream);
  client.socket.destroy();
});
