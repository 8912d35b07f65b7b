import { request } from "node:http";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { AccessService } from "#proto/cairn/v1/access_pb.ts";
import { dose } from "../../tools/dose.ts";
import { RawClient } from "../testing/raw-client.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer(["--auth"]);
/** Each is worked out at full cost. */
const LOG_INS = dose(5, 33);
const PASSWORD = "correct horse battery";

describe("S29: signing in during guessing attacks", () => {
  it("S29, A35, A71: made-up names from other addresses do not block a right password", async () => {
    const { url } = server().listening;
    const authorization = `Bearer ${server().newToken}`;
    const access = createClient(AccessService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
    await access.createPrincipal(
      { name: "ada", kind: 1, password: PASSWORD },
      { headers: { authorization } },
    );
    const statuses = new Map<number, number>();
    let guessed = 0;
    const over = new AbortController();
    const usedUp = Promise.withResolvers<void>();
    const guess = async () => {
      while (!over.signal.aborted) {
        const status = await logInFrom("127.0.0.10", url, { name: `made-up-${guessed++}`, password: "x" });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 429) usedUp.resolve();
      }
    };
    const guesses = Array.from({ length: 4 }, guess);
    await usedUp.promise;
    const right: number[] = [];
    for (let i = 0; i < LOG_INS; i++) {
      right.push(await logInFrom("127.0.0.2", url, { name: "ada", password: PASSWORD }));
    }
    over.abort();
    await Promise.all(guesses);
    expect(right).toEqual(Array<number>(LOG_INS).fill(200));
    expect(new Set(statuses.keys())).toEqual(new Set([401, 429]));
  }, 600_000);

  it("S29, A75: checks of clients that disconnected are skipped", async () => {
    const { url, port } = server().listening;
    const headers = { authorization: `Bearer ${server().newToken}` };
    const access = createClient(AccessService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
    await access.createPrincipal({ name: "eve", kind: 1, password: PASSWORD }, { headers });
    const { entries: before } = await access.listAudit({ pageSize: 1 }, { headers });
    const clients = await Promise.all(Array.from({ length: 18 }, () => RawClient.connect(port)));
    for (const [i, client] of clients.entries()) {
      const body = JSON.stringify({ name: `gone-${i}`, password: "wrong password" });
      const path = i % 2 === 0 ? "/session" : "/cairn.v1.AccessService/LogIn";
      await client.send(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    // Everything sent before this has been read by now.
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const { socket } of clients) socket.destroy();
    // From the same address, and so after all waiting ones.
    expect(await logInFrom("127.0.0.1", url, { name: "eve", password: PASSWORD })).toBe(200);
    const { entries } = await access.listAudit({ pageSize: 100 }, { headers });
    const since = entries.filter(({ number }) => number > before[0]!.number);
    expect(since.filter(({ action }) => action === "log-in-refused").length).toBeLessThan(9);
  }, 60_000);
});

/** LogIn over a connection from this address of the machine; the status. */
function logInFrom(localAddress: string, url: string, credential: object): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", headers, localAddress };
  const asked = request(`${url}/cairn.v1.AccessService/LogIn`, options, (response) => {
    response.resume().once("end", () => resolve(response.statusCode!));
  });
  asked.on("error", reject);
  asked.end(JSON.stringify(credential));
  return promise;
}
