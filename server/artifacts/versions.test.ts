import { rmSync } from "node:fs";
import { createClient, type Client } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AccessService, PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let access: Client<typeof AccessService>;
let run = "";
const secrets: Record<string, string> = {};

function as(who: string): Clients & { access: Client<typeof AccessService> } {
  const transport = createConnectTransport({
    baseUrl: server.listening.url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${secrets[who]}`);
        return next(request);
      },
    ],
  });
  return { ...clientsOf(transport), access: createClient(AccessService, transport) };
}

async function http(who: string, method: string, name: string, body?: string): Promise<string> {
  const response = await fetch(`${server.listening.url}/artifacts/${run}/${name}`, {
    method,
    headers: { authorization: `Bearer ${secrets[who]}` },
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  expect(response.ok).toBe(true);
  return response.text();
}

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer(["--auth", "--data", folder]);
  secrets["admin"] = server.newToken!;
  ({ access } = as("admin"));
  for (const name of ["ada", "ben"]) {
    await access.createPrincipal({ name, kind: PrincipalKind.USER });
    const scope = { namespace: "lab" };
    await access.bindRole({ principal: name, role: Role.WRITER, scope });
    secrets[name] = (await access.createToken({ principal: name })).secret;
  }
  run = (await as("ada").runs.createRun({ namespace: "lab" })).run!.id;
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

it("A37 A39 S22 a PUT over an artifact leaves its author, its content and an audit entry", async () => {
  await http("ada", "PUT", "model.pt", "of ada");
  await http("ben", "PUT", "model.pt", "of ben");
  const { artifacts } = as("ada");
  const ref = { run: { id: run } };
  expect(await artifacts.getArtifact({ ...ref, name: "model.pt" })).toMatchObject({ createdBy: "ben" });
  const { artifacts: kept } = await artifacts.listArtifacts({ ...ref, replaced: true });
  expect(kept).toMatchObject([{ name: "model.pt", createdBy: "ada", replacedBy: "ben" }]);
  const { entries } = await access.listAudit({ action: "replace-artifact" });
  expect(entries).toMatchObject([
    {
      principal: "ben",
      token: (await as("ben").access.whoAmI({})).token!.id,
      address: expect.stringMatching(/127\.0\.0\.1$/) as string,
      target: `${run}/model.pt`,
      facts: { namespace: "lab", author: "ada", version: String(kept[0]!.version) },
    },
  ]);
  const { version } = kept[0]!;
  await artifacts.restoreArtifact({ ...ref, name: "model.pt", version });
  expect(await http("ada", "GET", "model.pt")).toBe("of ada");
  expect((await artifacts.listArtifacts({ ...ref, replaced: true })).artifacts).toMatchObject([
    { createdBy: "ben", replacedBy: "ada" },
  ]);
});

it("A39 S22 a writer cannot destroy kept versions; a maintainer of the run can", async () => {
  await http("ada", "PUT", "notes.txt", "of ada");
  await http("ben", "DELETE", "notes.txt");
  const ref = { run: { id: run } };
  const purging = as("ben").artifacts.purgeArtifacts({ ...ref, name: "notes.txt" });
  await expect(purging).rejects.toThrow(/no role that allows it/);
  const kept = () => as("ada").artifacts.listArtifacts({ ...ref, replaced: true, prefix: "notes" });
  expect((await kept()).artifacts).toMatchObject([{ createdBy: "ada", replacedBy: "ben" }]);
  const purged = await as("admin").artifacts.purgeArtifacts({ ...ref, name: "notes.txt" });
  expect(purged.purgedCount).toBe(1n);
  expect((await kept()).artifacts).toEqual([]);
});
