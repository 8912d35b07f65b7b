import { describe, expect, it } from "vitest";
import { readSettings } from "../settings/settings.ts";
import { startServer } from "../testing/servers.ts";

interface Caller {
  name: string;
  headers: Record<string, string>;
}

/** The kind of the caller, and whether it may write. */
async function standingOf(port: number, { headers }: Caller): Promise<string> {
  const post = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${port}/cairn.v1.${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const who = await post("AccessService/WhoAmI", {});
  const answer = (await who.json()) as { code?: string; principal?: { kind: string } };
  const kind = answer.code ?? answer.principal!.kind.replace("PRINCIPAL_KIND_", "").toLowerCase();
  const write = await post("RunService/CreateRun", { namespace: "lab" });
  const route = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  expect(route.status).toBe(write.status);
  return `${kind} ${write.status}`;
}

const HOSTS = ["127.0.0.1", "localhost", "0.0.0.0"];
const NAMES = [[], ["--public-url", "https://cairn.example.org"], ["--allow-host", "localhost"]];
const MODES = [[], ["--auth"], ["--insecure"]];

const matrix = HOSTS.flatMap((host) =>
  NAMES.flatMap((name) =>
    MODES.map((mode) => {
      const argv = ["--host", host, ...name, ...mode];
      return { title: argv.join(" "), argv, host, name, mode };
    }),
  ),
);

describe("S15: permissions after a start", () => {
  it.each(matrix)("S15 A27 $title", async ({ argv, host, name, mode }) => {
    const server = await startServer(argv);
    try {
      const insecure = mode.includes("--insecure");
      const known = name.includes("https://cairn.example.org");
      const hasOwner = !insecure && mode.length === 0 && host !== "0.0.0.0" && !known;
      const { newToken, listening } = server;
      // A credential is only made when required, and there is always a way to sign in.
      expect(newToken === undefined).toBe(insecure || hasOwner);
      const proxied = { "x-forwarded-for": "10.0.0.1" };
      const wrong = { authorization: `Bearer cairn_${"a".repeat(43)}` };
      const callers: (Caller & { is: string })[] = [
        { name: "plain", headers: {}, is: hasOwner ? "owner 200" : "anonymous 401" },
        { name: "proxied", headers: proxied, is: "anonymous 401" },
        { name: "wrong", headers: wrong, is: "unauthenticated 401" },
        { name: "empty", headers: { authorization: "Bearer" }, is: "unauthenticated 401" },
        { name: "default", headers: basic("admin:admin"), is: "unauthenticated 401" },
        { name: "blank", headers: basic("admin:"), is: "unauthenticated 401" },
      ];
      if (newToken !== undefined) {
        const right = { authorization: `Bearer ${newToken}` };
        callers.push({ name: "right", headers: right, is: "user 200" });
        callers.push({ name: "right through a proxy", headers: { ...right, ...proxied }, is: "user 200" });
        callers.push({ name: "right as a password", headers: basic(`x:${newToken}`), is: "user 200" });
      }
      for (const caller of callers) {
        const expected = insecure ? "owner 200" : caller.is;
        expect(await standingOf(listening.port, caller), caller.name).toBe(expected);
      }
    } finally {
      await server.close();
    }
  });

  it("S15 --auth and --insecure cannot be combined", () => {
    expect(() => readSettings(["--auth", "--insecure"], {})).toThrow("requires a credential of everybody");
  });

  it("A27 the owner can make users, and their tokens have only their rights on the owner's machine", async () => {
    const server = await startServer();
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${server.listening.url}/cairn.v1.${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      return { status: answer.status, json: (await answer.json()) as Record<string, string> };
    };
    try {
      await post("AccessService/CreatePrincipal", { name: "ada", kind: "PRINCIPAL_KIND_USER" });
      const scope = { namespace: "lab" };
      await post("AccessService/BindRole", { principal: "ada", role: "ROLE_VIEWER", scope });
      const { json } = await post("AccessService/CreateToken", { principal: "ada" });
      const ada = { authorization: `Bearer ${json["secret"]}` };
      expect((await post("RunService/CreateRun", scope)).status).toBe(200);
      expect((await post("RunService/CreateRun", scope, ada)).status).toBe(403);
      expect((await post("RunService/SearchRuns", {}, ada)).json["totalCount"]).toBe("1");
    } finally {
      await server.close();
    }
  });
});

function basic(pair: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}
