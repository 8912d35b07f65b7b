import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer, request as requestHttp, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { frame } from "#wire/connect/testing/raw-call.ts";
import type { Server } from "../serve.ts";
import { writeCertificate } from "../testing/certificate.ts";
import { startChild } from "../testing/child.ts";
import {
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame as http2Frame,
  PREFACE,
  requestFields,
} from "../testing/frames.ts";
import {
  abandonAs,
  becoming,
  callAs,
  OTHER_UID,
  proxyAs,
  strikeAs,
  type UserCall,
} from "../testing/other-user.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ADMIN = { name: "mallory", kind: "PRINCIPAL_KIND_USER", password: "a long enough password" };

async function start(argv: readonly string[] = []): Promise<Server> {
  const server = await startServer(argv);
  onTestFinished(() => server.close());
  return server;
}

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Reading and making an administrator, by every way in: JSON, the fast path, gRPC, Connect over HTTP/2, plain routes. */
function everyCall(url: string): (UserCall & { name: string })[] {
  const json = (name: string, body: object, http2 = false) => ({
    name: `${name}${http2 ? " over HTTP/2" : ""}`,
    url: `${url}/cairn.v1.${name}`,
    headers: JSON_TYPE,
    body: JSON.stringify(body),
    http2,
  });
  const fast = (name: string, type: string, body: string, http2: boolean) => ({
    name: `${name} as ${type}`,
    url: `${url}/cairn.v1.${name}`,
    headers: { "content-type": type, ...(type.includes("grpc") && { te: "trailers" }) },
    body,
    http2,
  });
  const empty = frame(Buffer.alloc(0)).toString("latin1");
  return [
    json("RunService/SearchRuns", {}),
    json("RunService/SearchRuns", {}, true),
    json("AccessService/CreatePrincipal", ADMIN),
    json("AccessService/CreatePrincipal", { ...ADMIN, name: "mallory-2" }, true),
    json("AccessService/ListPrincipals", {}),
    fast("RunService/SearchRuns", "application/proto", "", false),
    fast("RunService/SearchRuns", "application/proto", "", true),
    fast("RunService/SearchRuns", "application/grpc+proto", empty, true),
    fast("AccessService/ListPrincipals", "application/grpc+proto", empty, true),
    { name: "/metrics", url: `${url}/metrics`, method: "GET" },
    { name: "/metrics over HTTP/2", url: `${url}/metrics`, method: "GET", http2: true },
  ];
}

/** The outcome of each: "200", "401", or the status of gRPC. */
async function outcomesAs(uid: number, url: string): Promise<Record<string, string>> {
  const calls = everyCall(url);
  const answers = await callAs(uid, calls);
  return Object.fromEntries(
    calls.map(({ name }, i) => [
      name,
      answers[i]!.grpc === undefined ? `${answers[i]!.status}` : `grpc ${answers[i]!.grpc}`,
    ]),
  );
}

const REFUSED = new Set(["401", "grpc 16"]);
const GRANTED = new Set(["200", "grpc 0"]);

async function postJson(
  url: string,
  method: string,
  body: object = {},
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${url}/cairn.v1.${method}`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

async function principals(url: string): Promise<string[]> {
  const { json } = await postJson(url, "AccessService/ListPrincipals");
  return ((json["principals"] ?? []) as { name: string }[]).map(({ name }) => name);
}

describe("S26: other users of the machine", () => {
  it("S26 A2 A29 another user is not the owner on loopback, by any protocol; the server's own user is", async () => {
    const { url } = (await start()).listening;
    for (const [name, outcome] of Object.entries(await outcomesAs(OTHER_UID, url))) {
      expect(REFUSED, `${name}: ${outcome}`).toContain(outcome);
    }
    expect(await principals(url)).toEqual([]);
    for (const [name, outcome] of Object.entries(await outcomesAs(process.getuid!(), url))) {
      expect(GRANTED, `${name}: ${outcome}`).toContain(outcome);
    }
    expect(await principals(url)).toEqual(["mallory", "mallory-2"]);
  });

  it("S26 A29 nor over TLS, nor at the address of IPv6", async () => {
    const folder = folderForTest();
    const tls = writeCertificate(folder);
    for (const argv of [tls.argv, ["--host", "::1"]]) {
      const { url } = (await start(argv)).listening;
      const other = Object.entries(await outcomesAs(OTHER_UID, url));
      for (const [name, outcome] of other) expect(REFUSED, `${url} ${name}: ${outcome}`).toContain(outcome);
      const own = Object.entries(await outcomesAs(process.getuid!(), url));
      for (const [name, outcome] of own) expect(GRANTED, `${url} ${name}: ${outcome}`).toContain(outcome);
    }
  });

  it("S26 A29 the refusal has a hint, and does not name the user of the server", async () => {
    const { url } = (await start()).listening;
    const call = { url: `${url}/metrics`, method: "GET" };
    const [answer] = await callAs(OTHER_UID, [call]);
    const refusal = JSON.parse(answer!.body) as Record<string, string>;
    expect(refusal).toMatchObject({ code: "unauthenticated", reason: "NO_CREDENTIAL" });
    expect(refusal["hint"]).toContain("`cairn login URL`");
    expect(refusal["hint"]).toContain("CAIRN_TOKEN");
    expect(refusal["hint"]).toContain("asks the one who started it for a token");
    expect(answer!.body).not.toMatch(/root|uid|\b0\b/);
  });

  it("S26 A29 a token counts from a process of any user", async () => {
    const { url } = (await start()).listening;
    await postJson(url, "AccessService/CreatePrincipal", { name: "ada", kind: "PRINCIPAL_KIND_USER" });
    await postJson(url, "AccessService/BindRole", {
      principal: "ada",
      role: "ROLE_VIEWER",
      scope: { namespace: "" },
    });
    const { json } = await postJson(url, "AccessService/CreateToken", { principal: "ada" });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${String(json["secret"])}` };
    const calls = ["RunService/SearchRuns", "RunService/CreateRun"].map((method) => ({
      url: `${url}/cairn.v1.${method}`,
      headers,
      body: JSON.stringify(method.endsWith("CreateRun") ? { namespace: "lab" } : {}),
    }));
    expect((await callAs(OTHER_UID, calls)).map(({ status }) => status)).toEqual([200, 403]);
  });

  it("S26 A29 a caller that disconnects before it is identified has changed nothing", async () => {
    const { url, port } = (await start()).listening;
    const body = JSON.stringify(ADMIN);
    const head = `POST /cairn.v1.AccessService/CreatePrincipal HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await strikeAs(OTHER_UID, { port, text: head + body, times: 60 });
    // The server has checked all of them when it answers a later one.
    expect(await principals(url)).toEqual([]);
  });

  it.each([
    { way: "HTTP/1.1", alpn: undefined, ...abandonedHttp1() },
    { way: "HTTP/2", alpn: undefined, ...abandonedHttp2() },
    { way: "HTTP/1.1 over TLS", alpn: "http/1.1", ...abandonedHttp1() },
    { way: "HTTP/2 over TLS", alpn: "h2", ...abandonedHttp2() },
  ])(
    "S26 A29 nor is one whose port a process of the owner has by now: $way",
    async ({ alpn, first, rest }) => {
      const { url, port } = (await start(alpn ? writeCertificate(folderForTest()).argv : [])).listening;
      const { localPort, reset } = await abandonAs(OTHER_UID, { port, alpn, first, rest });
      // The server has read the first part: it was sent before this was asked.
      expect((await callAs(process.getuid!(), [{ url: `${url}/metrics`, method: "GET" }]))[0]!.status).toBe(
        200,
      );
      reset();
      // From the same port, before the server has read the rest.
      const own = connect({ port, host: "127.0.0.1", localPort, localAddress: "127.0.0.1" });
      onTestFinished(() => void own.destroy());
      await once(own, "connect");
      const [listed] = await callAs(process.getuid!(), [
        { url: `${url}/cairn.v1.AccessService/ListPrincipals`, headers: JSON_TYPE, body: "{}" },
      ]);
      expect(listed).toMatchObject({ status: 200, body: "{}" });
    },
  );

  it("S26 A2 A29 no caller is the owner through a TCP proxy that another user runs, such as a tunnel", async () => {
    const { port } = (await start()).listening;
    const proxied = `http://127.0.0.1:${await proxyAs(OTHER_UID, port)}`;
    for (const [name, outcome] of Object.entries(await outcomesAs(process.getuid!(), proxied))) {
      expect(REFUSED, `${name}: ${outcome}`).toContain(outcome);
    }
  });

  it("S26 A2 no caller is the owner through a proxy, whichever forwarding header it adds", async () => {
    const { url, port } = (await start()).listening;
    const added = [
      "forwarded",
      "via",
      "x-real-ip",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-proto",
      "x-forwarded-port",
      "x-forwarded-server",
      "x-forwarded-anything",
      "x-forwarded",
      "x-original-forwarded-for",
      "x-client-ip",
      "x-cluster-client-ip",
      "true-client-ip",
      "cf-connecting-ip",
    ];
    for (const name of added) {
      const proxied = await httpProxy(port, { [name]: "" });
      expect(await postJson(proxied, "RunService/SearchRuns"), name).toMatchObject({ status: 401 });
      expect((await fetch(`${proxied}/metrics`)).status, name).toBe(401);
    }
    expect((await fetch(`${await httpProxy(port, {})}/metrics`)).status).toBe(200);
    expect((await postJson(url, "RunService/SearchRuns")).status).toBe(200);
  });

  it("S26 A2 no caller is the owner of a server with a public name, by any name", async () => {
    const { port } = (await start(["--allow-host", "box.example"])).listening;
    for (const host of ["box.example", `box.example:${port}`, "localhost", `127.0.0.1:${port}`]) {
      const sent = requestHttp({ port, host: "127.0.0.1", path: "/metrics", headers: { host } });
      sent.end();
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      expect([answer.statusCode, await text(answer)], host).toMatchObject([
        401,
        expect.stringContaining("NO_CREDENTIAL"),
      ]);
    }
  });

  it("S26 A29 the owner of a server of another user is only that user, not even root", async () => {
    const folder = folderForTest();
    chmodSync(folder, 0o777);
    const child = await startChild(["--data", join(folder, "data")], {
      env: { ...becoming(OTHER_UID), HOME: folder },
    });
    onTestFinished(async () => {
      child.child.kill("SIGKILL");
      await child.exited;
    });
    for (const [name, outcome] of Object.entries(await outcomesAs(OTHER_UID, child.url))) {
      expect(GRANTED, `${name}: ${outcome}`).toContain(outcome);
    }
    for (const uid of [0, OTHER_UID + 1]) {
      for (const [name, outcome] of Object.entries(await outcomesAs(uid, child.url))) {
        expect(REFUSED, `${uid} ${name}: ${outcome}`).toContain(outcome);
      }
    }
  });
});

const MADE = JSON.stringify({ name: "mallory", kind: "PRINCIPAL_KIND_GROUP" });
const MAKES = "/cairn.v1.AccessService/CreatePrincipal";

/** Makes a group, in two parts. */
function abandonedHttp1() {
  const head = `POST ${MAKES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return { first: head, rest: `Content-Length: ${MADE.length}\r\n\r\n${MADE}` };
}

function abandonedHttp2() {
  const fields = Buffer.concat([requestFields("POST", MAKES), field("content-type", "application/json")]);
  const rest = [
    http2Frame(FRAME.headers, END_HEADERS, 1, fields),
    http2Frame(FRAME.data, END_STREAM, 1, Buffer.from(MADE)),
  ];
  return {
    first: Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0)]).toString("latin1"),
    rest: Buffer.concat(rest).toString("latin1"),
  };
}

/** A proxy of the server's own user that adds headers. */
async function httpProxy(port: number, added: Record<string, string>): Promise<string> {
  const proxy = createServer((near, answer) => {
    const headers = { ...near.headers, host: `127.0.0.1:${port}`, ...added };
    const far = requestHttp(
      { host: "127.0.0.1", port, path: near.url, method: near.method, headers },
      (got) => {
        answer.writeHead(got.statusCode!, got.headers);
        got.pipe(answer);
      },
    );
    near.pipe(far);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
