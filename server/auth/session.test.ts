import { rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { createClient, type Client } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { AccessService } from "#proto/cairn/v1/access_pb.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { writeCertificate } from "../testing/certificate.ts";
import { makeFolder, startServer, useServer } from "../testing/servers.ts";
import { forwardClock } from "../testing/walk-world.ts";

const server = useServer(["--auth"]);
const JSON_TYPE = { "content-type": "application/json" };

function at(): { url: string; token: string; admin: Everything } {
  const { url } = server().listening;
  const token = server().newToken!;
  return { url, token, admin: clientsWith(url, token) };
}

type Everything = Clients & { access: Client<typeof AccessService> };

function clientsWith(url: string, token: string): Everything {
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  return { ...clientsOf(transport), access: createClient(AccessService, transport) };
}

/** Signs in; gives the whole header, the pair a browser would send, and what a page sends with its calls. */
async function signIn(url: string, credential: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(credential),
  });
  const header = response.headers.get("set-cookie") ?? "";
  const cookie = header.split(";", 1)[0]!;
  const pageKey = response.headers.get("x-cairn-page") ?? "";
  return { response, header, cookie, session: { cookie, "x-cairn-page": pageKey } };
}

/** WhoAmI, or any other method, as a page with this session. */
async function call(
  url: string,
  session: Record<string, string>,
  headers: Record<string, string> = {},
  method = "AccessService/WhoAmI",
) {
  const response = await fetch(`${url}/cairn.v1.${method}`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...session, ...headers },
    body: "{}",
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("S14: signing in with a browser", () => {
  it("S14 Z77 a token is exchanged for another one that ends within a day, in a cookie no script can read", async () => {
    const { url, token } = at();
    const { response, header, session } = await signIn(url, { token });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    const { port } = new URL(url);
    expect(header).toMatch(
      new RegExp(`^cairn_session_${port}=cairn_session_[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(header).not.toContain(token);
    const { body } = await call(url, session);
    expect(body).toMatchObject({ principal: { name: "admin" }, token: { name: "web session" } });
    const { createdUs, expiresUs } = body["token"] as { createdUs: string; expiresUs: string };
    expect(Number(expiresUs) - Number(createdUs)).toBe(86_400_000_000);
  });

  it("S14 Z77 a session has no more rights than the token it was made from", async () => {
    const { url, admin } = at();
    await admin.runs.createRun({ namespace: "team/a" });
    const { secret } = await admin.access.createToken({ role: 1, namespaces: ["team/a"] });
    const { session } = await signIn(url, { token: secret });
    const { body } = await call(url, session);
    expect(body["token"]).toMatchObject({ role: "ROLE_VIEWER", namespaces: ["team/a"] });
    expect(await call(url, session, {}, "RunService/CreateRun")).toMatchObject({ status: 403 });
  });

  it("S14 Z77 a name and its password also work; wrong ones are refused and limited", async () => {
    const { url, admin } = at();
    await admin.access.createPrincipal({ name: "ada", kind: 1, password: "correct horse battery" });
    const { session } = await signIn(url, { name: "ada", password: "correct horse battery" });
    expect((await call(url, session)).body).toMatchObject({ principal: { name: "ada" } });
    await admin.access.createPrincipal({ name: "ben", kind: 1, password: "correct horse battery" });
    const wrong = async (name: string) => {
      const statuses = [];
      for (let i = 0; i < 8; i++) {
        const { response, header } = await signIn(url, { name, password: `wrong ${i}` });
        expect(header).toBe("");
        statuses.push(response.status);
      }
      return statuses;
    };
    const ofBen = await wrong("ben");
    expect(ofBen.slice(0, 2)).toEqual([401, 401]);
    expect(ofBen.at(-1)).toBe(429);
    // A user who has signed in from there is not locked out by a few.
    expect(new Set(await wrong("ada"))).toEqual(new Set([401]));
    expect((await signIn(url, { name: "ada", password: "correct horse battery" })).header).not.toBe("");
  });

  it("S14 a wrong token and an invalid body are refused without quoting them", async () => {
    const { url, token } = at();
    for (const wrong of [`${token}x`, token.slice(0, -1), `cairn_${"a".repeat(43)}`, ""]) {
      const { response, header } = await signIn(url, { token: wrong });
      expect([response.status, header], wrong).toEqual([401, ""]);
    }
    for (const odd of [
      {},
      { token: 7 },
      { token, name: "ada" },
      { name: "ada" },
      ["hunter2"],
      { password: "hunter2" },
    ]) {
      const { response } = await signIn(url, odd);
      expect(response.status).toBe(400);
      expect(await response.text()).not.toMatch(/hunter2|ada|cairn_/);
    }
    const large = await signIn(url, { name: "ada", password: "x".repeat(100_000) });
    expect(large.response.status).toBe(413);
    const form = await fetch(`${url}/session`, { method: "POST", body: new URLSearchParams({ token }) });
    expect(form.status).toBe(415);
  });

  it("S14 Z77 signing out ends the session on the server, and signing in again ends the one before", async () => {
    const { url, token } = at();
    const first = await signIn(url, { token });
    const second = await signIn(url, { token }, { cookie: first.cookie });
    expect((await call(url, first.session, {}, "SystemService/GetInfo")).status).toBe(401);
    expect((await call(url, second.session, {}, "SystemService/GetInfo")).status).toBe(200);
    const out = await fetch(`${url}/session`, { method: "DELETE", headers: { cookie: second.cookie } });
    expect(out.status).toBe(204);
    expect(out.headers.get("set-cookie")).toMatch(
      /^cairn_session_\d+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/,
    );
    expect((await call(url, second.session, {}, "SystemService/GetInfo")).status).toBe(401);
    // A session ends with the token it was made from.
    const { admin } = at();
    const made = await admin.access.createToken({ role: 1 });
    const child = await signIn(url, { token: made.secret });
    expect((await call(url, child.session, {}, "SystemService/GetInfo")).status).toBe(200);
    await admin.access.revokeToken({ id: made.token!.id });
    expect((await call(url, child.session, {}, "SystemService/GetInfo")).status).toBe(401);
    // The token that was typed in stays valid, also when it is sent along.
    const both = await signIn(url, { token });
    const headers = { cookie: both.cookie, authorization: `Bearer ${token}` };
    await fetch(`${url}/session`, { method: "DELETE", headers });
    expect((await clientsWith(url, token).system.getInfo({})).version).not.toBe("");
    expect((await call(url, both.session, {}, "SystemService/GetInfo")).status).toBe(401);
  });

  it("S14 Z77 a session that has ended still shows the pages, to sign in again", async () => {
    const clock = forwardClock();
    const late = await startServer(["--auth"], { clock });
    onTestFinished(() => late.close());
    const { url } = late.listening;
    const { cookie, session } = await signIn(url, { token: late.newToken! });
    expect((await call(url, session, {}, "SystemService/GetInfo")).status).toBe(200);
    clock.addUs += 86_400_000_000 + 1;
    expect(await call(url, session, {}, "SystemService/GetInfo")).toMatchObject({
      status: 401,
      body: { code: "unauthenticated" },
    });
    expect((await fetch(`${url}/login`, { headers: { cookie } })).status).toBe(200);
    expect((await signIn(url, { token: late.newToken! }, { cookie })).response.status).toBe(204);
  });

  it("S14 with TLS the cookie is for this host only and never sent in clear", async () => {
    const folder = makeFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const safe = await startServer(["--auth", ...writeCertificate(folder).argv]);
    onTestFinished(() => safe.close());
    const header = await new Promise<string>((resolve, reject) => {
      const request = httpsRequest(
        `${safe.listening.url}/session`,
        { method: "POST", headers: JSON_TYPE, rejectUnauthorized: false },
        (response) => {
          response.resume();
          resolve(String(response.headers["set-cookie"]));
        },
      );
      request.on("error", reject);
      request.end(JSON.stringify({ token: safe.newToken }));
    });
    expect(header).toMatch(
      /^__Host-cairn_session_\d+=cairn_session_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const proxied = await startServer(["--auth", "--public-url", "https://cairn.example.org"]);
    onTestFinished(() => proxied.close());
    const signed = await signIn(proxied.listening.url, { token: proxied.newToken! });
    expect(signed.header).toMatch(/^__Host-cairn_session_\d+=.*; Secure$/);
    // Planted by another host, which may not use the prefix.
    const planted = { ...signed.session, cookie: signed.cookie.replace("__Host-", "") };
    expect((await call(proxied.listening.url, planted, {}, "SystemService/GetInfo")).status).toBe(401);
    expect((await call(proxied.listening.url, signed.session, {}, "SystemService/GetInfo")).status).toBe(200);
  });
});

describe("S5: other pages cannot use a cookie", () => {
  it("S5 is valid only in requests of our own page", async () => {
    const { url, token } = at();
    const { cookie, session } = await signIn(url, { token });
    const { origin } = new URL(url);
    const own = { origin, "sec-fetch-site": "same-origin" };
    expect((await call(url, session, own, "RunService/CreateRun")).status).toBe(200);
    const count = async () => (await at().admin.runs.searchRuns({})).totalCount;
    const before = await count();
    const foreign: Record<string, string>[] = [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:1" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "content-type": "text/plain" },
    ];
    for (const headers of foreign) {
      expect([403, 415], JSON.stringify(headers)).toContain(
        (await call(url, session, headers, "RunService/CreateRun")).status,
      );
      for (const method of ["POST", "DELETE"]) {
        const body = method === "POST" ? JSON.stringify({ token }) : undefined;
        const sent = await fetch(`${url}/session`, {
          method,
          headers: { ...JSON_TYPE, cookie, ...headers },
          body: body ?? null,
        });
        expect(sent.status, `${method} ${JSON.stringify(headers)}`).toBeGreaterThanOrEqual(400);
      }
    }
    expect(await count()).toBe(before);
    expect((await call(url, session, own, "SystemService/GetInfo")).status).toBe(200);
  });

  it("S5 S3 content of artifacts is read with it by our own page only, and cannot run", async () => {
    const { url, token, admin } = at();
    const { cookie } = await signIn(url, { token });
    const { run } = await admin.runs.createRun({ namespace: "files" });
    const path = `/artifacts/${run!.id}/report.html`;
    const authorization = `Bearer ${token}`;
    await fetch(url + path, {
      method: "PUT",
      headers: { "content-type": "text/html", authorization },
      body: "<script>1</script>",
    });
    const read = (headers: Record<string, string>) => fetch(url + path, { headers: { cookie, ...headers } });
    const own = await read({ "sec-fetch-site": "same-origin" });
    expect(own.status).toBe(200);
    expect(own.headers.get("content-security-policy")).toContain("sandbox");
    expect(own.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect((await read({ "sec-fetch-site": "cross-site" })).status).toBe(401);
    expect((await read({ "sec-fetch-site": "same-site" })).status).toBe(401);
  });

  it("S5 a credential in the header is checked alone, and the cookie ignored", async () => {
    const { url, token } = at();
    const { cookie, session } = await signIn(url, { token });
    const wrong = { authorization: `Bearer cairn_${"c".repeat(43)}` };
    expect((await call(url, session, wrong)).status).toBe(401);
    // A cookie of another server on this machine is not ours.
    const { port } = new URL(url);
    const foreign = { ...session, cookie: cookie.replace(`_${port}=`, `_${Number(port) + 1}=`) };
    expect((await call(url, foreign, {}, "SystemService/GetInfo")).status).toBe(401);
  });
});

describe("S14: a cookie is sent to every port of the host", () => {
  it("S14, A36: its value is not a token: not as Bearer, not as Basic, not for another session", async () => {
    const { url, token } = at();
    const { cookie, session } = await signIn(url, { token });
    const secret = cookie.slice(cookie.indexOf("=") + 1);
    const pageKey = session["x-cairn-page"];
    expect([secret, pageKey]).toEqual([
      expect.stringMatching(/^cairn_session_[\w-]{43}$/),
      expect.stringMatching(/^cairn_page_[\w-]{43}$/),
    ]);
    for (const one of [secret, pageKey]) {
      const basic = Buffer.from(`:${one}`).toString("base64");
      for (const authorization of [`Bearer ${one}`, `Basic ${basic}`]) {
        expect((await call(url, {}, { authorization })).status).toBe(401);
      }
      expect((await signIn(url, { token: one })).response.status).toBe(401);
    }
  });

  it("S14, A79, A80: it is only valid with the key of its page, except to read content and to sign out", async () => {
    const { url, token, admin } = at();
    const { cookie, session } = await signIn(url, { token });
    const other = await signIn(url, { token });
    const status = async (headers: Record<string, string>) =>
      (await call(url, headers, {}, "SystemService/GetInfo")).status;
    expect(await status(session)).toBe(200);
    expect(await status({ cookie })).toBe(401);
    expect(await status({ cookie, "sec-fetch-site": "same-origin" })).toBe(401);
    expect(await status({ cookie, "x-cairn-page": "1" })).toBe(401);
    expect(await status({ cookie, "x-cairn-page": other.session["x-cairn-page"] })).toBe(401);
    const { run } = await admin.runs.createRun({ namespace: "files" });
    const file = `${url}/artifacts/${run!.id}/notes.txt`;
    const write = (method: string, headers: Record<string, string>) =>
      fetch(file, {
        method,
        headers: { "content-type": "text/plain", ...headers },
        body: method === "PUT" ? "x" : null,
      });
    expect((await write("PUT", { cookie })).status).toBe(401);
    expect((await write("PUT", session)).status).toBeLessThan(300);
    expect((await fetch(file, { headers: { cookie } })).status).toBe(200);
    expect((await write("DELETE", { cookie })).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: { cookie } })).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: session })).status).toBe(200);
    await fetch(`${url}/session`, { method: "DELETE", headers: { cookie } });
    expect(await status(session)).toBe(401);
  });

  it("S14, A33: a session makes no token without the password", async () => {
    const { url, admin } = at();
    const password = "correct horse battery";
    await admin.access.createPrincipal({ name: "eve", kind: 1, password });
    await admin.access.bindRole({ principal: "eve", role: 1, scope: { namespace: "" } });
    const { session } = await signIn(url, { name: "eve", password });
    const create = async (body: object) => {
      const response = await fetch(`${url}/cairn.v1.AccessService/CreateToken`, {
        method: "POST",
        headers: { ...JSON_TYPE, ...session },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const needed = await create({ name: "x" });
    expect([needed.status, JSON.stringify(needed.body)]).toEqual([
      400,
      expect.stringContaining("PASSWORD_NEEDED"),
    ]);
    const wrong = await create({ name: "x", password: "wrong" });
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([
      403,
      expect.stringContaining("BAD_PASSWORD"),
    ]);
    const made = await create({ name: "x", password });
    expect(made).toMatchObject({
      status: 200,
      body: { token: { kind: "TOKEN_KIND_TOKEN", principal: "eve" } },
    });
  });
});
