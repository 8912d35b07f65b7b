/**
 * Walks every method and every route, as the server itself lists them: each is audited, only reads, or has a reason why
 * it leaves no entry.
 */
import { rmSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Server } from "../serve.ts";
import { AUDITED, ORDINARY, READS } from "../testing/audit-decisions.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

interface Entry extends JsonObject {
  number: string;
  principal: string;
  token?: string;
  address?: string;
  action: string;
  target: string;
  facts?: Record<string, string>;
}

const PASSWORD = "correct horse battery";
/** The caller has no token yet when these are called. */
const BEFORE_LOGIN = new Set(["cairn.v1.AccessService/LogIn", "POST /session"]);

let folder: string;
let server: Server;
let adminToken = "";
let run = "";
let cookie = "";

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer(["--auth", "--data", folder]);
  adminToken = server.newToken!;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function send(
  name: string,
  path: string,
  body: string | undefined,
  headers: Record<string, string> = { authorization: `Bearer ${adminToken}` },
): Promise<JsonObject> {
  const response = await fetch(server.listening.url + path, {
    method: name.startsWith("cairn.") ? "POST" : name.split(" ")[0]!,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  expect(response.ok, `${name}: ${text}`).toBe(true);
  cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
  return text === "" ? {} : (JSON.parse(text) as JsonObject);
}

const call = (method: string, message: JsonObject, headers?: Record<string, string>): Promise<JsonObject> =>
  send(`cairn.v1.${method}`, `/cairn.v1.${method}`, JSON.stringify(message), headers);

async function entriesAfter(number: number): Promise<Entry[]> {
  const { entries = [] } = await call("AccessService/ListAudit", { after: String(number) });
  return entries as Entry[];
}

async function count(): Promise<number> {
  return Number((await call("AccessService/GetAuditHead", {}))["count"] ?? 0);
}

const ref = () => ({ run: { id: run } });
const artifact = (content: string) => ({
  ...ref(),
  artifact: { name: "model", content: Buffer.from(content).toString("base64") },
});
const idOf = async (principal: string) => {
  const { tokens } = await call("AccessService/ListTokens", { principal });
  return (tokens as { id: string }[])[0]!.id;
};
const versionOf = async () => {
  const { artifacts } = await call("ArtifactService/ListArtifacts", { ...ref(), replaced: true });
  return (artifacts as { version: string }[])[0]!.version;
};
const logIn = { name: "ada", password: PASSWORD };
const root = { scope: { namespace: "lab" } };

/** One call of each that is audited, in an order in which each has something to do. */
const STEPS: readonly [name: string, act: () => Promise<unknown>][] = [
  step("NamespaceService/CreateNamespace", () => ({ path: "lab/new" })),
  step("NamespaceService/UpdateNamespace", () => ({ path: "lab/new", description: "changed" })),
  step("NamespaceService/MoveNamespace", () => ({ path: "lab/new", to: "lab/renamed" })),
  step("NamespaceService/DeleteNamespace", () => ({ path: "lab/renamed" })),
  step("NamespaceService/RestoreNamespace", () => ({ path: "lab/renamed" })),
  [
    "cairn.v1.NamespaceService/PurgeNamespace",
    async () => {
      await call("NamespaceService/DeleteNamespace", { path: "lab/renamed" });
      await call("NamespaceService/PurgeNamespace", { path: "lab/renamed" });
    },
  ],
  step("RunService/UpdateRun", () => ({ ...ref(), notes: "changed" })),
  step("RunService/DeleteRun", ref),
  step("RunService/RestoreRun", ref),
  step("RunService/MoveRun", () => ({ ...ref(), namespace: "lab/moved" })),
  step("MetricService/DescribeKey", () => ({
    description: { namespace: "lab", key: "loss", unit: "nat" },
  })),
  step("ArtifactService/RecordArtifact", () => artifact("two")),
  ["PUT /artifacts/:run/*name", () => send("PUT", `/artifacts/${run}/model`, "three")],
  step("ArtifactService/DeleteArtifact", () => ({ ...ref(), name: "model" })),
  step("ArtifactService/RestoreArtifact", async () => ({
    ...ref(),
    name: "model",
    version: await versionOf(),
  })),
  ["DELETE /artifacts/:run/*name", () => send("DELETE", `/artifacts/${run}/model`, undefined)],
  step("ArtifactService/PurgeArtifacts", ref),
  ["PUT /results/*path", () => send("PUT", "/results/lab/result/key", '{"loss":1}')],
  step("LineageService/AddSource", () => ({ ...ref(), source: { id: "s3://data" } })),
  step("LineageService/RemoveSource", () => ({ ...ref(), source: { id: "s3://data" } })),
  step("SystemService/CreateBackup", () => ({ name: "one" })),
  step("SystemService/RestoreBackup", () => ({ name: "one" })),
  step("AccessService/CreatePrincipal", () => ({ ...logIn, kind: "PRINCIPAL_KIND_USER" })),
  ["cairn.v1.AccessService/LogIn", () => call("AccessService/LogIn", logIn, {})],
  ["POST /session", () => send("POST", "/session", JSON.stringify(logIn), {})],
  ["DELETE /session", () => send("DELETE", "/session", undefined, { cookie })],
  [
    "cairn.v1.AccessService/LogOut",
    async () => {
      const { secret } = (await call("AccessService/CreateToken", { principal: "ada" })) as {
        secret: string;
      };
      await call("AccessService/LogOut", {}, { authorization: `Bearer ${secret}` });
    },
  ],
  [
    "cairn.v1.AccessService/ChangePassword",
    async () => {
      const { secret } = (await call("AccessService/LogIn", logIn, {})) as { secret: string };
      const passwords = { oldPassword: PASSWORD, newPassword: `${PASSWORD} staple` };
      await call("AccessService/ChangePassword", passwords, { authorization: `Bearer ${secret}` });
    },
  ],
  step("AccessService/UpdatePrincipal", () => ({ name: "ada", displayName: "Ada" })),
  step("AccessService/CreateToken", () => ({ principal: "ada" })),
  step("AccessService/RevokeToken", async () => ({ id: await idOf("ada") })),
  [
    "cairn.v1.AccessService/AddMember",
    async () => {
      await call("AccessService/CreatePrincipal", { name: "asr", kind: "PRINCIPAL_KIND_GROUP" });
      await call("AccessService/AddMember", { group: "asr", member: "ada" });
    },
  ],
  step("AccessService/RemoveMember", () => ({ group: "asr", member: "ada" })),
  step("AccessService/BindRole", () => ({ ...root, principal: "ada", role: "ROLE_WRITER" })),
  step("AccessService/UnbindRole", () => ({ ...root, principal: "ada" })),
  step("AccessService/SetClosed", () => ({ ...root, closed: true })),
  step("AccessService/DeletePrincipal", () => ({ name: "ada" })),
  [
    "cairn.v1.MetricService/DeleteSeries",
    async () => {
      await call("MetricService/WriteEnvelope", { ...ref(), series: [{ key: "gone", values: [1] }] });
      await call("MetricService/DeleteSeries", { ...ref(), matchers: [{ value: "gone" }] });
    },
  ],
  [
    "cairn.v1.RunService/PurgeRun",
    async () => {
      await call("RunService/DeleteRun", ref());
      await call("RunService/PurgeRun", ref());
    },
  ],
];

function step(
  method: string,
  message: () => JsonObject | Promise<JsonObject>,
): [string, () => Promise<unknown>] {
  return [`cairn.v1.${method}`, async () => call(method, await message())];
}

describe("S22: the audit of every write", () => {
  it("A38 S22 has a decision for every method and every route, and no others", () => {
    const routes = server.router.routes;
    const methods = [...server.wire.permissions.keys()];
    const writing = routes
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path}`);
    const decided = [...Object.keys(AUDITED), ...Object.keys(ORDINARY), ...READS];
    expect(decided.toSorted()).toEqual([...methods, ...writing].toSorted());
    expect(STEPS.map(([name]) => name).toSorted()).toEqual(Object.keys(AUDITED).toSorted());
  });

  it("A38 S22 leaves no entry for a run that logs, uploads, and finishes", async () => {
    const before = await count();
    const made = await call("RunService/CreateRun", { namespace: "lab", name: "ordinary" });
    run = (made["run"] as { id: string }).id;
    const envelope = (more: JsonObject) => call("MetricService/WriteEnvelope", { ...ref(), ...more });
    await envelope({ params: { lr: "0.1" }, heartbeatSeconds: 5 });
    await envelope({ params: { lr: "0.2" }, tags: { team: "asr" } });
    await envelope({ artifacts: [{ name: "sample", content: "b25l" }] });
    await envelope({ artifacts: [{ name: "sample", content: "dHdv" }] });
    const provenance = { command: ["train.py"], code: { commit: "c0ffee" } };
    await call("RunService/UpdateRun", { ...ref(), provenance });
    const archived = { ...provenance, code: { commit: "c0ffee", archive: "code.tar" } };
    await call("RunService/UpdateRun", { ...ref(), provenance: archived });
    await call("ArtifactService/RecordArtifact", artifact("one"));
    await call("ArtifactService/RecordArtifact", artifact("one"));
    await send("PUT", `/artifacts/${run}/last.ckpt`, "first");
    await send("PUT", `/artifacts/${run}/last.ckpt`, "first");
    await envelope({ status: "RUN_STATUS_FINISHED" });
    expect(await entriesAfter(before)).toEqual([]);
  });

  it.each(STEPS)("A37 A38 S22 records %s with principal, token and address", async (name, act) => {
    const before = await count();
    await act();
    const entry = (await entriesAfter(before)).at(-1)!;
    expect(entry).toMatchObject({ action: AUDITED[name], target: expect.stringMatching(/./) });
    const isOwn = name.includes("Log") || name.includes("session") || name.includes("ChangePassword");
    expect(entry.principal).toBe(isOwn ? "ada" : "admin");
    expect(entry.address).toMatch(/127\.0\.0\.1$/);
    if (!BEFORE_LOGIN.has(name)) expect(entry.token).toMatch(/^[0-9a-f]{32}$/);
  });

  it("A38 S22 records which fields of a run were changed, not their values, and nothing without a change", async () => {
    const made = await call("RunService/CreateRun", { namespace: "lab", params: { a: "1" }, name: "x" });
    const target = { run: { id: (made["run"] as { id: string }).id } };
    const before = await count();
    await call("RunService/UpdateRun", { ...target, params: { a: "1" }, name: "x" });
    expect(await entriesAfter(before)).toEqual([]);
    await call("RunService/UpdateRun", { ...target, params: { a: "2" }, name: "secret" });
    const [entry] = await entriesAfter(before);
    expect(entry).toMatchObject({
      target: target.run.id,
      facts: { namespace: "lab", fields: "name params" },
    });
    expect(JSON.stringify(entry)).not.toContain("secret");
    expect(await call("AccessService/VerifyAudit", {})).toMatchObject({ ok: true });
  });

  it("A38 S22 records what an envelope overwrites of a run that has ended, and not what it adds", async () => {
    const made = await call("RunService/CreateRun", {
      namespace: "lab",
      params: { a: "1" },
      status: "RUN_STATUS_FINISHED",
    });
    const target = { run: { id: (made["run"] as { id: string }).id } };
    const before = await count();
    await call("MetricService/WriteEnvelope", { ...target, params: { b: "1" }, tags: { late: "" } });
    expect(await entriesAfter(before)).toEqual([]);
    await call("MetricService/WriteEnvelope", { ...target, params: { a: "2" }, tags: { late: "x" } });
    expect(await entriesAfter(before)).toMatchObject([
      { action: "update-run", principal: "admin", facts: { fields: "params tags" } },
    ]);
  });
});
