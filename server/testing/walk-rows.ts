import type { JsonObject } from "@bufbuild/protobuf";
import { VARIANTS } from "./walk-variants.ts";
import { byId, byName, trashed, type MethodRow, type RouteRow } from "./walk-row.ts";
import type { WalkTarget, World } from "./walk-world.ts";
import { PAGE_PATHS } from "#server/web/web-routes.ts";

const nothing = (): JsonObject => ({});
const contentOf = (_: World, { runId, artifact }: WalkTarget) => `/artifacts/${runId}/${artifact}`;
const scopeOf = ({ runId }: WalkTarget): JsonObject => ({ runId });

const SERVICES: Readonly<Record<string, Readonly<Record<string, Omit<MethodRow, "name">>>>> = {
  "cairn.v1.NamespaceService": {
    CreateNamespace: {
      about: "namespace",
      message: (_, { namespace }) => ({ path: `${namespace}/new` }),
    },
    GetNamespace: { about: "namespace", message: (_, { namespace }) => ({ path: namespace }) },
    ListNamespaces: { about: "list", message: nothing },
    ListObjectives: { about: "list", message: (_, { namespace }) => ({ namespaces: [namespace] }) },
    UpdateNamespace: {
      about: "namespace",
      message: (_, { namespace }) => ({ path: namespace, description: "changed" }),
    },
    // To where it is.
    MoveNamespace: {
      about: "namespace",
      message: (_, { namespace }) => ({ path: namespace, to: namespace }),
    },
    RestoreNamespace: { about: "namespace", message: ({ emptyNamespace }) => ({ path: emptyNamespace }) },
    DeleteNamespace: { about: "namespace", message: ({ emptyNamespace }) => ({ path: emptyNamespace }) },
    PurgeNamespace: {
      about: "namespace",
      message: ({ emptyNamespace }) => ({ path: emptyNamespace }),
      late: 1,
    },
  },
  "cairn.v1.RunService": {
    CreateRun: {
      about: "namespace",
      message: (_, { namespace }) => ({ namespace, name: "new" }),
    },
    GetRun: { about: "run", message: byId },
    UpdateRun: { about: "run", message: (world, target) => ({ ...byId(world, target), notes: "changed" }) },
    SearchRuns: { about: "list", message: nothing },
    DeleteRun: { about: "run", message: byId, on: trashed },
    RestoreRun: { about: "run", message: byId },
    MoveRun: {
      about: "run",
      message: (world, target) => ({ ...byId(world, target), namespace: target.namespace }),
    },
    PurgeRun: { about: "run", message: byId, on: trashed, late: 1 },
  },
  "cairn.v1.MetricService": {
    WriteEnvelope: { about: "run", message: byId },
    // Refuses each envelope by itself.
    WriteEnvelopes: {
      about: "list",
      message: (world, target) => ({ envelopes: [byId(world, target)] }),
    },
    StreamEnvelopes: { about: "run", message: byId },
    DescribeKey: {
      about: "namespace",
      message: (_, { namespace }) => ({ description: { namespace, key: "new" } }),
    },
    ListKeys: { about: "list", message: (_, { namespace }) => ({ namespace }) },
    ListSeries: { about: "run", message: byId },
    ListLabels: { about: "run", message: byId },
    DeleteSeries: {
      about: "run",
      message: (world, target) => ({ ...byId(world, target), matchers: [{ value: "new" }] }),
    },
    ListHosts: { about: "list", message: nothing },
    ListRunKeys: { about: "list", message: (_, { runId }) => ({ runs: [{ id: runId }] }) },
    ReadSeries: {
      about: "run",
      message: (world, target) => ({ series: [{ ...byId(world, target), key: "new" }] }),
    },
    ReadGroups: {
      about: "run",
      message: (world, target) => ({ groups: [{ name: "g", runs: [{ id: target.runId }] }], key: "new" }),
    },
  },
  "cairn.v1.ExploreService": {
    CompareRuns: { about: "list", message: (_, { runId }) => ({ runs: [{ id: runId }], withPatches: true }) },
    ListFields: { about: "list", message: (_, { namespace }) => ({ runs: { namespace } }) },
    GetImportance: {
      about: "list",
      message: (_, { namespace }) => ({ runs: { namespace }, objective: "metrics.new.min" }),
    },
    GetFrontier: {
      about: "list",
      message: (_, { namespace }) => ({
        runs: { namespace },
        goals: ["metrics.new.min", "duration"].map((field) => ({ field, direction: "DIRECTION_MINIMIZE" })),
      }),
    },
  },
  "cairn.v1.ArtifactService": {
    RecordArtifact: {
      about: "artifact",
      message: (world, target) => ({
        ...byId(world, target),
        artifact: { name: target.artifact, uri: "s3://bucket/new" },
      }),
    },
    GetArtifact: { about: "artifact", message: byName },
    ListArtifacts: { about: "run", message: byId },
    SearchModels: { about: "list", message: nothing },
    DeleteArtifact: { about: "artifact", message: byName, late: 2 },
    // The version that RecordArtifact has replaced.
    RestoreArtifact: {
      about: "artifact",
      message: (world, target) => ({ ...byName(world, target), version: "1" }),
    },
    PurgeArtifacts: { about: "artifact", message: byName, late: 2 },
  },
  "cairn.v1.LineageService": {
    AddSource: {
      about: "run",
      message: (world, target) => ({ ...byId(world, target), source: { id: "new" } }),
    },
    RemoveSource: {
      about: "run",
      message: (world, target) => ({ ...byId(world, target), source: { id: "new" } }),
    },
    ListSources: { about: "run", message: byId },
    ListChildren: { about: "run", message: byId },
    GetLineage: { about: "run", message: byId },
  },
  "cairn.v1.LogService": {
    ReadLog: { about: "run", message: byId },
    SearchLog: { about: "run", message: (world, target) => ({ ...byId(world, target), text: "Mark" }) },
    TailLog: { about: "run", message: (world, target) => ({ ...byId(world, target), from: 0 }) },
  },
  "cairn.v1.WatchService": {
    Watch: {
      about: "run",
      endless: true,
      message: (world, target) => ({ series: [byId(world, target)], logs: [byId(world, target)] }),
    },
  },
  "cairn.v1.SystemService": {
    GetInfo: { about: "list", message: nothing },
    VerifyRun: { about: "run", message: byId },
    CreateBackup: { about: "server", message: () => ({ name: "walk" }) },
    ListBackups: { about: "server", message: nothing },
    RestoreBackup: { about: "server", message: ({ backup }) => ({ name: backup }), late: 3 },
    CheckIntegrity: { about: "server", message: nothing },
  },
  "cairn.v1.AccessService": {
    WhoAmI: {
      about: "public",
      why: "it shows callers their identity, also without a credential",
      message: nothing,
    },
    LogIn: {
      about: "public",
      why: "it is how to get a credential",
      message: ({ user, password }) => ({ name: user, password }),
    },
    LogOut: {
      about: "public",
      why: "the holder of a token may end it",
      message: nothing,
      spends: true,
    },
    ChangePassword: {
      about: "public",
      why: "it requires the old password, and is refused to a caller who has none",
      message: () => ({ oldPassword: "not the old one", newPassword: "another sentence" }),
      spends: true,
    },
    ExplainAccess: {
      about: "run",
      message: ({ user }, target) => ({ principal: user, scope: scopeOf(target) }),
    },
    CreatePrincipal: {
      about: "server",
      message: () => ({ name: "walker", kind: "PRINCIPAL_KIND_SERVICE" }),
    },
    // Maintainers must know whom to bind.
    ListPrincipals: { about: "list", message: nothing, shows: ["principal"] },
    UpdatePrincipal: { about: "server", message: ({ user }) => ({ name: user, displayName: "changed" }) },
    DeletePrincipal: { about: "server", message: ({ spareUser }) => ({ name: spareUser }), late: 1 },
    AddMember: { about: "server", message: ({ group, spareUser }) => ({ group, member: spareUser }) },
    RemoveMember: { about: "server", message: ({ group, user }) => ({ group, member: user }) },
    BindRole: {
      about: "run",
      message: ({ user }, target) => ({ principal: user, role: "ROLE_VIEWER", scope: scopeOf(target) }),
    },
    UnbindRole: {
      about: "run",
      message: ({ user }, target) => ({ principal: user, scope: scopeOf(target) }),
      late: 1,
    },
    SetClosed: { about: "run", message: (_, target) => ({ scope: scopeOf(target), closed: false }) },
    GetScope: { about: "run", message: (_, target) => ({ scope: scopeOf(target) }) },
    // Callers may manage their own; these belong to another principal.
    CreateToken: { about: "server", message: ({ user }) => ({ principal: user }) },
    ListTokens: { about: "server", message: ({ user }) => ({ principal: user }) },
    RevokeToken: { about: "server", message: ({ tokenId }) => ({ id: tokenId }) },
    ListAudit: { about: "server", message: nothing },
    VerifyAudit: { about: "server", message: nothing },
    GetAuditHead: { about: "server", message: nothing },
  },
  "grpc.health.v1.Health": {
    Check: { about: "public", why: "a load balancer has no credential", message: nothing },
    Watch: { about: "public", why: "a load balancer has no credential", message: nothing, endless: true },
  },
  "grpc.reflection.v1.ServerReflection": {
    ServerReflectionInfo: {
      about: "public",
      why: "the API itself is no secret",
      message: () => ({ listServices: "*" }),
    },
  },
  "grpc.reflection.v1alpha.ServerReflection": {
    ServerReflectionInfo: {
      about: "public",
      why: "the API itself is no secret",
      message: () => ({ listServices: "*" }),
    },
  },
};

export const METHOD_ROWS: readonly MethodRow[] = [
  ...Object.entries(SERVICES).flatMap(([service, methods]) =>
    Object.entries(methods).map(([method, row]) => Object.assign({ name: `${service}/${method}` }, row)),
  ),
  ...VARIANTS,
];

export const ROUTE_ROWS: readonly RouteRow[] = [
  { name: "GET /healthz", about: "public", why: "a supervisor has no credential", path: () => "/healthz" },
  { name: "GET /readyz", about: "public", why: "a supervisor has no credential", path: () => "/readyz" },
  { name: "GET /metrics", about: "server", path: () => "/metrics" },
  {
    name: "PUT /artifacts/:run/*name",
    about: "artifact",
    path: contentOf,
    headers: { "content-type": "application/octet-stream" },
    body: "new",
  },
  {
    // The offset of an interrupted upload.
    name: "PUT /artifacts/:run/*name",
    about: "artifact",
    path: contentOf,
    headers: { "content-range": "bytes */3", "x-cairn-sha256": "0".repeat(64), "content-length": "0" },
  },
  { name: "GET /artifacts/:run/*name", about: "artifact", path: contentOf },
  {
    name: "GET /artifacts/:run/*name",
    about: "artifact",
    path: contentOf,
    headers: { range: "bytes=0-3", "if-none-match": '"0"' },
  },
  {
    name: "DELETE /artifacts/:run/*name",
    about: "artifact",
    path: contentOf,
    on: (world) => world.closedArtifact,
    late: 2,
  },
  {
    name: "POST /session",
    about: "public",
    why: "it is how to get a credential",
    path: () => "/session",
    headers: { "content-type": "application/json" },
    body: ({ user, password }) => JSON.stringify({ name: user, password }),
  },
  {
    name: "DELETE /session",
    about: "public",
    why: "the holder of a session may end it",
    path: () => "/session",
  },
  {
    name: "PUT /results/*path",
    about: "namespace",
    path: (_, { namespace }) => `/results/${namespace}/results/new`,
    headers: { "content-type": "application/octet-stream" },
    body: '{"loss": 1}',
  },
  {
    name: "GET /results/*path",
    about: "run",
    path: (_, { namespace, alias }) => `/results/${namespace}/${alias}`,
  },
  ...PAGE_PATHS.map((path): RouteRow => ({
    name: `GET ${path}`,
    about: "public",
    why: "a page has no data: that comes from the API",
    path: ({ open }) => path.replace(":run", open.runId).replace("*namespace", open.namespace),
  })),
  {
    name: "GET /install",
    about: "public",
    why: "a client is installed before it has a credential, and is not a secret",
    path: () => "/install/",
  },
  {
    name: "GET /install/:file",
    about: "public",
    why: "a client is installed before it has a credential, and is not a secret",
    path: () => "/install/cairn_tracker-0.1.0-py3-none-any.whl",
  },
  {
    name: "GET /assets/:file",
    about: "public",
    why: "the sign-in page is made of it",
    path: () => "/assets/app.js",
  },
];
