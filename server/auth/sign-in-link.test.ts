import { describe, expect, it, onTestFinished } from "vitest";
import { greeting } from "../greeting.ts";
import { checkUrl } from "./url-token.ts";
import { startServer } from "../testing/servers.ts";
import { forwardClock } from "../testing/walk-world.ts";
import type { ServeOptions, Server } from "../serve.ts";

const HOUR_US = 3_600_000_000;

async function start(argv: readonly string[] = ["--auth"], options: ServeOptions = {}): Promise<Server> {
  const server = await startServer(argv, options);
  onTestFinished(() => server.close());
  return server;
}

async function signIn(server: Server, token: string): Promise<Response> {
  return fetch(`${server.listening.url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
}

describe("S14: the first start of a shared server", () => {
  it("B220 prints the login line and a link for the browser, with the address that people use", async () => {
    const server = await start();
    const { url } = server.listening;
    const said = greeting(server, { host: "127.0.0.1", data: "memory:", insecure: false });
    expect(said).toContain(`in a terminal: cairn login ${url}\n`);
    expect(said).toContain(`in a browser: ${url}/login#${server.linkSecret}\n`);
    expect(said).not.toContain("localhost");
    expect(said).not.toContain("Bearer");
    const publicUrl = "https://cairn.example.org/";
    const named = greeting(server, { host: "127.0.0.1", data: "memory:", insecure: false, publicUrl });
    expect(named).toContain("cairn login https://cairn.example.org\n");
    expect(named).toContain("https://cairn.example.org/login#cairn_link_");
    const everywhere = await start(["--host", "0.0.0.0"]);
    const open = greeting(everywhere, { host: "0.0.0.0", data: "memory:", insecure: false });
    expect(open).toContain("From other machines, replace localhost");
  });

  it("B220 a start without a new token prints neither", async () => {
    const server = await start([]);
    const said = greeting(server, { host: "127.0.0.1", data: "memory:", insecure: false });
    expect(server.linkSecret).toBeUndefined();
    expect(said).not.toContain("/login#");
    expect(said).not.toContain("cairn login");
  });

  it("B221 the link is not the token, signs in once as the admin, and is not a credential itself", async () => {
    const server = await start();
    const secret = server.linkSecret!;
    expect(secret).not.toBe(server.newToken);
    const { url } = server.listening;
    const asToken = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${secret}` } });
    expect(asToken.status).toBe(401);
    const first = await signIn(server, secret);
    expect(first.status).toBe(204);
    expect(first.headers.get("set-cookie")).toContain("HttpOnly");
    expect((await signIn(server, secret)).status).toBe(401);
    // The token itself still works.
    expect((await signIn(server, server.newToken!)).status).toBe(204);
  });

  it("B221 the link ends after an hour", async () => {
    const clock = forwardClock();
    const server = await start(["--auth"], { clock });
    clock.addUs += HOUR_US;
    expect((await signIn(server, server.linkSecret!)).status).toBe(401);
  });

  it("S14 B221 the secret of a link is refused in a URL", async () => {
    const server = await start();
    expect(checkUrl(`/login?token=${server.linkSecret}`)).toMatchObject({ reason: "TOKEN_IN_URL" });
  });
});
