import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { systemClock, type Clock } from "#base/clock.ts";
import type { WalkClient } from "./walk-call.ts";

/** Who calls. All but the first two have a token. */
export type WalkCaller =
  | "nobody" // shows nothing
  | "guesser" // a token that never was
  | "expired"
  | "revoked"
  | "disabled" // its principal is
  | "deleted" // its principal is
  | "admin" // of the root
  | "reader" // viewer of the namespace
  | "member" // maintainer of the namespace
  | "outsider" // admin of another namespace
  | "narrow"; // admin of the root, by a token for the other namespace alone

/** What a method or route is called on. */
export interface WalkTarget {
  namespace: string;
  runId: string;
  alias: string;
  /** The name of an artifact of the run. */
  artifact: string;
  /** Of the whole run or artifact: nobody but those named sees it. */
  closed: "run" | "artifact" | undefined;
}

/** A text that nobody may see who may not read what it is part of. */
export interface Marker {
  text: string;
  /** `namespace`: only members; `run`, `artifact`: not even those; `principal`: only who manages access. */
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

/** Fills a new server with what is to stay secret, and makes callers of every kind. */
export async function plantWorld(
  client: WalkClient,
  adminToken: string,
  clock: { addUs: number },
): Promise<World> {
  const markers: Marker[] = [];
  const mark = (of: Marker["of"], what: string): string => {
    const text = `Mark-${what}-${randomBytes(6).toString("hex")}`;
    markers.push({ text, of });
    return text;
  };
  const admin = bearer(adminToken);
  const call = async (name: string, message: JsonObject): Promise<JsonObject> => {
    const answer = await client.call({ protocol: "json", name: `cairn.v1.${name}`, message, headers: admin });
    if (answer.code !== "OK") throw new Error(`${name}: ${answer.text}`);
    return answer.json;
  };

  const namespace = `top/${mark("namespace", "namespace")}`;
  const plantRun = async (of: Marker["of"], finished = true): Promise<WalkTarget> => {
    const alias = mark(of, "alias");
    const { run } = await call("RunService/CreateRun", {
      namespace,
      name: mark(of, "name"),
      aliases: [alias],
      params: { [mark(of, "param")]: JSON.stringify(mark(of, "value")) },
      tags: { [mark(of, "tag")]: mark(of, "text") },
      notes: mark(of, "notes"),
      provenance: { command: [mark(of, "command")] },
    });
    const { id } = run as { id: string };
    markers.push({ text: id, of });
    const artifact = `files/${mark(of, "file")}`;
    await call("MetricService/WriteEnvelope", {
      run: { id },
      writer: mark(of, "writer"),
      seq: 1,
      series: [{ key: mark(of, "metric"), steps: [1, 2], values: [0.5, 0.25] }],
      log: [{ lines: [mark(of, "line")] }],
      artifacts: [artifactOf(artifact, mark(of, "content"))],
      ...(finished && { status: "RUN_STATUS_FINISHED" }),
    });
    return { namespace, runId: id, alias, artifact, closed: undefined };
  };
  const close = (scope: JsonObject) => call("AccessService/SetClosed", { scope, closed: true });

  const open = await plantRun("namespace");
  const closedRun: WalkTarget = { ...(await plantRun("run")), closed: "run" };
  await close({ runId: closedRun.runId });
  const closedArtifact: WalkTarget = {
    ...open,
    artifact: `files/${mark("artifact", "file")}`,
    closed: "artifact",
  };
  await call("MetricService/WriteEnvelope", {
    run: { id: open.runId },
    artifacts: [artifactOf(closedArtifact.artifact, mark("artifact", "content"))],
  });
  await close({ runId: open.runId, artifact: closedArtifact.artifact });
  const trashed = await plantRun("namespace");
  await call("RunService/DeleteRun", { run: { id: trashed.runId } });
  const emptyNamespace = `${namespace}/${mark("namespace", "empty")}`;
  await call("NamespaceService/CreateNamespace", {
    path: emptyNamespace,
    description: mark("namespace", "description"),
  });
  await call("MetricService/DescribeKey", {
    description: { namespace, key: mark("namespace", "key"), description: mark("namespace", "meaning") },
  });
  const otherNamespace = "top/other";
  const others = await call("RunService/CreateRun", { namespace: otherNamespace, name: "of others" });
  const otherRun = (others["run"] as { id: string }).id;
  const link = (child: string, source: JsonObject) =>
    call("LineageService/AddSource", { run: { id: child }, source });
  await link(otherRun, { run: { id: open.runId }, artifact: open.artifact });
  await link(open.runId, { run: { id: otherRun } });
  for (const [child, of] of [
    [open.runId, "namespace"],
    [closedRun.runId, "run"],
  ] as const) {
    await link(child, { id: mark(of, "source"), artifact: mark(of, "through") });
  }
  await link(open.runId, { run: { id: closedRun.runId }, artifact: closedRun.artifact });
  await link(closedRun.runId, { run: { id: open.runId } });
  await link(trashed.runId, { run: { id: open.runId }, artifact: closedArtifact.artifact });

  const password = mark("principal", "password");
  const plantUser = async (what: string, more: JsonObject = {}): Promise<string> => {
    const name = mark("principal", what);
    const displayName = mark("principal", "person");
    const user = { name, kind: "PRINCIPAL_KIND_USER", displayName, ...more };
    await call("AccessService/CreatePrincipal", user);
    return name;
  };
  const bind = (principal: string, role: string, path: string) =>
    call("AccessService/BindRole", { principal, role, scope: { namespace: path } });
  const token = async (principal: string, more: JsonObject = {}) =>
    (await call("AccessService/CreateToken", {
      principal,
      name: mark("principal", "token"),
      ...more,
    })) as { secret: string; token: { id: string } };

  const user = await plantUser("user", { password });
  const spareUser = await plantUser("spare");
  const group = mark("principal", "group");
  await call("AccessService/CreatePrincipal", { name: group, kind: "PRINCIPAL_KIND_GROUP" });
  await call("AccessService/AddMember", { group, member: user });
  await bind(group, "ROLE_WRITER", namespace);
  await bind(user, "ROLE_WRITER", namespace);

  const people = {
    reader: await plantUser("reader"),
    member: await plantUser("member"),
    outsider: "outsider",
    gone: await plantUser("gone"),
    off: await plantUser("off"),
  };
  await call("AccessService/CreatePrincipal", { name: people.outsider, kind: "PRINCIPAL_KIND_SERVICE" });
  await bind(people.reader, "ROLE_VIEWER", namespace);
  await bind(people.member, "ROLE_MAINTAINER", namespace);
  await bind(people.outsider, "ROLE_ADMIN", otherNamespace);
  for (const name of [people.gone, people.off]) await bind(name, "ROLE_MAINTAINER", namespace);

  const [reader, member, narrow, deleted, disabled, revoked, expired, outsider, own] = [
    await token(people.reader),
    await token(people.member),
    (await call("AccessService/CreateToken", { namespaces: [otherNamespace] })) as { secret: string },
    await token(people.gone),
    await token(people.off),
    await token(people.member),
    await token(people.member, { days: 1 }),
    // Its name is its own to see.
    (await call("AccessService/CreateToken", { principal: people.outsider })) as { secret: string },
    await token(user),
  ];
  await call("AccessService/DeletePrincipal", { name: people.gone });
  await call("AccessService/UpdatePrincipal", { name: people.off, disabled: true });
  await call("AccessService/RevokeToken", { id: revoked.token.id });
  clock.addUs += 2 * DAY_US;
  const backup = mark("namespace", "backup");
  await call("SystemService/CreateBackup", { name: backup });

  return {
    open,
    closedRun,
    closedArtifact,
    trashed,
    emptyNamespace,
    otherNamespace,
    otherRun,
    user,
    password,
    group,
    spareUser,
    tokenId: own.token.id,
    backup,
    markers,
    headers: {
      nobody: {},
      guesser: bearer(`cairn_${randomBytes(32).toString("base64url")}`),
      expired: bearer(expired.secret),
      revoked: bearer(revoked.secret),
      disabled: bearer(disabled.secret),
      deleted: bearer(deleted.secret),
      admin,
      reader: bearer(reader.secret),
      member: bearer(member.secret),
      outsider: bearer(outsider.secret),
      narrow: bearer(narrow.secret),
    },
  };
}

function artifactOf(name: string, content: string): JsonObject {
  return { name, content: Buffer.from(content).toString("base64"), metadata: {} };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
