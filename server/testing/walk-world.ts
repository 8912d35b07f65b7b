import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { systemClock, type Clock } from "#base/clock.ts";
import type { WalkClient } from "./walk-call.ts";

/** The callers. All but the first two have a token. */
export type WalkCaller =
  | "nobody" // no credential
  | "guesser" // an unknown token
  | "expired"
  | "revoked"
  | "disabled" // its principal is
  | "deleted" // its principal is
  | "admin" // of the root
  | "reader" // viewer of the namespace
  | "member" // maintainer of the namespace
  | "outsider" // admin of another namespace
  | "narrow"; // admin of the root, by a token for the other namespace only

/** What a method or route is called on. */
export interface WalkTarget {
  namespace: string;
  runId: string;
  alias: string;
  /** The name of an artifact of the run. */
  artifact: string;
  /** The whole run or artifact: only those named see it. */
  closed: "run" | "artifact" | undefined;
}

/** A text that only callers may see who may read the thing it is part of. */
export interface Marker {
  text: string;
  /** `namespace`: only members; `run`, `artifact`: not even those; `principal`: only callers that manage access. */
  of: "namespace" | "run" | "artifact" | "principal";
}

export interface World {
  open: WalkTarget;
  closedRun: WalkTarget;
  closedArtifact: WalkTarget;
  trashed: WalkTarget;
  emptyNamespace: string;
  otherNamespace: string;
  /** A run in there: made from the open run, and the open run from it. */
  otherRun: string;
  user: string;
  password: string;
  group: string;
  spareUser: string;
  /** The id of a token of the user. */
  tokenId: string;
  backup: string;
  markers: readonly Marker[];
  headers: Readonly<Record<WalkCaller, Record<string, string>>>;
}

const DAY_US = 86_400_000_000;

/** A clock that can be put forward. */
export function forwardClock(): Clock & { addUs: number } {
  const clock = { addUs: 0, nowUs: () => systemClock.nowUs() + clock.addUs };
  return clock;
}

/** Calls as the administrator, and collects every text that must stay secret. */
class Planter {
  readonly markers: Marker[] = [];
  readonly #client: WalkClient;
  readonly #headers: Record<string, string>;

  constructor(client: WalkClient, headers: Record<string, string>) {
    this.#client = client;
    this.#headers = headers;
  }

  mark(of: Marker["of"], what: string): string {
    const text = `Mark-${what}-${randomBytes(6).toString("hex")}`;
    this.markers.push({ text, of });
    return text;
  }

  async call(name: string, message: JsonObject): Promise<JsonObject> {
    const headers = this.#headers;
    const answer = await this.#client.call({ protocol: "json", name: `cairn.v1.${name}`, message, headers });
    if (answer.code !== "OK") throw new Error(`${name}: ${answer.text}`);
    return answer.json;
  }

  async run(namespace: string, of: Marker["of"]): Promise<WalkTarget> {
    const alias = this.mark(of, "alias");
    const { run } = await this.call("RunService/CreateRun", {
      namespace,
      name: this.mark(of, "name"),
      aliases: [alias],
      params: { [this.mark(of, "param")]: JSON.stringify(this.mark(of, "value")) },
      tags: { [this.mark(of, "tag")]: this.mark(of, "text") },
      notes: this.mark(of, "notes"),
      provenance: { command: [this.mark(of, "command")] },
    });
    const { id } = run as { id: string };
    this.markers.push({ text: id, of });
    const artifact = `files/${this.mark(of, "file")}`;
    await this.call("MetricService/WriteEnvelope", {
      run: { id },
      writer: this.mark(of, "writer"),
      seq: 1,
      series: [{ key: this.mark(of, "metric"), steps: [1, 2], values: [0.5, 0.25] }],
      log: [{ lines: [this.mark(of, "line")] }],
      artifacts: [artifactOf(artifact, this.mark(of, "content"))],
      status: "RUN_STATUS_FINISHED",
    });
    return { namespace, runId: id, alias, artifact, closed: undefined };
  }

  async user(what: string, more: JsonObject = {}): Promise<string> {
    const name = this.mark("principal", what);
    const displayName = this.mark("principal", "person");
    await this.call("AccessService/CreatePrincipal", {
      name,
      kind: "PRINCIPAL_KIND_USER",
      displayName,
      ...more,
    });
    return name;
  }

  async bind(principal: string, role: string, namespace: string): Promise<void> {
    await this.call("AccessService/BindRole", { principal, role, scope: { namespace } });
  }

  async token(principal: string, more: JsonObject = {}): Promise<NewToken> {
    return this.unmarkedToken({ principal, name: this.mark("principal", "token"), ...more });
  }

  /** For callers who may see the names of their tokens. */
  async unmarkedToken(message: JsonObject): Promise<NewToken> {
    return (await this.call("AccessService/CreateToken", message)) as unknown as NewToken;
  }
}

interface NewToken {
  secret: string;
  token: { id: string };
}

/** Fills a new server with secret data, and makes callers of every kind. */
export async function plantWorld(
  client: WalkClient,
  adminToken: string,
  clock: { addUs: number },
): Promise<World> {
  const admin = bearer(adminToken);
  const planter = new Planter(client, admin);
  const namespace = `top/${planter.mark("namespace", "namespace")}`;
  const otherNamespace = "top/other";
  const runs = await plantRuns(planter, namespace);
  const emptyNamespace = `${namespace}/${planter.mark("namespace", "empty")}`;
  await planter.call("NamespaceService/CreateNamespace", {
    path: emptyNamespace,
    description: planter.mark("namespace", "description"),
  });
  await planter.call("MetricService/DescribeKey", {
    description: {
      namespace,
      key: planter.mark("namespace", "key"),
      description: planter.mark("namespace", "meaning"),
    },
  });
  const otherRun = await plantLinks(planter, runs, otherNamespace);
  const principals = await plantPrincipals(planter, namespace);
  const secrets = await plantCallers(planter, namespace, otherNamespace);
  clock.addUs += 2 * DAY_US;
  const backup = planter.mark("namespace", "backup");
  await planter.call("SystemService/CreateBackup", { name: backup });
  return {
    ...runs,
    emptyNamespace,
    otherNamespace,
    otherRun,
    ...principals,
    backup,
    markers: planter.markers,
    headers: {
      nobody: {},
      guesser: bearer(`cairn_${randomBytes(32).toString("base64url")}`),
      admin,
      expired: bearer(secrets.expired),
      revoked: bearer(secrets.revoked),
      disabled: bearer(secrets.disabled),
      deleted: bearer(secrets.deleted),
      reader: bearer(secrets.reader),
      member: bearer(secrets.member),
      outsider: bearer(secrets.outsider),
      narrow: bearer(secrets.narrow),
    },
  };
}

type Runs = Pick<World, "open" | "closedRun" | "closedArtifact" | "trashed">;

async function plantRuns(planter: Planter, namespace: string): Promise<Runs> {
  const close = (scope: JsonObject) => planter.call("AccessService/SetClosed", { scope, closed: true });
  const open = await planter.run(namespace, "namespace");
  const closedRun: WalkTarget = { ...(await planter.run(namespace, "run")), closed: "run" };
  await close({ runId: closedRun.runId });
  const closedArtifact: WalkTarget = {
    ...open,
    artifact: `files/${planter.mark("artifact", "file")}`,
    closed: "artifact",
  };
  await planter.call("MetricService/WriteEnvelope", {
    run: { id: open.runId },
    artifacts: [artifactOf(closedArtifact.artifact, planter.mark("artifact", "content"))],
  });
  await close({ runId: open.runId, artifact: closedArtifact.artifact });
  await planter.call("MetricService/WriteEnvelope", {
    host: { namespace, name: planter.mark("namespace", "host") },
    series: [{ key: planter.mark("namespace", "metric"), values: [1] }],
  });
  const trashed = await planter.run(namespace, "namespace");
  await planter.call("RunService/DeleteRun", { run: { id: trashed.runId } });
  return { open, closedRun, closedArtifact, trashed };
}

/** Makes a run in the other namespace, and sources of every kind. */
async function plantLinks(planter: Planter, runs: Runs, otherNamespace: string): Promise<string> {
  const { open, closedRun, closedArtifact, trashed } = runs;
  const others = await planter.call("RunService/CreateRun", { namespace: otherNamespace, name: "of others" });
  const otherRun = (others["run"] as { id: string }).id;
  const link = (child: string, source: JsonObject) =>
    planter.call("LineageService/AddSource", { run: { id: child }, source });
  await link(otherRun, { run: { id: open.runId }, artifact: open.artifact });
  await link(open.runId, { run: { id: otherRun } });
  for (const [child, of] of [
    [open.runId, "namespace"],
    [closedRun.runId, "run"],
  ] as const) {
    await link(child, { id: planter.mark(of, "source"), artifact: planter.mark(of, "through") });
  }
  await link(open.runId, { run: { id: closedRun.runId }, artifact: closedRun.artifact });
  await link(closedRun.runId, { run: { id: open.runId } });
  await link(trashed.runId, { run: { id: open.runId }, artifact: closedArtifact.artifact });
  return otherRun;
}

/** Those that are called on. */
async function plantPrincipals(
  planter: Planter,
  namespace: string,
): Promise<Pick<World, "user" | "password" | "spareUser" | "group" | "tokenId">> {
  const password = planter.mark("principal", "password");
  const user = await planter.user("user", { password });
  const spareUser = await planter.user("spare");
  const group = planter.mark("principal", "group");
  await planter.call("AccessService/CreatePrincipal", { name: group, kind: "PRINCIPAL_KIND_GROUP" });
  await planter.call("AccessService/AddMember", { group, member: user });
  await planter.bind(group, "ROLE_WRITER", namespace);
  await planter.bind(user, "ROLE_WRITER", namespace);
  const { token } = await planter.token(user);
  return { user, password, spareUser, group, tokenId: token.id };
}

/** Those that call: the secret of a token of each. */
async function plantCallers(
  planter: Planter,
  namespace: string,
  otherNamespace: string,
): Promise<Record<Exclude<WalkCaller, "nobody" | "guesser" | "admin">, string>> {
  const reader = await planter.user("reader");
  const member = await planter.user("member");
  const gone = await planter.user("gone");
  const off = await planter.user("off");
  const outsider = "outsider";
  await planter.call("AccessService/CreatePrincipal", { name: outsider, kind: "PRINCIPAL_KIND_SERVICE" });
  await planter.bind(reader, "ROLE_VIEWER", namespace);
  await planter.bind(outsider, "ROLE_ADMIN", otherNamespace);
  for (const name of [member, gone, off]) await planter.bind(name, "ROLE_MAINTAINER", namespace);

  const revoked = await planter.token(member);
  const secrets = {
    reader: (await planter.token(reader)).secret,
    member: (await planter.token(member)).secret,
    narrow: (await planter.unmarkedToken({ namespaces: [otherNamespace] })).secret,
    deleted: (await planter.token(gone)).secret,
    disabled: (await planter.token(off)).secret,
    revoked: revoked.secret,
    expired: (await planter.token(member, { days: 1 })).secret,
    outsider: (await planter.unmarkedToken({ principal: outsider })).secret,
  };
  await planter.call("AccessService/DeletePrincipal", { name: gone });
  await planter.call("AccessService/UpdatePrincipal", { name: off, disabled: true });
  await planter.call("AccessService/RevokeToken", { id: revoked.token.id });
  return secrets;
}

function artifactOf(name: string, content: string): JsonObject {
  // A model is in more lists than a file.
  return {
    name,
    kind: "ARTIFACT_KIND_MODEL",
    content: Buffer.from(content).toString("base64"),
    metadata: {},
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
