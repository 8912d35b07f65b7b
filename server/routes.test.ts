import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { homePage } from "./web/home-page.ts";
import { preloading, startChild } from "./testing/child.ts";
import { callHttp2, usePorts } from "./testing/port.ts";
import { makeFolder, startServer, useServer } from "./testing/servers.ts";
import { openWebFiles } from "./web/web-files.ts";

const server = useServer();
const { session } = usePorts();

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(server().listening.url + path, init);
}

describe("routes", () => {
  it("B2 health and readiness answer in JSON", async () => {
    for (const [path, status] of [
      ["/healthz", "alive"],
      ["/readyz", "ready"],
    ] as const) {
      const answer = await get(path);
      expect([answer.status, await answer.json()]).toEqual([200, { status }]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const head = await get(path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
    }
  });

  it("W1 routes answer over HTTP/2 too", async () => {
    const client = session(server().listening.url);
    const { headers, body } = await callHttp2(client, { ":path": "/readyz" });
    expect([headers[":status"], body]).toEqual([200, '{"status":"ready"}']);
    const page = await callHttp2(client, { ":path": "/" });
    expect(page.body).toContain(`curl -s ${server().listening.url}/cairn.v1.RunService/CreateRun`);
  });

  it("loads the metrics again when they could not be loaded at the first request", async () => {
    const env = preloading(`import { registerHooks } from "node:module";
      let failures = 1;
      registerHooks({
        load(url, context, next) {
          if (url.endsWith("/prometheus.ts") && failures-- > 0) throw new Error("too many open files");
          return next(url, context);
        },
      });`);
    const { url, child } = await startChild(["--data", "memory:"], { env });
    onTestFinished(() => void child.kill("SIGKILL"));
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });

  it("counts envelopes, points and connections for Prometheus", async () => {
    const { runs, metrics } = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    const { run } = await runs.createRun({});
    const envelope = {
      run: { id: run!.id },
      writer: "w",
      seq: 1n,
      series: [{ key: "k", values: [1, 2, 3] }],
    };
    await metrics.writeEnvelope(envelope);
    await metrics.writeEnvelope(envelope);
    const answer = await get("/metrics");
    expect(answer.headers.get("content-type")).toContain("text/plain");
    const text = await answer.text();
    expect(text).toMatch(/^cairn_ingested_envelopes 1$/m);
    expect(text).toMatch(/^cairn_ingested_points 3$/m);
    expect(text).toMatch(/^cairn_connections_open [1-9]/m);
    expect(text).toMatch(/^# HELP process_cpu_seconds_total/m);
  });

  it("an unknown path is 404, another method 405", async () => {
    const missing = await get("/nothing");
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: "not-found" }]);
    const wrong = await get("/healthz", { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("Z85 a browser at an unknown address gets the pages with 404, other clients the plain error", async () => {
    const folder = makeFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "build.json"), "{}");
    writeFileSync(join(folder, "index.html"), "<html><p>pages</p></html>");
    const built = await startServer([], { web: openWebFiles(folder) });
    onTestFinished(() => built.close());
    const { url } = built.listening;
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const seen = await fetch(`${url}/no/such?page`, { headers: browser });
    expect([seen.status, await seen.text()]).toEqual([404, "<html><p>pages</p></html>"]);
    expect(seen.headers.get("content-security-policy")).toContain("script-src 'nonce-");
    expect(seen.headers.get("x-content-type-options")).toBe("nosniff");
    const head = await fetch(`${url}/no/such`, { method: "HEAD", headers: browser });
    expect([head.status, head.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    for (const [method, path, headers, status] of [
      ["GET", "/no/such", { accept: "*/*" }, 404],
      ["GET", "/no/such", { accept: "application/json" }, 404],
      ["POST", "/no/such", browser, 404],
      ["GET", "/cairn.v1.RunService/NoSuchMethod", browser, 404],
      ["GET", "/assets/none.js", browser, 404],
      ["DELETE", "/healthz", browser, 405],
      ["GET", "/no/%5csuch", browser, 400],
      ["GET", "/healthz", browser, 200],
    ] as const) {
      const answer = await fetch(url + path, { method, headers });
      const type = answer.headers.get("content-type");
      expect([path, answer.status, type]).toEqual([path, status, "application/json; charset=utf-8"]);
    }
    const unbuilt = await get("/no/such", { headers: browser });
    expect([unbuilt.status, await unbuilt.json()]).toMatchObject([404, { code: "not-found" }]);
  });

  it("S3: the front page may not run scripts or be framed", async () => {
    const answer = await get("/");
    const policy = answer.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
    const page = await answer.text();
    expect(page).toContain(`<style nonce="${nonce}">`);
    const again = (await get("/")).headers.get("content-security-policy");
    expect(again).not.toBe(policy);
  });
});

describe("front page", () => {
  it("S3: its content is escaped", () => {
    const page = homePage({ version: "<b>'&", url: "http://h:1", needsToken: false, nonce: "n" });
    expect(page).toContain("Version &lt;b&gt;&#39;&amp; at");
  });

  it("shows how to send the token where one is required", () => {
    const facts = { version: "1", url: "https://h:1", nonce: "n" };
    expect(homePage({ ...facts, needsToken: true })).toContain("authorization: Bearer TOKEN");
    expect(homePage({ ...facts, needsToken: false })).not.toContain("authorization");
    expect(homePage({ ...facts, needsToken: false })).toContain("grpcurl h:1 list");
  });
});
