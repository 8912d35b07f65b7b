import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { InfoSchema } from "#proto/cairn/v1/system_pb.ts";
import { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { runCairn, useTerminal } from "../testing/cairn.ts";
import { startServer } from "#server/testing/servers.ts";
import { writeCertificate } from "#server/testing/certificate.ts";
import { checkServer } from "#cli/doctor/check-server.ts";
import { Cairn } from "#sdk/client.ts";
import { closedPort } from "../testing/free-port.ts";
import { startCairn } from "../testing/start-cairn.ts";

interface Finding {
  check: string;
  level: "ok" | "warn" | "bad";
  text: string;
  fix?: string;
}

describe("cairn doctor", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  let home = "";
  const toClose: (() => unknown)[] = [];
  let freePort = 0;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "cairn-doctor-"));
    freePort = await closedPort();
  });
  afterEach(async () => {
    for (const close of toClose.splice(0)) await close();
    await rm(join(home, ".config"), { recursive: true, force: true });
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  const environment = () => ({
    HOME: home,
    CAIRN_SERVER: terminal.server.url,
    CAIRN_TOKEN: terminal.adminToken,
    CAIRN_DATA: join(home, "data"),
  });
  const examine = async (words: string[] = [], env: NodeJS.ProcessEnv = {}, run = runCairn) => {
    const ended = await run(["doctor", "--json", "--port", String(freePort), ...words], {
      env: { ...environment(), ...env },
    });
    const findings = JSON.parse(ended.stdout) as Finding[];
    const hasBad = findings.some(({ level }) => level === "bad");
    expect(ended.code).toBe(hasBad ? 1 : 0);
    return (check: string) => {
      const found = findings.find((one) => one.check === check);
      if (found?.level !== "ok" && found !== undefined) expect(found.fix).toBeTruthy();
      return found;
    };
  };

  it("T14 finds no fault in a healthy setup", async () => {
    // The compile cache is the process's own.
    const found = await examine([], {}, startCairn);
    for (const check of ["node", "compile cache", "login file", "spool", "data folder", "port", "server"]) {
      expect(found(check)).toMatchObject({ level: "ok" });
    }
    for (const check of ["clock", "credential", "version", "transport"]) {
      expect(found(check)).toMatchObject({ level: "ok" });
    }
    const { stdout } = await runCairn(["doctor", "--port", String(freePort)], { env: environment() });
    expect(stdout).toMatch(/^✓ node +24\./);
    expect(stdout).toMatch(/No problems found\.\n$|0 faults, /);
  });

  it("T14 finds a cache that cannot be written", async () => {
    const found = await examine([], { NODE_DISABLE_COMPILE_CACHE: "1" }, startCairn);
    expect(found("compile cache")).toMatchObject({ level: "warn" });
  });

  it("T14 finds a login file that other users may read, and an invalid one", async () => {
    const folder = join(home, ".config", "cairn");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "login.json"), '{"servers":{}}', { mode: 0o600 });
    await chmod(join(folder, "login.json"), 0o644);
    const open = (await examine())("login file");
    expect(open).toMatchObject({ level: "bad" });
    expect(open?.fix).toContain(`chmod 600 ${folder}/login.json`);
    await chmod(join(folder, "login.json"), 0o600);
    await writeFile(join(folder, "login.json"), "{");
    expect((await examine())("login file")).toMatchObject({
      level: "bad",
      fix: expect.stringContaining("login"),
    });
  });

  it("T14 finds the spool of a dead job, and ignores that of a running one", async () => {
    const spool = join(home, "spool");
    const leave = async (writer: string, pid: number) => {
      await mkdir(join(spool, writer), { recursive: true });
      const owner = {
        version: 1,
        writer,
        server: "x",
        client: "t",
        host: hostname(),
        pid,
        pidStart: "",
        createdUs: 1,
      };
      await writeFile(join(spool, writer, "owner.json"), JSON.stringify(owner));
    };
    await leave("a".repeat(32), process.pid);
    expect((await examine([], { CAIRN_SPOOL: spool }))("spool")).toMatchObject({ level: "ok" });
    const dead = Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
    await leave("b".repeat(32), dead);
    expect((await examine([], { CAIRN_SPOOL: spool }))("spool")).toMatchObject({
      level: "warn",
      text: expect.stringContaining("1 job ended") as string,
      fix: "cairn sync",
    });
  });

  it("T14 finds a data folder that cannot be written", async () => {
    const found = await examine(["--data", "/dev/null/data"]);
    expect(found("data folder")).toMatchObject({ level: "bad" });
  });

  it("T14 finds a data folder that others may look into", async () => {
    await mkdir(join(home, "open"));
    await chmod(join(home, "open"), 0o755);
    const found = await examine(["--data", join(home, "open")]);
    expect(found("data rights")).toMatchObject({ level: "warn", fix: `chmod 700 ${join(home, "open")}` });
  });

  it("T14 finds a data folder in memory", async () => {
    const found = await examine(["--data", "/dev/shm/cairn-doctor-test"]);
    expect(found("file system")).toMatchObject({
      level: "warn",
      text: expect.stringContaining("tmpfs") as string,
    });
  });

  it("T14 finds a port in use by another program, and names it; a Cairn is fine", async () => {
    const other = createNetServer((socket) => socket.on("error", () => {}).end("hello\n"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    toClose.push(() => other.close());
    const { port } = other.address() as AddressInfo;
    const taken = (await examine(["--port", String(port)]))("port");
    expect(taken).toMatchObject({ level: "bad" });
    expect(taken?.text).toContain("is in use by another program");
    if (process.platform === "linux") expect(taken?.text).toContain(`process ${process.pid}`);
    const ours = (await examine(["--port", new URL(terminal.server.url).port]))("port");
    expect(ours).toMatchObject({ level: "ok" });
    expect(ours?.text).toContain("a Cairn listens there");
  });

  it("T14 finds an unreachable server, and one that is not a Cairn", async () => {
    const away = await examine([], { CAIRN_SERVER: `127.0.0.1:${freePort}` });
    expect(away("server")).toMatchObject({ level: "bad", fix: expect.stringContaining("cairn serve") });
    const web = await serveHttp((_request, response) => response.end("<html>"));
    const other = (await examine([], { CAIRN_SERVER: web }))("server");
    expect(other?.text).toContain("it is not a Cairn server");
    expect(other?.level).toBe("bad");
    const wrong = (await examine([], { CAIRN_SERVER: "ftp://x" }))("server");
    expect(wrong).toMatchObject({ level: "bad" });
  });

  it("T256 reports no fault where no server is set and none runs", async () => {
    const server = new Cairn({ url: `http://127.0.0.1:${freePort}` });
    expect(await checkServer(server, "default", {})).toMatchObject([
      { check: "server", level: "warn", fix: expect.stringContaining("cairn login URL") },
    ]);
    expect(await checkServer(server, "login", {})).toMatchObject([{ check: "server", level: "bad" }]);
  });

  it("T256 looks at the port of the server at hand, and knows a Cairn behind TLS with any certificate", async () => {
    const { port } = new URL(terminal.server.url);
    const { stdout } = await runCairn(["doctor", "--json"], { env: environment() });
    const found = (JSON.parse(stdout) as Finding[]).find(({ check }) => check === "port");
    expect(found).toMatchObject({ level: "ok" });
    expect(found?.text).toContain(`${port}: a Cairn listens there`);
    const secure = await startServer(writeCertificate(home).argv);
    toClose.push(() => secure.close());
    const behind = (await examine(["--port", String(secure.listening.port)]))("port");
    expect(behind).toMatchObject({ level: "ok" });
    expect(behind?.text).toContain("a Cairn listens there");
  });

  it("T256 names the proxy that requests go to, and writes ASCII where the locale has no UTF-8", async () => {
    const env = { CAIRN_SERVER: `127.0.0.1:${freePort}`, http_proxy: `http://127.0.0.1:${freePort}` };
    const proxied = await examine([], { ...env, NODE_USE_ENV_PROXY: "1" });
    expect(proxied("server")).toMatchObject({ level: "bad", fix: expect.stringContaining("http_proxy") });
    const direct = await examine([], env);
    expect(direct("server")?.fix).not.toContain("proxy");
    const { stdout } = await runCairn(["doctor", "--port", String(freePort)], {
      env: { ...environment(), ...env, LC_ALL: "C" },
    });
    expect(stdout).toMatch(/^\+ node/);
    // eslint-disable-next-line no-control-regex
    expect(stdout).toMatch(/^[\x00-\x7f]*$/);
  });

  it.each([
    [10, "warn", "behind"],
    [3_600, "bad", "behind"],
    [-3_600, "bad", "ahead of"],
  ])("T14 finds a clock that is %d s off", async (seconds, level, word) => {
    const url = await behindProxy((answer) => {
      answer.headers["date"] = new Date(Date.now() + seconds * 1000).toUTCString();
    });
    const clock = (await examine([], { CAIRN_SERVER: url }))("clock");
    expect(clock).toMatchObject({ level });
    expect(clock?.text).toContain(word);
  });

  it("T14 finds a token that is missing, refused, or about to expire", async () => {
    const none = await examine([], { CAIRN_TOKEN: "" });
    expect(none("credential")).toMatchObject({ level: "bad" });
    const { access } = terminal.client;
    await access.createPrincipal({ name: "bob", kind: PrincipalKind.USER });
    const { secret, token } = await access.createToken({ principal: "bob", name: "old", days: 1 });
    const soon = (await examine([], { CAIRN_TOKEN: secret }))("credential");
    expect(soon).toMatchObject({ level: "warn" });
    expect(soon?.text).toContain('token "old" expires in 1d');
    await access.revokeToken({ id: token!.id });
    const refused = (await examine([], { CAIRN_TOKEN: secret }))("credential");
    expect(refused).toMatchObject({ level: "bad" });
    expect(refused?.fix).toContain("cairn login");
  });

  it.each([
    ["0.1.99", "warn"],
    ["7.0.0", "bad"],
  ])("T14 finds a server of version %s", async (version, level) => {
    const url = await behindProxy((answer, path) => {
      if (!path.endsWith("/GetInfo")) return;
      const info = fromBinary(InfoSchema, answer.body);
      answer.body = Buffer.from(toBinary(InfoSchema, { ...info, version }));
    });
    const found = (await examine([], { CAIRN_SERVER: url }))("version");
    expect(found).toMatchObject({ level });
    expect(found?.text).toContain(version);
  });

  it("T14 finds a server that is not ready", async () => {
    const url = await behindProxy((answer, path) => {
      if (path !== "/readyz") return;
      answer.status = 503;
      answer.body = Buffer.from('{"status":"failed","reason":"STORAGE_FAILED"}');
    });
    const found = (await examine([], { CAIRN_SERVER: url }))("server");
    expect(found).toMatchObject({ level: "bad" });
    expect(found?.text).toContain("STORAGE_FAILED");
  });

  it("T14 finds a connection that others can read", async () => {
    const found = await examine([], { CAIRN_SERVER: "http://cairn.invalid:4700" });
    expect(found("transport")).toMatchObject({ level: "warn" });
    expect(found("server")).toMatchObject({ level: "bad" });
  });

  async function serveHttp(
    onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server: Server = createServer(onRequest).listen(0, "127.0.0.1");
    await once(server, "listening");
    toClose.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  interface Answer {
    status: number;
    headers: Record<string, string>;
    body: Buffer;
  }

  /** The real server, with something about its answers changed on the way. */
  function behindProxy(change: (answer: Answer, path: string) => void): Promise<string> {
    return serveHttp((request, response) => {
      void (async () => {
        const body = await buffer(request);
        const { host: _host, connection: _connection, ...headers } = request.headers;
        const real = await fetch(terminal.server.url + request.url!, {
          method: request.method!,
          headers: headers as Record<string, string>,
          ...(body.length > 0 && { body }),
        });
        const { "content-length": _length, ...kept } = Object.fromEntries(real.headers);
        const answer: Answer = {
          status: real.status,
          headers: kept,
          body: Buffer.from(await real.arrayBuffer()),
        };
        change(answer, request.url!);
        response.sendDate = false;
        response.writeHead(answer.status, answer.headers).end(answer.body);
      })();
    });
  }
});
