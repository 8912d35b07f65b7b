import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startChild } from "../testing/child.ts";
import { callHttp2, usePorts } from "../testing/port.ts";
import { makeFolder, useServer } from "../testing/servers.ts";
import { checkUrl } from "./url-token.ts";

const server = useServer(["--auth"]);
const { session } = usePorts();

/** Ways in which a token may get into a URL. */
function urlsWith(token: string): string[] {
  const escaped = token.replaceAll("_", "%5F").replaceAll("-", "%2d");
  return [
    `/metrics?token=${token}`,
    `/metrics?access_token=${token}&x=1`,
    `/metrics?authorization=Bearer%20${token}`,
    `/metrics?token=${escaped}`,
    `/${token}/metrics`,
    `/artifacts/${"0".repeat(32)}/${token}`,
    `/cairn.v1.RunService/SearchRuns?token=${token}`,
    `/cairn.v1.MetricService/WriteEnvelope?${token}`,
    `/healthz?${token}`,
  ];
}

describe("S14: tokens do not leak", () => {
  it("S14 A28 a token in a URL is refused, valid or not, and not repeated", async () => {
    const { url } = server().listening;
    const right = server().newToken!;
    const client = session(url);
    for (const token of [right, `cairn_${"b".repeat(43)}`]) {
      for (const path of urlsWith(token)) {
        const refusal = { code: "invalid", reason: "TOKEN_IN_URL" };
        for (const headers of [{}, { authorization: `Bearer ${right}` }]) {
          const answer = await fetch(url + path, { headers });
          const text = await answer.text();
          expect([answer.status, JSON.parse(text)], path).toMatchObject([400, refusal]);
          expect(text).not.toContain(token);
          const post = { "content-type": "application/json", ...headers };
          const posted = await fetch(url + path, { method: "POST", headers: post, body: "{}" });
          expect([posted.status, await posted.json()], path).toMatchObject([400, refusal]);
          const second = await callHttp2(client, { ":path": path, ...headers });
          expect([second.headers[":status"], JSON.parse(second.body)], path).toMatchObject([400, refusal]);
        }
      }
    }
  });

  it("S14 A28 a text that is only similar to a token is allowed", () => {
    for (const path of [
      "/",
      "/cairn.v1.RunService/SearchRuns",
      "/artifacts/0123/cairn_notes-about-something-or-other.txt",
      `/x?cairn_${"b".repeat(42)}`,
      `/x?${"b".repeat(100)}`,
    ]) {
      expect(checkUrl(path), path).toBeUndefined();
    }
  });

  it("S14 no token and no password is in the output of the server, at any level", async () => {
    const folder = makeFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const child = await startChild(["--auth", "--data", folder, "--log-level", "debug"]);
    onTestFinished(() => void child.child.kill("SIGKILL"));
    const token = /shown only once: (cairn_\S+)/.exec(child.greeting.join("\n"))?.[1];
    // The greeting continues after the line with the address.
    await expect.poll(() => child.greeting.join("\n")).toContain("Admin token");
    const right = token ?? /shown only once: (cairn_\S+)/.exec(child.greeting.join("\n"))![1]!;
    const password = "Planted-password-9f3c1";
    const wrong = `cairn_${"w".repeat(43)}`;
    const secrets = [right, wrong, password];

    const post = async (path: string, body: unknown, authorization?: string) => {
      const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
      const text = JSON.stringify(body);
      const answer = await fetch(`${child.url}/cairn.v1.${path}`, { method: "POST", headers, body: text });
      return { status: answer.status, text: await answer.text() };
    };
    const user = { name: "ada", kind: "PRINCIPAL_KIND_USER", password };
    expect((await post("AccessService/CreatePrincipal", user, `Bearer ${right}`)).status).toBe(200);
    const login = await post("AccessService/LogIn", { name: "ada", password });
    expect(login.status).toBe(200);
    secrets.push((JSON.parse(login.text) as { secret: string }).secret);
    for (const authorization of [`Bearer ${wrong}`, `Basic ${btoa(`ada:${password}`)}`, `Digest ${right}`]) {
      const refused = await post("RunService/SearchRuns", {}, authorization);
      expect(refused.status).toBe(401);
      for (const secret of secrets) expect(refused.text).not.toContain(secret);
    }
    for (const body of [
      { name: "ada", password: `${password}x` },
      { name: "ada", wrong: password },
    ]) {
      const refused = await post("AccessService/LogIn", body);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.text).not.toContain(password);
    }
    for (const path of urlsWith(right)) await (await fetch(child.url + path)).text();
    // Requests that the parser of HTTP refuses.
    for (const text of [
      `GET /?${right} HTTP/9.9\r\n\r\n`,
      `GET / HTTP/1.1\r\nauthorization: Bearer ${right}\r\nbad header\r\n\r\n`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${right}${right}`,
      `${right}\r\n\r\n`,
    ]) {
      const socket = connect(Number(new URL(child.url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.on("data", () => {});
      socket.end(text);
      await once(socket, "close");
    }
    child.child.kill("SIGTERM");
    await child.exited;
    const said = child.log.join("\n");
    expect(said).toContain("stopping");
    for (const secret of secrets) expect(said).not.toContain(secret);
    const greeting = child.greeting.join("\n");
    expect(greeting.split(right)).toHaveLength(2);
    for (const secret of secrets.slice(1)) expect(greeting).not.toContain(secret);
  });
});
