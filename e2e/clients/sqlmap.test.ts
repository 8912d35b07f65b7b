import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { isLong, seed, tally } from "../../tools/dose.ts";
import { pythonCommand } from "../../tools/needs.ts";
import { LEFT_OUT, REQUESTS } from "./sqlmap-requests.ts";

const run = promisify(execFile);
const SQLMAP = fileURLToPath(new URL("patient_sqlmap.py", import.meta.url));
const SQLMAP_MS_MAX = 240_000;

/** All of them, or one method of each service, which the seed chooses. */
function chosenMethods(): string[] {
  const methods = Object.keys(REQUESTS);
  if (isLong) return methods;
  const byService = Object.values(Object.groupBy(methods, (method) => method.split("/", 1)[0]!));
  return byService.map((ofService) => ofService![seed % ofService!.length]!);
}

/** sqlmap attacks each place that is marked with an asterisk, so our own asterisks must not look like marks. */
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
    // Its time-based techniques begin at level 3, and a busy machine is slow as well. What they are for is seen by answers of 500.
    const much = isLong ? ["--level", "2", "--risk", "2"] : ["--level", "1", "--risk", "1"];
    const how = ["--batch", "--technique", "BEU", "--dbms", "sqlite", "--ignore-code", "*", ...much];
    const rest = ["--timeout", "120", "--disable-coloring", "--flush-session", "--output-dir", folder];
    const { stdout } = await run(pythonCommand(), [SQLMAP, ...target, ...how, ...rest], {
      timeout: SQLMAP_MS_MAX,
      maxBuffer: 32 << 20,
    });
    return stdout;
  }

  /** SQL that a mark breaks causes an error of the server, also if an answer does not show the result. */
  const BROKEN = /\b500 \(Internal Server Error\)/;

  it.each([
    ["that shows what it found", (name: string) => `SELECT name FROM run WHERE name = '${name}'`],
    ["that shows nothing", (name: string) => `INSERT INTO run VALUES ('${name}')`],
  ])("S10 finds the hole in a server that has one, %s", async (what, sql) => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE run (name TEXT); INSERT INTO run VALUES ('first'), ('second')");
    const open = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        try {
          const { name } = JSON.parse(body) as { name: string };
          response.end(JSON.stringify(database.prepare(sql(name)).all()));
        } catch {
          response.writeHead(500).end("failed");
        }
      });
    });
    await new Promise<void>((resolve) => open.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = open.address() as AddressInfo;
      const said = await attack(`http://127.0.0.1:${port}/`, JSON.stringify({ name: "first*" }));
      if (what === "that shows nothing") expect(said).toMatch(BROKEN);
      else expect(said).toContain("sqlmap identified the following injection point");
    } finally {
      open.close();
    }
  });

  it("S10 every method is attacked, or there is a reason not to", () => {
    const unary = SERVICES.flatMap((service) =>
      service.methods
        .filter(({ methodKind }) => methodKind === "unary")
        .map(({ name }) => `${service.typeName.replace("cairn.v1.", "")}/${name}`),
    ).filter((name) => !name.startsWith("grpc."));
    expect([...Object.keys(REQUESTS), ...Object.keys(LEFT_OUT)].toSorted()).toEqual(unary.toSorted());
  });

  it("S10 unchanged requests are accepted", async () => {
    // Otherwise nothing but the refusal of a broken request would be tried.
    for (const [method, body] of Object.entries(REQUESTS)) {
      const plain = await post(method, body);
      const accepted = method === "AccessService/RevokeToken" ? [404] : [200, 409];
      expect(accepted, `${method}: ${await plain.text()}`).toContain(plain.status);
    }
  });

  it.each(chosenMethods())("S10 finds none in %s", async (method) => {
    const body = JSON.stringify(marked(REQUESTS[method]!));
    const said = await attack(`${server.listening.url}/cairn.v1.${method}`, body);
    expect(said).toContain("all tested parameters do not appear to be injectable");
    expect(said).not.toContain("identified the following injection point");
    expect(said).not.toMatch(BROKEN);
    tally("methods tried by sqlmap", 1);
  });
});
