import type { JsonObject } from "@bufbuild/protobuf";
import { byId, trashed, type MethodRow } from "./walk-row.ts";
import type { WalkTarget } from "./walk-world.ts";

const namespaceScope = ({ namespace }: WalkTarget): JsonObject => ({ namespace });
const artifactScope = ({ runId, artifact }: WalkTarget): JsonObject => ({ runId, artifact });

/** Further ways to call the same: other names for the same thing, other scopes. */
export const VARIANTS: readonly MethodRow[] = [
  {
    name: "cairn.v1.RunService/GetRun",
    about: "run",
    message: (_, { alias }) => ({ run: { alias } }),
  },
  {
    name: "cairn.v1.RunService/GetRun",
    about: "run",
    message: (_, { namespace, runId }) => ({ run: { path: `${namespace}/${runId}` } }),
  },
  {
    name: "cairn.v1.RunService/CreateRun",
    about: "namespace",
    message: (_, { namespace, alias }) => ({ namespace, aliases: [alias], getOrCreate: true }),
  },
  {
    name: "cairn.v1.MetricService/WriteEnvelope",
    about: "run",
    message: (_, { alias, namespace }) => ({ run: { alias, namespace } }),
  },
  {
    name: "cairn.v1.MetricService/WriteEnvelope",
    about: "artifact",
    message: (world, target) => ({
      ...byId(world, target),
      artifacts: [{ name: target.artifact, uri: "s3://bucket/new" }],
    }),
  },
  {
    name: "cairn.v1.MetricService/WriteEnvelope",
    about: "namespace",
    message: (_, { namespace }) => ({
      host: { namespace, name: "new" },
      series: [{ key: "new", values: [1] }],
    }),
  },
  {
    name: "cairn.v1.MetricService/ListSeries",
    about: "list",
    message: (_, { namespace }) => ({ hosts: [{ namespace, name: "new" }] }),
  },
  {
    name: "cairn.v1.MetricService/ListSeries",
    about: "list",
    message: () => ({ under: "", withHosts: true }),
  },
  {
    name: "cairn.v1.MetricService/ListLabels",
    about: "list",
    message: (_, { namespace }) => ({ hosts: [{ namespace, name: "new" }], label: "" }),
  },
  {
    name: "cairn.v1.MetricService/ReadSeries",
    about: "list",
    message: (_, { namespace }) => ({ series: [{ host: { namespace, name: "new" }, key: "new" }] }),
  },
  { name: "cairn.v1.LineageService/ListSources", about: "run", message: byId, on: trashed },
  { name: "cairn.v1.LineageService/GetLineage", about: "run", message: byId, on: trashed },
  {
    name: "cairn.v1.RunService/SearchRuns",
    about: "list",
    message: (_, { namespace }) => ({
      namespace,
      query: 'name ~ "Mark" order by name',
      columns: ["params", "notes"],
      pageSize: 1,
    }),
  },
  { name: "cairn.v1.RunService/SearchRuns", about: "list", message: () => ({ trashed: true }) },
  {
    name: "cairn.v1.ArtifactService/SearchModels",
    about: "list",
    message: (_, { namespace }) => ({
      namespace,
      query: 'model.name ~ "Mark" order by name, model.name',
      pageSize: 1,
    }),
  },
  {
    name: "cairn.v1.NamespaceService/ListNamespaces",
    about: "list",
    message: () => ({ under: "top", pageSize: 1 }),
  },
  ...[
    { about: "namespace" as const, scopeBy: namespaceScope },
    { about: "artifact" as const, scopeBy: artifactScope },
  ].flatMap(({ about, scopeBy }): MethodRow[] => [
    {
      name: "cairn.v1.AccessService/ExplainAccess",
      about,
      message: ({ user }, target) => ({ principal: user, scope: scopeBy(target) }),
    },
    {
      name: "cairn.v1.AccessService/BindRole",
      about,
      message: ({ user }, target) => ({ principal: user, role: "ROLE_WRITER", scope: scopeBy(target) }),
    },
    {
      name: "cairn.v1.AccessService/UnbindRole",
      about,
      message: ({ user }, target) => ({ principal: user, scope: scopeBy(target) }),
      late: 1,
    },
    {
      name: "cairn.v1.AccessService/SetClosed",
      about,
      message: (_, target) => ({ scope: scopeBy(target), closed: false }),
    },
    {
      name: "cairn.v1.AccessService/GetScope",
      about,
      message: (_, target) => ({ scope: scopeBy(target) }),
    },
  ]),
];
