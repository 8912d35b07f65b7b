import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import type { Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { callRaw, errorOf, PROTOCOLS } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import type { ServeOptions, Server } from "../serve.ts";
import { startChild } from "../testing/child.ts";
import { callAs, OTHER_UID } from "../testing/other-user.ts";
import { makeFolder, startServer } from "../testing/servers.ts";
import { forwardClock } from "../testing/walk-world.ts";
import { Watching } from "../testing/watching.ts";

const JSON_TYPE = { "content-type": "application/json" };
const DAY_US = 86_400_000_000;

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Started {
  server: Server;
  url: string;
  secret: string;
  folder: string;
  path: string;
}

async function start(
  argv: readonly string[] = ["--local-secret"],
  options: ServeOptions = {},
): Promise<Started> {
  const folder = options.localSecretFolder ?? join(folderForTest(), "cairn");
  const server = await startServer(argv, { localSecretFolder: folder, ...options });
  onTestFinished(() => server.close());
  const { url, port } = server.listening;
  return { server, url, secret: server.localSecret ?? "", folder, path: join(folder, `local-${port}.json`) };
}

async function whoAmI(url: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${url}/cairn.v1.AccessService/WhoAmI`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: "{}",
  });
  const body = (await answer.json()) as { principal?: { kind: string }; details?: unknown };
  return body.principal?.kind.replace("PRINCIPAL_KIND_", "") ?? String(answer.status);
}

async function signIn(url: string, token: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/session`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify({ token }),
  });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0]!;
  return {
    status: answer.status,
    shown: { cookie, "x-cairn-page": answer.headers.get("x-cairn-page") ?? "" },
  };
}

describe("S26: the local secret", () => {
  it("S26 A30 is in a file that only this user can read, and makes a caller that sends it the owner", async () => {
    const { url, secret, path } = await start();
    expect(secret).toMatch(/^cairn_local_[\w-]{37}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      address: "127.0.0.1",
      secret,
      pid: process.pid,
    });
    // Without it not even a process of the same user is the owner.
    expect(await whoAmI(url)).toBe("ANONYMOUS");
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const right = { authorization: `Bearer ${secret}` };
    expect(await whoAmI(url, right)).toBe("OWNER");
    expect((await fetch(`${url}/metrics`, { headers: right })).status).toBe(200);
    const basic = { authorization: `Basic ${btoa(`x:${secret}`)}` };
    expect(await whoAmI(url, basic)).toBe("OWNER");
    for (const protocol of PROTOCOLS) {
      const call = { protocol, path: "/cairn.v1.RunService/SearchRuns", message: Buffer.alloc(0) };
      expect(await callRaw(url, { ...call, headers: right }), protocol).toMatchObject({ ok: true });
      expect(await callRaw(url, call), protocol).toMatchObject({ ok: false, code: "Unauthenticated" });
    }
  });

  it("S26 A30 a wrong one, one of another start and one through a proxy are invalid", async () => {
    const { url, secret } = await start();
    const other = await start();
    for (const wrong of [
      other.secret,
      `${secret}x`,
      secret.slice(0, -1),
      "cairn_local_",
      `cairn_local_${"a".repeat(37)}`,
    ]) {
      expect(await whoAmI(url, { authorization: `Bearer ${wrong}` }), wrong).toBe("401");
    }
    for (const name of ["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-proto"]) {
      expect(await whoAmI(url, { authorization: `Bearer ${secret}`, [name]: "x" }), name).toBe("401");
      expect((await signIn(url, secret, { [name]: "x" })).status, name).toBe(401);
    }
  });

  it("S26 A30 is not accepted by a server without an owner: with --auth, --public-url and on other addresses", async () => {
    for (const argv of [["--auth"], ["--public-url", "https://cairn.example.org"], ["--host", "0.0.0.0"]]) {
      const { server, folder } = await start([...argv, "--local-secret"]);
      expect(server.localSecret).toBeUndefined();
      expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    }
  });

  it("S26 A30 a browser gets a session for it, which ends with a sign-out, after a day, and with the server", async () => {
    const clock = forwardClock();
    const { url, secret } = await start(["--local-secret"], { clock });
    const first = await signIn(url, secret);
    expect(first.status).toBe(204);
    const { cookie } = first.shown;
    expect(cookie).not.toContain(secret);
    expect(await whoAmI(url, first.shown)).toBe("OWNER");
    // A server on another port gets the cookie, but not the key of the page.
    expect(await whoAmI(url, { cookie })).toBe("ANONYMOUS");
    expect(await whoAmI(url, { cookie, "x-cairn-page": "cairn_page_of_another" })).toBe("ANONYMOUS");
    expect(await whoAmI(url, { ...first.shown, "x-forwarded-for": "10.0.0.1" })).toBe("ANONYMOUS");
    expect(await whoAmI(url, { ...first.shown, "sec-fetch-site": "cross-site" })).toBe("403");
    // A cookie is not a token.
    expect(await whoAmI(url, { authorization: `Bearer ${cookie.split("=")[1]!}` })).toBe("401");
    await fetch(`${url}/session`, { method: "DELETE", headers: { cookie } });
    expect(await whoAmI(url, first.shown)).toBe("ANONYMOUS");
    const second = await signIn(url, secret);
    clock.addUs += DAY_US - 60_000_000;
    expect(await whoAmI(url, second.shown)).toBe("OWNER");
    clock.addUs += 120_000_000;
    expect(await whoAmI(url, second.shown)).toBe("ANONYMOUS");
  });

  it("S26 A26 A30 the rights of a session end in the middle of a stream when the session ends", async () => {
    const { url, secret } = await start();
    const { shown } = await signIn(url, secret);
    const { cookie } = shown;
    const withCookie: Interceptor = (next) => (request) => {
      for (const [name, value] of Object.entries(shown)) request.header.set(name, value);
      return next(request);
    };
    const transport = createGrpcTransport({ baseUrl: url, interceptors: [withCookie] });
    const watching = await Watching.open(clientsOf(transport).watch, { runs: {} });
    await fetch(`${url}/session`, { method: "DELETE", headers: { cookie } });
    const ended = errorOf(watching.any());
    const right = { ...JSON_TYPE, authorization: `Bearer ${secret}` };
    const body = JSON.stringify({ namespace: "lab" });
    await fetch(`${url}/cairn.v1.RunService/CreateRun`, { method: "POST", headers: right, body });
    expect(await ended).toMatchObject({ code: "Unauthenticated", details: [{ reason: "CREDENTIAL_ENDED" }] });
  });

  it("S26 A30 a stop removes the file, and the next start on the port replaces or removes that of a crash", async () => {
    const { server, folder, path, secret } = await start();
    const left = readFileSync(path, "utf8");
    await server.close();
    expect(existsSync(path)).toBe(false);
    const { port } = server.listening;
    writeFileSync(path, left, { mode: 0o644 });
    chmodSync(path, 0o644);
    const again = await start(["--local-secret", "--port", String(port)], { localSecretFolder: folder });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain(secret);
    // A server that was started meanwhile keeps its own.
    writeFileSync(path, left);
    await again.server.close();
    expect(readFileSync(path, "utf8")).toBe(left);
    await start(["--port", String(port)], { localSecretFolder: folder });
    expect(existsSync(path)).toBe(false);
  });

  it("S26 A30 nothing is written through a link, nor into a folder that others may write or own", async () => {
    const folder = folderForTest();
    const target = join(folder, "target");
    writeFileSync(target, "precious");
    const first = await start(["--local-secret"], { localSecretFolder: join(folder, "cairn") });
    const { port } = first.server.listening;
    await first.server.close();
    symlinkSync(target, first.path);
    const { server } = await start(["--local-secret", "--port", String(port)], {
      localSecretFolder: first.folder,
    });
    expect(readFileSync(target, "utf8")).toBe("precious");
    await server.close();
    chmodSync(first.folder, 0o777);
    const options = { localSecretFolder: first.folder };
    await expect(startServer(["--local-secret", "--port", String(port)], options)).rejects.toMatchObject({
      code: "precondition",
      message: expect.stringContaining("others may write to it") as string,
    });
    // And the port is free again.
    await (await startServer(["--port", String(port)])).close();
  });

  it("S14 S26 A28 A30 it is refused in a URL, and the server writes it only in its greeting", async () => {
    const home = folderForTest();
    mkdirSync(join(home, "data"));
    const child = await startChild(["--local-secret", "--data", join(home, "data"), "--log-level", "debug"], {
      env: { ...process.env, HOME: home, XDG_CONFIG_HOME: "" },
    });
    onTestFinished(() => void child.child.kill("SIGKILL"));
    await expect.poll(() => child.greeting.join("\n")).toContain("/login#cairn_local_");
    const [, link, secret] = /(http:\S+\/login)#(cairn_local_\S+)/.exec(child.greeting.join("\n"))!;
    expect(link).toBe(`${child.url}/login`);
    for (const path of [
      `/metrics?token=${secret}`,
      `/${secret}`,
      `/login?${secret}`,
      `/x/${secret!.replace("_", "%5f")}`,
    ]) {
      const answer = await fetch(child.url + path);
      expect([answer.status, await answer.json()], path).toMatchObject([400, { reason: "TOKEN_IN_URL" }]);
    }
    expect(await whoAmI(child.url, { authorization: `Bearer ${secret}` })).toBe("OWNER");
    const socket = connect(Number(new URL(child.url).port), "127.0.0.1");
    socket.on("error", () => undefined).on("data", () => undefined);
    socket.end(`GET / HTTP/1.1\r\nauthorization: Bearer ${secret}\r\nbad header\r\n\r\n`);
    await once(socket, "close");
    child.child.kill("SIGTERM");
    expect((await child.exited).code).toBe(0);
    expect(child.log.join("\n")).toContain("stopping");
    expect(child.log.join("\n")).not.toContain(secret);
    expect(readdirSync(join(home, ".config", "cairn"))).toEqual([]);
  });

  it("S26 A30 another user cannot read the file", async () => {
    const { url, path } = await start();
    chmodSync(join(path, "../.."), 0o755);
    const answer = await callAs(OTHER_UID, [{ url: `${url}/metrics`, method: "GET" }]);
    expect(answer[0]!.status).toBe(401);
    expect([statSync(path).mode & 0o077, statSync(join(path, "..")).mode & 0o077]).toEqual([0, 0]);
  });
});
