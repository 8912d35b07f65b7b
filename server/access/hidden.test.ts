/**
 * A caller gets the same answer for a hidden thing as for a missing one: every method and route is called while the
 * thing exists and is hidden, and again, with the same arguments, once it is gone. The two answers must be equal byte
 * for byte.
 */
import { rmSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Server } from "../serve.ts";
import { makeFolder, startServer } from "../testing/servers.ts";
import { WalkClient, type WalkProtocol } from "../testing/walk-call.ts";
import { byName, type MethodRow, type RouteRow } from "../testing/walk-row.ts";
import { METHOD_ROWS, ROUTE_ROWS } from "../testing/walk-rows.ts";
import { forwardClock, plantWorld, type WalkTarget, type World } from "../testing/walk-world.ts";

const PROTOCOLS: readonly WalkProtocol[] = ["grpc", "json"];
type Row = MethodRow | RouteRow;

const onNamespace = (name: string, message: MethodRow["message"]): MethodRow => ({
  name: `cairn.v1.${name}`,
  about: "list",
  message,
});

const MISSING = "0".repeat(32);

/** Further ways to name a thing, which need not be answered with OK for callers that may see it. */
const FURTHER: readonly MethodRow[] = [
  onNamespace("NamespaceService/ListNamespaces", (_, { namespace }) => ({ under: namespace })),
  onNamespace("NamespaceService/ListNamespaces", (_, { namespace }) => ({
    pageToken: namespace,
    pageSize: 1,
  })),
  onNamespace("MetricService/ListKeys", (_, { namespace }) => ({
    namespace: `${namespace}/below`,
    pageToken: "a",
  })),
  onNamespace("MetricService/ReadGroups", (_, { namespace }) => ({ namespace, query: "", key: "new" })),
  // After a missing one: the refusal must not disclose which of them the server found first.
  {
    name: "cairn.v1.MetricService/ReadGroups",
    about: "run",
    message: (_, { runId }) => ({
      groups: [{ name: "g", runs: [{ id: MISSING }, { id: runId }] }],
      key: "new",
    }),
  },
  {
    name: "cairn.v1.MetricService/ReadSeries",
    about: "run",
    message: (_, { runId }) => ({ series: [MISSING, runId].map((id) => ({ run: { id }, key: "new" })) }),
  },
  {
    name: "cairn.v1.MetricService/WriteEnvelopes",
    about: "run",
    message: (_, { runId }) => ({ envelopes: [MISSING, runId].map((id) => ({ run: { id } })) }),
  },
  onNamespace("MetricService/ListHosts", (_, { namespace }) => ({ under: namespace })),
  onNamespace("MetricService/DeleteSeries", (_, { namespace }) => ({
    host: { namespace, name: "new" },
    matchers: [{ value: "none" }],
  })),
  onNamespace("ExploreService/ListFields", (_, { runId }) => ({ runs: { query: `id = "${runId}"` } })),
  onNamespace("ExploreService/CompareRuns", (_, { runId }) => ({ runs: [{ id: MISSING }, { id: runId }] })),
  onNamespace("NamespaceService/ListObjectives", (_, { namespace }) => ({
    namespaces: [`${namespace}/below`],
  })),
  onNamespace("RunService/SearchRuns", (_, { runId }) => ({ query: `id = "${runId}"` })),
  onNamespace("RunService/SearchRuns", (_, { alias }) => ({ query: `alias = "${alias}"` })),
  onNamespace("ArtifactService/SearchModels", (_, { runId }) => ({ query: `id = "${runId}"` })),
  onNamespace("ArtifactService/SearchModels", (_, { artifact }) => ({ query: `model.name = "${artifact}"` })),
  onNamespace("LineageService/ListChildren", (_, { runId }) => ({ externalId: runId })),
  onNamespace("LineageService/ListChildren", (_, { alias }) => ({ externalId: alias, pageSize: 1 })),
  onNamespace("LineageService/ListChildren", (_, { runId }) => ({ externalId: `${runId}/model` })),
  {
    name: "cairn.v1.ArtifactService/GetArtifact",
    about: "artifact",
    message: (world, target) => ({ ...byName(world, target), step: 5 }),
  },
  // Arguments that are refused only where the thing is known to exist.
  ...[{ description: "x".repeat(70_000) }, { forbidConsole: true }, { objective: {} }].map((change) =>
    onNamespace("NamespaceService/UpdateNamespace", (_, { namespace }) => ({ path: namespace, ...change })),
  ),
  {
    name: "cairn.v1.AccessService/ExplainAccess",
    about: "namespace",
    message: (_, { namespace }) => ({ scope: { namespace: `${namespace}/below` } }),
  },
];

const ROWS: readonly Row[] = [...METHOD_ROWS, ...FURTHER, ...ROUTE_ROWS].filter(
  ({ about }) => about !== "public" && about !== "server",
);

/**
 * What can be noticed, as documented in docs/access.md: that a path or a name cannot be used. All of these write, and
 * only callers that may write around the hidden thing get another answer where it is missing.
 */
const TAKEN: Readonly<Record<"namespace" | "artifact", ReadonlySet<string>>> = {
  namespace: new Set([
    "cairn.v1.NamespaceService/CreateNamespace",
    "cairn.v1.RunService/CreateRun",
    "cairn.v1.MetricService/DescribeKey",
    // Of a host; a write to a run reveals nothing.
    "namespace cairn.v1.MetricService/WriteEnvelope",
    "cairn.v1.AccessService/BindRole",
    "cairn.v1.AccessService/UnbindRole",
    "cairn.v1.AccessService/SetClosed",
    "PUT /results/*path",
  ]),
  artifact: new Set([
    "cairn.v1.MetricService/WriteEnvelope",
    "cairn.v1.ArtifactService/RecordArtifact",
    "cairn.v1.AccessService/BindRole",
    "cairn.v1.AccessService/UnbindRole",
    "cairn.v1.AccessService/SetClosed",
    "PUT /artifacts/:run/*name",
  ]),
};

let folder: string;
let server: Server;
let client: WalkClient;
let world: World;

async function ask(name: string, message: JsonObject, headers = world.headers.admin): Promise<JsonObject> {
  const answer = await client.call({ protocol: "json", name: `cairn.v1.${name}`, message, headers });
  if (answer.code !== "OK") throw new Error(`${name}: ${answer.text}`);
  return answer.json;
}

/** A caller, the things that are hidden from it, and the rows to call. */
interface Sight {
  headers: Record<string, string>;
  target: (row: Row) => WalkTarget | undefined;
  /** Calls that it may notice something by. */
  taken: ReadonlySet<string>;
}

/** Every answer, by the row and the protocol. */
async function answersFor({ headers, target: targetOf, taken }: Sight): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const [i, row] of ROWS.entries()) {
    const target = targetOf(row);
    if (target === undefined || taken.has(row.name) || taken.has(`${row.about} ${row.name}`)) continue;
    if ("path" in row) {
      const body = typeof row.body === "function" ? row.body(world) : row.body;
      const method = row.name.split(" ")[0]!;
      const path = row.path(world, target);
      const { sent } = await client.route({ method, path, headers: { ...row.headers, ...headers }, body });
      answers.set(`${row.name} (${i})`, plain(sent));
      continue;
    }
    for (const protocol of PROTOCOLS) {
      const { name, endless = false } = row;
      const message = row.message(world, target);
      const { sent } = await client.call({ protocol, name, message, headers, endless });
      answers.set(`${name} (${i}) over ${protocol}`, plain(sent));
    }
  }
  return answers;
}

/** Without the time of the answer and the position of the read, which is sealed again every 20 ms. */
function plain(sent: string): string {
  return sent.replaceAll(/^date: .*$/gm, "").replaceAll(/[0-9a-f]{12}\.[\w-]{59}/g, "");
}

/** What a caller sees that links its own run to the id of another as a text. */
async function linkAsText(ownRun: string, runId: string): Promise<string> {
  const { outsider } = world.headers;
  const run = { id: ownRun };
  const source = { id: runId, artifact: "weights" };
  const seen: JsonObject[] = [];
  for (const [method, message] of [
    ["AddSource", { run, source }],
    ["AddSource", { run, source }],
    ["ListSources", { run }],
    ["ListSources", { run, artifact: "weights" }],
    ["ListChildren", { externalId: runId }],
    ["ListChildren", { externalId: runId, artifact: "weights" }],
    ["GetLineage", { run }],
    ["RemoveSource", { run, source }],
    ["RemoveSource", { run, source }],
    ["ListChildren", { externalId: runId }],
  ] as const) {
    seen.push(await ask(`LineageService/${method}`, message, outsider));
  }
  return JSON.stringify(seen).replaceAll(/"createdUs":"\d+"/g, "");
}

beforeAll(async () => {
  const clock = forwardClock();
  folder = makeFolder();
  server = await startServer(["--auth", "--data", folder], { clock });
  client = new WalkClient(server.listening.url);
  world = await plantWorld(client, server.newToken!, clock);
});

afterAll(async () => {
  client.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

/** A namespace that is closed, with a run in it, and a maintainer of all around it. */
async function plantShut(): Promise<{ shut: WalkTarget; above: Record<string, string> }> {
  const namespace = "upper/shut";
  const [alias, artifact] = ["job-of-shut", "files/of-shut"];
  const made = await ask("RunService/CreateRun", { namespace, aliases: [alias] });
  const { id: runId } = made["run"] as { id: string };
  await ask("ArtifactService/RecordArtifact", {
    run: { id: runId },
    artifact: { name: artifact, uri: "s3://bucket/x" },
  });
  await ask("MetricService/WriteEnvelope", {
    host: { namespace, name: "new" },
    series: [{ key: "new", values: [1] }],
  });
  for (const path of ["upper", namespace]) {
    await ask("MetricService/DescribeKey", { description: { namespace: path, key: "loss", unit: path } });
  }
  await ask("AccessService/SetClosed", { scope: { namespace }, closed: true });
  await ask("AccessService/CreatePrincipal", { name: "above", kind: "PRINCIPAL_KIND_SERVICE" });
  await ask("AccessService/BindRole", {
    principal: "above",
    role: "ROLE_MAINTAINER",
    scope: { namespace: "upper" },
  });
  const { secret } = await ask("AccessService/CreateToken", { principal: "above" });
  const above = { authorization: `Bearer ${secret as string}` };
  return { shut: { namespace, runId, alias, artifact, closed: undefined }, above };
}

async function destroyHosts(namespace: string): Promise<void> {
  const { hosts } = await ask("MetricService/ListHosts", { under: namespace });
  for (const { namespace: path, name } of hosts as { namespace: string; name: string }[]) {
    const matchers = [{ op: "MATCH_OP_REGEX", value: ".*" }];
    await ask("MetricService/DeleteSeries", { host: { namespace: path, name }, matchers });
  }
}

async function destroyNamespace(path: string): Promise<void> {
  for (const act of ["Delete", "Purge"]) await ask(`NamespaceService/${act}Namespace`, { path });
}

async function purge(runId: string): Promise<void> {
  await ask("RunService/DeleteRun", { run: { id: runId } });
  await ask("RunService/PurgeRun", { run: { id: runId } });
}

describe("hidden and missing", () => {
  it("A21, S1: every method and route answers for a hidden thing as for a missing one", async () => {
    const { shut, above } = await plantShut();
    const made = await ask(
      "RunService/CreateRun",
      { namespace: world.otherNamespace },
      world.headers.outsider,
    );
    const ownRun = (made["run"] as { id: string }).id;
    const nothing = new Set<string>();
    const inside = {
      run: {
        headers: world.headers.member,
        target: ({ about }: Row) => (about === "run" ? world.closedRun : undefined),
        taken: nothing,
      },
      artifact: {
        headers: world.headers.member,
        target: ({ about }: Row) => (about === "artifact" ? world.closedArtifact : undefined),
        taken: TAKEN.artifact,
      },
      // A caller that may only read must not learn it from refusals, either.
      readArtifact: {
        headers: world.headers.reader,
        target: ({ about }: Row) => (about === "artifact" ? world.closedArtifact : undefined),
        taken: nothing,
      },
      above: { headers: above, target: () => shut, taken: TAKEN.namespace },
    } satisfies Record<string, Sight>;
    const outside = (["outsider", "narrow"] as const).map((caller): Sight => ({
      headers: world.headers[caller],
      target: (row) => row.on?.(world) ?? world.open,
      taken: nothing,
    }));
    const sights: readonly Sight[] = [...Object.values(inside), ...outside];
    const hidden: Map<string, string>[] = [];
    for (const sight of sights) hidden.push(await answersFor(sight));
    const linked = await linkAsText(ownRun, world.open.runId);

    await purge(world.closedRun.runId);
    const { runId, artifact: name } = world.closedArtifact;
    await ask("ArtifactService/DeleteArtifact", { run: { id: runId }, name });
    // Its name is closed until its last version is gone.
    await ask("ArtifactService/PurgeArtifacts", { run: { id: runId }, name });
    await purge(shut.runId);
    await destroyHosts(shut.namespace);
    await destroyNamespace(shut.namespace);
    const missing: Map<string, string>[] = [];
    for (const sight of Object.values(inside)) missing.push(await answersFor(sight));
    // Links to a run from when it was visible outlive it.
    const source = { run: { id: world.open.runId }, artifact: world.open.artifact };
    await ask("LineageService/RemoveSource", { run: { id: world.otherRun }, source });
    for (const { runId: id } of [world.open, world.trashed]) await purge(id);
    await destroyHosts(world.open.namespace);
    for (const path of [world.emptyNamespace, world.open.namespace]) {
      await destroyNamespace(path);
    }
    for (const sight of outside) missing.push(await answersFor(sight));

    for (const [i, answers] of hidden.entries()) {
      expect(answers.size).toBeGreaterThan(10);
      for (const [call, text] of answers) expect(missing[i]!.get(call), `${i}: ${call}`).toBe(text);
    }
    expect(await linkAsText(ownRun, world.open.runId)).toBe(linked);
    expect(linked).toContain(world.open.runId);
  });

  it("A21, S1: has every method and every route that is about something", () => {
    const asked = new Set(ROWS.flatMap(({ name, about }) => [name, `${about} ${name}`]));
    const known = new Set([...METHOD_ROWS, ...ROUTE_ROWS].map(({ name }) => name));
    const all = [
      ...server.wire.permissions.keys(),
      ...server.router.routes.map(({ method, path }) => `${method} ${path}`),
    ];
    expect(all.filter((name) => !known.has(name))).toEqual([]);
    for (const name of [...TAKEN.namespace, ...TAKEN.artifact]) expect(asked).toContain(name);
  });
});
