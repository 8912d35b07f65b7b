import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "#server/testing/servers.ts";
import type { Server } from "#server/serve.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { startAttacker } from "./attacker.ts";
import { launchChromium } from "./chromium.ts";

const CREATE = "/cairn.v1.RunService/CreateRun";

/**
 * What a page can do without asking anybody: each attempt resolves whatever comes of it, and none of
 * them may have changed anything. "done" appears in the title when all have been made.
 */
function attackPage(target: string): string {
  return `<!doctype html><title>page</title>
<iframe name="sink" sandbox="allow-forms allow-scripts"></iframe>
<form id="plain" method="post" action="${target}${CREATE}" enctype="text/plain" target="sink">
  <input name='{"name":"evil form' value='"}'></form>
<form id="encoded" method="post" action="${target}${CREATE}" target="sink"><input name="name" value="evil"></form>
<form id="multi" method="post" action="${target}${CREATE}" enctype="multipart/form-data" target="sink"><input name="name" value="evil"></form>
<script>
  const body = '{"name":"evil fetch"}';
  const attempt = (work) => Promise.resolve().then(work).then((x) => "let through: " + x, (e) => "refused: " + e.name);
  const types = ["text/plain", "application/json", "application/proto", "application/grpc-web+proto",
    "application/x-www-form-urlencoded", "application/octet-stream"];
  async function go() {
    for (const id of ["plain", "encoded", "multi"]) {
      const loaded = new Promise((resolve) => (document.querySelector("iframe").onload = resolve));
      document.getElementById(id).submit();
      await loaded;
    }
    const results = {};
    for (const mode of ["no-cors", "cors"]) for (const type of types) for (const method of ["POST", "PUT", "DELETE"]) {
      const init = { method, mode, credentials: "include", headers: { "content-type": type }, body };
      results[[mode, type, method].join(" ")] = await attempt(async () => (await fetch("${target}${CREATE}", init)).text());
    }
    results.beacon = await attempt(() => navigator.sendBeacon("${target}${CREATE}", new Blob([body], { type: "text/plain" })));
    results.get = await attempt(async () => (await fetch("${target}/metrics")).text());
    results.image = await attempt(() => new Promise((resolve, reject) => {
      const image = new Image(); image.onload = resolve; image.onerror = () => reject(new Error("image"));
      image.src = "${target}${CREATE}?name=evil";
    }));
    results.socket = await attempt(() => new Promise((resolve, reject) => {
      const socket = new WebSocket("${target.replace("http", "ws")}/"); socket.onopen = resolve; socket.onerror = () => reject(new Error("socket"));
    }));
    window.results = results;
    document.title = "done";
  }
  go();
</script>`;
}

describe("S5 a page of another site", () => {
  let server: Server;
  let clients: Clients;
  let browser: Browser;

  beforeAll(async () => {
    server = await startServer();
    clients = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
    await clients.runs.createRun({ name: "mine" });
    // As an attacker's name server would say it: the name is his, the address is this machine.
    // The browser's own guard against that is off: the server must do without it.
    browser = await launchChromium([
      "--host-resolver-rules=MAP rebound.example 127.0.0.1",
      "--disable-features=LocalNetworkAccessChecks",
    ]);
  });

  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  async function visit(url: string): Promise<Record<string, string>> {
    const page = await browser.newPage();
    try {
      await page.goto(url);
      await page.waitForFunction("document.title === 'done'", undefined, { timeout: 60_000 });
      return await page.evaluate<Record<string, string>>("window.results");
    } finally {
      await page.close();
    }
  }

  async function names(): Promise<string[]> {
    return (await clients.runs.searchRuns({})).runs.map((run) => run.name);
  }

  it("S5 changes nothing and reads nothing, whatever it sends", async () => {
    const attacker = await startAttacker({ "/": attackPage(server.listening.url) });
    const results = await visit(attacker.url);
    await attacker.close();
    expect(Object.keys(results).length).toBe(40);
    for (const [attempt, result] of Object.entries(results)) {
      // Without CORS a page may send some requests but cannot read the answers.
      const blind = attempt.startsWith("no-cors") || attempt === "beacon";
      if (blind)
        expect(["let through: ", "let through: true", "refused: TypeError"], attempt).toContain(result);
      else expect(result, attempt).toMatch(/^refused: /);
    }
    expect(await names()).toEqual(["mine"]);
  });

  it("S5 changes nothing under a name that resolves to this machine", async () => {
    const origin = `http://rebound.example:${server.listening.port}`;
    const page = await browser.newPage();
    expect((await page.goto(origin))?.status()).toBe(403);
    // The page came while the name still pointed at its own server. To the browser it is of one origin
    // with Cairn now, and only the name gives it away.
    await page.route(`${origin}/page`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>page</title>" }),
    );
    await page.goto(`${origin}/page`);
    const status = await page.evaluate(async (path) => {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"name":"evil"}',
      };
      return (await fetch(path, init)).status;
    }, CREATE);
    expect(status).toBe(403);
    await page.close();
    expect(await names()).toEqual(["mine"]);
  });
});
