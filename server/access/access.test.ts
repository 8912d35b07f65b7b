import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Interceptor } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { permissionTable } from "#wire/connect/permission.ts";
import { ServerReflection, ServerReflectionAlpha } from "#wire/connect/services/reflection.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import { callRaw, errorOf, PROTOCOLS, sendRaw, type Outcome } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { makeFolder, startServer, useServer } from "../testing/servers.ts";
import { PAGE_PATHS } from "../web/web-routes.ts";

const local = useServer();

describe("permissions", () => {
  it("A1 every method the server answers is in the table, with the permission its proto declares", () => {
    const { permissions } = local().wire;
    const services = [...SERVICES, Health, ServerReflection, ServerReflectionAlpha];
    const methods = services.flatMap((service) =>
      service.methods.map(({ name }) => `${service.typeName}/${name}`),
    );
    expect([...permissions.keys()].sort()).toEqual(methods.sort());
    expect(permissions.get("cairn.v1.SystemService/RestoreBackup")).toBe("administer");
    expect(permissions.get("cairn.v1.RunService/PurgeRun")).toBe("maintain");
    expect(permissions.get("cairn.v1.RunService/MoveRun")).toBe("maintain");
    expect(permissions.get("cairn.v1.MetricService/WriteEnvelope")).toBe("write");
    expect(permissions.get("cairn.v1.RunService/SearchRuns")).toBe("read");
    const open = [...permissions].filter(
      ([name, needed]) => name.startsWith("cairn.") && needed === "public",
    );
    expect(open.map(([name]) => name.split("/")[1])).toEqual(["WhoAmI", "LogIn", "LogOut", "ChangePassword"]);
  });

  it("A1 a service with a method that declares none cannot be served", () => {
    // The health service is not ours and declares nothing.
    expect(() => permissionTable([{ desc: Health }])).toThrow(
      'cannot serve "grpc.health.v1.Health/Check": it declares no permission',
    );
  });

  it("A1 every route declares one", () => {
    const { routes } = local().router;
    const open = routes.filter(({ permission }) => permission === "public");
    const own = ["/healthz", "/readyz", "/session", "/session", "/install", "/install/:file"];
    expect(open.map(({ path }) => path)).toEqual([...own, ...PAGE_PATHS, "/assets/:file"]);
    expect(routes.find(({ path }) => path === "/metrics")?.permission).toBe("read");
  });
});

/** Adds the header to every call. */
function withToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

describe("a server that requires a token", () => {
  let folder: string;
  let server: Server;
  let url: string;
  let token: string;

  beforeAll(async () => {
    folder = makeFolder();
    server = await startServer(["--host", "0.0.0.0", "--data", folder]);
    url = `http://127.0.0.1:${server.listening.port}`;
    token = server.newToken!;
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it("A3 shows a token once, too long to be guessed", () => {
    expect(token).toMatch(/^cairn_[A-Za-z0-9_-]{40,}$/);
  });

  it("A3 answers no method without the token but those that are public", async () => {
    for (const [name, permission] of server.wire.permissions) {
      for (const protocol of PROTOCOLS) {
        const call = { protocol, path: `/${name}`, message: Buffer.alloc(0) };
        const unary = !/Watch|TailLog|ServerReflectionInfo|StreamEnvelopes/.test(name);
        // Streams need HTTP/2, and Connect has another content type for them.
        if (!unary && protocol !== "grpc") continue;
        // Watching a service's health does not end.
        if (name.endsWith("Watch")) continue;
        const outcome = await callRaw(url, call);
        if (permission === "public") expect(reasonOf(outcome), name).not.toBe("NO_CREDENTIAL");
        else {
          expect(outcome, `${name} over ${protocol}`).toMatchObject({
            code: "Unauthenticated",
            details: [{ reason: "NO_CREDENTIAL" }],
          });
        }
      }
    }
  });

  it("A3 answers no method with a wrong token", async () => {
    const wrong = [
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}x`,
      `Bearer cairn_${"a".repeat(43)}`,
      "Bearer",
      `Basic ${Buffer.from(token).toString("base64")}`,
      `Basic ${Buffer.from(`admin:${token}x`).toString("base64")}`,
      `Digest ${token}`,
      token,
      `Bearer ${token} ${token}`,
    ];
    let turn = 0;
    for (const name of server.wire.permissions.keys()) {
      if (/Watch|TailLog|ServerReflectionInfo|StreamEnvelopes/.test(name)) continue;
      for (const protocol of PROTOCOLS) {
        const authorization = wrong[turn++ % wrong.length]!;
        const call = { protocol, path: `/${name}`, message: Buffer.alloc(0), headers: { authorization } };
        expect(await callRaw(url, call), `${name} ${authorization}`).toMatchObject({
          code: "Unauthenticated",
          details: [{ reason: "BAD_CREDENTIAL" }],
        });
      }
    }
    for (const authorization of wrong) {
      expect((await fetch(`${url}/metrics`, { headers: { authorization } })).status).toBe(401);
    }
  });

  it("A3 refuses before it has read the body", async () => {
    const message = Buffer.alloc(32 << 20);
    for (const protocol of PROTOCOLS) {
      for (const path of ["MetricService/WriteEnvelope", "RunService/CreateRun"]) {
        const outcome = await callRaw(url, { protocol, path: `/cairn.v1.${path}`, message });
        expect(outcome, `${protocol} ${path}`).toMatchObject({ code: "Unauthenticated" });
      }
    }
  });

  it("A3 answers everything with the token, on every protocol", async () => {
    const interceptors = [withToken(token)];
    for (const transport of [
      createGrpcTransport({ baseUrl: url, interceptors }),
      createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors }),
      createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: true, interceptors }),
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", interceptors }),
    ]) {
      const { runs, metrics, system } = clientsOf(transport);
      const { run } = await runs.createRun({});
      expect(await metrics.writeEnvelope({ run: { id: run!.id }, writer: "w", seq: 1n })).toMatchObject({
        seq: 1n,
      });
      expect((await system.checkIntegrity({})).ok).toBe(true);
    }
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
    for (const authorization of [`bearer  ${token}`, basic(`:${token}`), basic(`admin:${token}`)]) {
      for (const protocol of PROTOCOLS) {
        const path = "/cairn.v1.SystemService/GetInfo";
        const call = { protocol, path, headers: { authorization }, message: Buffer.alloc(0) };
        expect(await callRaw(url, call), authorization).toEqual({ ok: true });
      }
    }
  });

  it("A3 answers health, readiness, reflection and the front page to anyone, and /metrics with the token", async () => {
    for (const path of ["/", "/healthz", "/readyz"]) expect((await fetch(url + path)).status).toBe(200);
    const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
    expect(await health.check({})).toMatchObject({ status: 1 });
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain("cairn_ingested_points");
    const page = await (await fetch(url)).text();
    expect(page).toContain("authorization: Bearer TOKEN");
    expect(page).not.toContain(token);
  });

  it("A3 keeps the token as a hash only, and does not show it again", async () => {
    const { system } = clientsOf(createGrpcTransport({ baseUrl: url, interceptors: [withToken(token)] }));
    await system.createBackup({ name: "token-test" });
    const secret = Buffer.from(token.slice("cairn_".length));
    for (const file of filesIn(folder)) expect(readFileSync(file).includes(secret), file).toBe(false);
    await server.close();
    server = await startServer(["--host", "0.0.0.0", "--data", folder]);
    url = `http://127.0.0.1:${server.listening.port}`;
    expect(server.newToken).toBeUndefined();
    const again = clientsOf(createGrpcTransport({ baseUrl: url, interceptors: [withToken(token)] }));
    expect((await again.system.getInfo({})).runCount).toBeGreaterThan(0n);
    const anonymous = clientsOf(createGrpcTransport({ baseUrl: url }));
    expect(await errorOf(anonymous.system.getInfo({}))).toMatchObject({ code: "Unauthenticated" });
  });
});

describe("a server for its own machine", () => {
  it("A2 a caller on the machine is the owner, one through a proxy is not", async () => {
    const { url } = local().listening;
    const path = "/cairn.v1.SystemService/GetInfo";
    for (const protocol of PROTOCOLS) {
      expect(await callRaw(url, { protocol, path, message: Buffer.alloc(0) })).toEqual({ ok: true });
      for (const name of ["forwarded", "x-forwarded-for", "via", "x-real-ip"]) {
        const headers = { [name]: "10.0.0.1" };
        for (const called of [path, "/cairn.v1.MetricService/WriteEnvelope"]) {
          expect(
            await callRaw(url, { protocol, path: called, headers, message: Buffer.alloc(0) }),
          ).toMatchObject({
            code: "Unauthenticated",
          });
        }
      }
    }
    expect((await fetch(`${url}/metrics`, { headers: { "x-forwarded-for": "10.0.0.1" } })).status).toBe(401);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect(local().newToken).toBeUndefined();
  });

  it("A4 a foreign host, a foreign origin and a form change nothing", async () => {
    const { url } = local().listening;
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: url }));
    const before = (await runs.searchRuns({})).totalCount;
    const message = Buffer.from('{"name": "evil"}');
    const path = "/cairn.v1.RunService/CreateRun";
    const json = { "content-type": "application/json" };
    const refused: [headers: Record<string, string>, status: number][] = [
      [{ ...json, host: "evil.example" }, 403],
      [{ ...json, origin: "http://evil.example" }, 403],
      [{ ...json, origin: "null" }, 403],
      [{ ...json, "sec-fetch-site": "cross-site" }, 403],
      [{ "content-type": "text/plain" }, 415],
      [{ "content-type": "application/x-www-form-urlencoded" }, 415],
      [{ "content-type": "multipart/form-data; boundary=x" }, 415],
    ];
    for (const [headers, status] of refused) {
      const answer = await sendRaw(url, { protocol: "connect", path, headers, message });
      expect(answer.status, JSON.stringify(headers)).toBe(status);
      const { host, ...others } = headers;
      const over2 = { ...others, ...(host !== undefined && { ":authority": host }) };
      const second = await sendRaw(url, { protocol: "connect over http2", path, headers: over2, message });
      expect(second.status, JSON.stringify(over2)).toBe(status);
    }
    expect((await runs.searchRuns({})).totalCount).toBe(before);
    const answer = await sendRaw(url, { protocol: "connect", path, headers: json, message });
    expect(answer.status).toBe(200);
    // No page of another origin may read what a GET answers.
    const page = await fetch(`${url}/healthz`, { headers: { origin: "http://evil.example" } });
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
  });
});

function reasonOf(outcome: Outcome): string | undefined {
  return outcome.ok ? undefined : outcome.details[0]?.reason;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}
