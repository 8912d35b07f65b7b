import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { SERVICES } from "#wire/connect/services.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { pythonCommand } from "../../tools/needs.ts";

const run = promisify(execFile);
const SQLMAP = join(dirname(pythonCommand()), "sqlmap");
const SQLMAP_MS_MAX = 120_000;

/** What is sent when nobody means harm. Every text in it is tried in turn. */
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "NamespaceService/CreateNamespace": { path: "made/by-test", description: "d" },
  "NamespaceService/GetNamespace": { path: "a" },
  "NamespaceService/ListNamespaces": { under: "a" },
  "NamespaceService/UpdateNamespace": { path: "a", description: "d" },
  "RunService/CreateRun": {
    namespace: "a",
    name: "n",
    aliases: ["fresh"],
    params: { lr: "1" },
    tags: { team: "x" },
    notes: "n",
    getOrCreate: true,
  },
  "RunService/GetRun": { run: { alias: "job", namespace: "a" } },
  "RunService/UpdateRun": {
    run: { alias: "job" },
    name: "n",
    notes: "n",
    params: { lr: "2" },
    tags: { team: "y" },
  },
  "RunService/SearchRuns": {
    query: 'name = "first"',
    namespace: "a",
    columns: ["params.lr", "metrics.loss.max"],
    pageSize: 10,
  },
  "MetricService/WriteEnvelope": {
    run: { alias: "job" },
    series: [{ key: "other", labels: { rank: "1" }, steps: ["1"], values: [1] }],
    tags: { team: "z" },
    log: [{ stream: "stdout", lines: ["said"] }],
  },
  "MetricService/DescribeKey": {
    description: { namespace: "a", key: "loss", unit: "nat", description: "d" },
  },
  "MetricService/ListKeys": { namespace: "a" },
  "MetricService/ListSeries": { run: { alias: "job" }, glob: "lo*s" },
  "MetricService/ListRunKeys": { runs: [{ alias: "job" }] },
  "MetricService/ReadSeries": {
    series: [{ run: { alias: "job" }, key: "loss", labels: { rank: "0" } }],
    buckets: 10,
  },
  "MetricService/ReadGroups": { groups: [{ name: "g", runs: [{ alias: "job" }] }], key: "loss", buckets: 10 },
  "ArtifactService/RecordArtifact": { run: { alias: "job" }, artifact: { name: "f", uri: "s3://b/f" } },
  "ArtifactService/GetArtifact": { run: { alias: "job" }, name: "f", step: "1" },
  "ArtifactService/ListArtifacts": { run: { alias: "job" }, prefix: "f", pageSize: 10 },
  "LineageService/AddSource": { run: { alias: "job" }, source: { id: "outside", artifact: "f" } },
  "LineageService/RemoveSource": { run: { alias: "job" }, source: { id: "nothing", artifact: "f" } },
  "LineageService/ListSources": { run: { alias: "job" }, artifact: "f", pageSize: 10 },
  "LineageService/ListChildren": { externalId: "outside", artifact: "f", pageSize: 10 },
  "LineageService/GetLineage": { run: { alias: "job" }, depth: 3 },
  "LogService/ReadLog": {
    run: { alias: "job" },
    filter: { stream: "stdout", rank: 0 },
    from: "0",
    limit: 10,
  },
  "LogService/SearchLog": { run: { alias: "job" }, text: "said", limit: 10 },
  "SystemService/VerifyRun": { run: { alias: "job" } },
  "AccessService/ExplainAccess": { principal: "ada", scope: { namespace: "a" } },
  "AccessService/UpdatePrincipal": { name: "ada", displayName: "Ada" },
  "AccessService/BindRole": { principal: "ada", role: "ROLE_VIEWER", scope: { namespace: "a" } },
  "AccessService/GetScope": { scope: { namespace: "a" } },
  "AccessService/ListTokens": { principal: "ada" },
  "AccessService/RevokeToken": { id: "nothing" },
  "AccessService/ListAudit": { principal: "ada", action: "bind-role", target: "a", pageSize: 10 },
};

/** Methods that are not tried, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "NamespaceService/DeleteNamespace": "works once",
  "RunService/DeleteRun": "takes the same run as GetRun, and works once",
  "RunService/RestoreRun": "takes the same run as GetRun, and works once",
  "RunService/PurgeRun": "takes the same run as GetRun, and works once",
  "ArtifactService/DeleteArtifact": "takes the same fields as GetArtifact, and works once",
  "ArtifactService/RestoreArtifact": "works once",
  "ArtifactService/PurgeArtifacts": "takes the same fields as GetArtifact",
  "SystemService/GetInfo": "has no fields",
  "SystemService/CreateBackup": "fills the disk",
  "SystemService/ListBackups": "has no fields",
  "SystemService/RestoreBackup": "puts the server back",
  "SystemService/CheckIntegrity": "has no fields",
  "AccessService/WhoAmI": "has no fields",
  "AccessService/LogIn": "hashes a password each time",
  "AccessService/LogOut": "has no fields",
  "AccessService/ChangePassword": "hashes a password each time",
  "AccessService/CreatePrincipal": "works once",
  "AccessService/ListPrincipals": "has no texts but a page token",
  "AccessService/DeletePrincipal": "works once",
  "AccessService/AddMember": "works once",
  "AccessService/RemoveMember": "works once",
  "AccessService/UnbindRole": "takes the same fields as BindRole",
  "AccessService/SetClosed": "takes the same scope as GetScope",
  "AccessService/CreateToken": "makes a token each time",
  "AccessService/VerifyAudit": "has no fields",
  "AccessService/GetAuditHead": "has no fields",
};

/** sqlmap tries each place that is marked with an asterisk; those of our own would be taken for marks. */
function marked(value: JsonValue): JsonValue {
  if (typeof value === "string") return `${value.replaceAll("*", "?")}*`;
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, marked(each)]));
  }
  return value;
}

describe("S10 sqlmap", () => {
  let server: Server;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "cairn-sqlmap-"));
    server = await startServer();
    const { runs, metrics, artifacts } = clientsOf(
      createConnectTransport({ baseUrl: server.listening.url, httpVersion: "1.1" }),
    );
    await runs.createRun({ namespace: "a", name: "first", aliases: ["job"], params: { lr: "1" } });
    await runs.createRun({ namespace: "a", name: "second", aliases: ["job-2"] });
    const series = [{ key: "loss", labels: { rank: "0" }, steps: [1n, 2n], values: [1, 2] }];
    await metrics.writeEnvelope({
      run: { alias: "job" },
      series,
      log: [{ lines: ["said", "more"], rank: 0 }],
    });
    await artifacts.recordArtifact({
      run: { alias: "job" },
      artifact: { name: "f", step: 1n, uri: "s3://b/f" },
    });
    await post("AccessService/CreatePrincipal", { name: "ada", kind: "PRINCIPAL_KIND_USER" });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  function post(method: string, body: JsonObject): Promise<Response> {
    return fetch(`${server.listening.url}/cairn.v1.${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  /** What sqlmap says about a JSON request with marks in it. */
  async function attack(url: string, body: string): Promise<string> {
    const target = ["-u", url, "--method", "POST", "-H", "content-type: application/json", "--data", body];
    const how = ["--batch", "--level", "2", "--risk", "2", "--technique", "BEUT", "--time-sec", "1"];
    const rest = ["--dbms", "sqlite", "--ignore-code", "*", "--disable-coloring", "--flush-session"];
    const { stdout } = await run(SQLMAP, [...target, ...how, ...rest, "--output-dir", folder], {
      timeout: SQLMAP_MS_MAX,
      maxBuffer: 32 << 20,
    });
    return stdout;
  }

  it("S10 finds the hole in a server that has one", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE run (name TEXT); INSERT INTO run VALUES ('first'), ('second')");
    const open = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        try {
          const { name } = JSON.parse(body) as { name: string };
          response.end(JSON.stringify(database.prepare(`SELECT name FROM run WHERE name = '${name}'`).all()));
        } catch {
          response.writeHead(500).end("failed");
        }
      });
    });
    await new Promise<void>((resolve) => open.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = open.address() as AddressInfo;
      const said = await attack(`http://127.0.0.1:${port}/`, JSON.stringify({ name: "first*" }));
      expect(said).toContain("sqlmap identified the following injection point");
    } finally {
      open.close();
    }
  });

  it("S10 every method is tried, or there is a reason", () => {
    const unary = SERVICES.flatMap((service) =>
      service.methods
        .filter(({ methodKind }) => methodKind === "unary")
        .map(({ name }) => `${service.typeName.replace("cairn.v1.", "")}/${name}`),
    ).filter((name) => !name.startsWith("grpc."));
    expect([...Object.keys(REQUESTS), ...Object.keys(LEFT_OUT)].toSorted()).toEqual(unary.toSorted());
  });

  it.each(Object.entries(REQUESTS))("S10 finds none in %s", async (method, body) => {
    // Otherwise nothing but the refusal of a broken request would be tried.
    const plain = await post(method, body);
    expect([plain.status, await plain.text()], method).toMatchObject([
      method === "AccessService/RevokeToken"
        ? 404
        : expect.toSatisfy((status: number) => status === 200 || status === 409),
      expect.any(String),
    ]);
    const said = await attack(`${server.listening.url}/cairn.v1.${method}`, JSON.stringify(marked(body)));
    expect(said).toContain("all tested parameters do not appear to be injectable");
    expect(said).not.toContain("identified the following injection point");
  });
});
