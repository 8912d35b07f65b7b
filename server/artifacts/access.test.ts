import { afterEach, beforeEach, expect, it } from "vitest";
import { OWNER, type Caller } from "#core/access/caller.ts";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import { refused } from "#store/contract/stores.ts";
import { sha256 } from "../testing/artifact-client.ts";
import {
  byId,
  head,
  openArtifactCore,
  streamOf,
  textOf,
  type ArtifactCore,
} from "../testing/artifact-core.ts";

const ADMIN: Caller = { ...OWNER, permission: "administer" };

let on: ArtifactCore;
let run: string;
beforeEach(async () => {
  on = await openArtifactCore();
  run = await on.newRun("lab/asr");
});
afterEach(() => on.discard());

const put = (caller: Caller, name: string, content: string) =>
  on.artifacts.uploads.put(caller, byId(run), head(name), streamOf(content));
const asked = (name: string) => ({ run: byId(run), name, step: undefined });
const record = (name: string): ArtifactRecord => ({
  ...head(name),
  uri: "s3://x",
  content: undefined,
  sha256: undefined,
  sizeBytes: undefined,
});
const names = async (caller: Caller, pageSize = 100) => {
  const all: string[] = [];
  let pageToken = "";
  do {
    const page = await on.artifacts.list(caller, {
      run: byId(run),
      prefix: "",
      kind: undefined,
      fromStep: undefined,
      toStep: undefined,
      pageSize,
      pageToken,
    });
    all.push(...page.artifacts.map(({ name }) => name));
    expect(Buffer.from(page.nextPageToken, "base64url").toString()).not.toContain("secret");
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all;
};
const close = (artifact: string) =>
  on.access.setClosed(ADMIN, { scope: { namespace: "", runId: run, artifact }, closed: true });

/** Everything that can be done with one artifact. */
const calls = (
  as: (permission: "read" | "write") => Caller,
  name: string,
): [string, () => Promise<unknown>][] => [
  ["get", () => on.artifacts.get(as("read"), asked(name))],
  ["open", () => on.artifacts.open(as("read"), asked(name))],
  ["record", () => on.artifacts.record(as("write"), byId(run), record(name))],
  ["put", () => put(as("write"), name, "other")],
  [
    "put a piece",
    () =>
      on.artifacts.uploads.putPiece(as("write"), byId(run), head(name), {
        digest: sha256("ab"),
        totalBytes: 2,
        piece: { start: 0, sizeBytes: 1, content: streamOf("a") },
      }),
  ],
  [
    "request the offset",
    () =>
      on.artifacts.uploads.putPiece(as("write"), byId(run), head(name), {
        digest: sha256("ab"),
        totalBytes: 2,
        piece: undefined,
      }),
  ],
  ["delete", () => on.artifacts.delete(as("write"), asked(name))],
];

it("F5 F10 an artifact that is closed to a caller is not found in any way, listed, or counted", async () => {
  for (const name of ["a", "secret-1", "secret-2", "z"])
    await put({ ...OWNER, permission: "write" }, name, name);
  await close("secret-1");
  await close("secret-2");
  const ada = await on.user("ada", { role: "maintainer", namespace: "lab" });
  for (const [what, call] of calls(ada, "secret-1")) {
    const missing = refused("not-found", undefined, {
      message: `cannot find artifact "secret-1" of run "${run}"`,
    });
    await expect(call(), what).rejects.toEqual(missing);
  }
  for (const pageSize of [1, 2, 3, 100]) expect(await names(ada("read"), pageSize)).toEqual(["a", "z"]);
  expect(await names({ ...OWNER, permission: "read" })).toEqual(["a", "secret-1", "secret-2", "z"]);
  const owners = { ...OWNER, permission: "read" } as const;
  expect(await textOf((await on.artifacts.open(owners, asked("secret-1"))).body)).toBe("secret-1");
});

it("F5 a closed artifact and a missing one are refused with the same message", async () => {
  await put({ ...OWNER, permission: "write" }, "secret", "x");
  await close("secret");
  const ada = await on.user("ada", { role: "writer", namespace: "lab" });
  const wordsOf = (name: string) =>
    on.artifacts.get(ada("read"), asked(name)).catch((error: Error) => error.message.replace(name, "NAME"));
  expect(await wordsOf("secret")).toBe(await wordsOf("nothing"));
});

it("F5 a reader may not write, and a caller of another namespace finds no run", async () => {
  await put({ ...OWNER, permission: "write" }, "a", "content");
  const reader = await on.user("reader", { role: "viewer", namespace: "lab" });
  expect(await textOf((await on.artifacts.open(reader("read"), asked("a"))).body)).toBe("content");
  for (const [what, call] of calls(reader, "a").slice(2)) {
    await expect(call(), what).rejects.toEqual(refused("forbidden"));
  }
  const outsider = await on.user("outsider", { role: "admin", namespace: "other" });
  for (const [what, call] of calls(outsider, "a")) {
    const missing = refused("not-found", undefined, { message: `cannot find run "${run}"` });
    await expect(call(), what).rejects.toEqual(missing);
  }
  await expect(names(outsider("read"))).rejects.toEqual(refused("not-found"));
  expect(await textOf((await on.artifacts.open(reader("read"), asked("a"))).body)).toBe("content");
});

it("F5 one artifact can be opened to a user who sees nothing else of the run", async () => {
  await put({ ...OWNER, permission: "write" }, "shared", "for ada");
  await put({ ...OWNER, permission: "write" }, "private", "not for ada");
  const ada = await on.user("ada", { role: "viewer", runId: run, artifact: "shared" });
  expect(await textOf((await on.artifacts.open(ada("read"), asked("shared"))).body)).toBe("for ada");
  await expect(on.artifacts.get(ada("read"), asked("private"))).rejects.toEqual(refused("not-found"));
  await expect(on.artifacts.get(ada("read"), asked("unknown"))).rejects.toEqual(refused("not-found"));
  await expect(names(ada("read"))).rejects.toEqual(refused("not-found"));
});

it("F5 knowing the digest does not give access to the content", async () => {
  await put({ ...OWNER, permission: "write" }, "secret", "the secret content");
  await close("secret");
  const ada = await on.user("ada", { role: "writer", namespace: "lab" });
  const known = { digest: sha256("the secret content"), totalBytes: 18 };
  const write = ada("write");
  const mine = { run: byId(run), name: "mine", step: undefined };
  expect(
    await on.artifacts.uploads.putPiece(write, mine.run, head("mine"), { ...known, piece: undefined }),
  ).toEqual({
    done: false,
    offset: 0,
  });
  const announced = on.artifacts.uploads.put(write, mine.run, head("mine"), streamOf(""), {
    digest: known.digest,
  });
  await expect(announced).rejects.toEqual(refused("invalid", "DIGEST_MISMATCH"));
  await on.artifacts.record(write, mine.run, { ...record("mine"), sha256: known.digest, sizeBytes: 18 });
  await expect(on.artifacts.open(ada("read"), mine)).rejects.toEqual(refused("precondition", "NOT_STORED"));
});

it("F3 F5 an upload whose caller loses the right meanwhile stores nothing", async () => {
  const ada = await on.user("ada", { role: "writer", namespace: "lab" });
  async function* slow() {
    yield Buffer.from("first half, ");
    await on.access.unbindRole(ADMIN, {
      principal: "ada",
      scope: { namespace: "lab", runId: "", artifact: "" },
    });
    yield Buffer.from("second half");
  }
  const putting = on.artifacts.uploads.put(ada("write"), byId(run), head("late"), slow());
  await expect(putting).rejects.toEqual(refused("forbidden"));
  expect(await on.digests()).toEqual([]);
  expect(await names({ ...OWNER, permission: "read" })).toEqual([]);
});

it("F11 a deletion records who deleted what, and what was closed stays closed until its last version is gone", async () => {
  await put({ ...OWNER, permission: "write" }, "model.pt", "one");
  await close("model.pt");
  await on.artifacts.delete({ ...OWNER, permission: "write" }, asked("model.pt"));
  const [entry] = await on.under.access.listAudit({
    principal: undefined,
    action: "delete-artifact",
    target: undefined,
    before: undefined,
    limit: 1,
  });
  expect(entry).toMatchObject({
    principal: "owner",
    target: `${run}/model.pt`,
    facts: { namespace: "lab/asr" },
  });
  const ada = await on.user("ada", { role: "writer", namespace: "lab" });
  await expect(put(ada("write"), "model.pt", "two")).rejects.toEqual(refused("not-found"));
  const listed = { run: byId(run), prefix: "", pageSize: 0, pageToken: "" };
  expect((await on.artifacts.replaced.list(ada("read"), listed)).artifacts).toEqual([]);
  const [kept] = (await on.artifacts.replaced.list({ ...OWNER, permission: "read" }, listed)).artifacts;
  const version = { run: byId(run), name: "model.pt", version: kept!.version };
  await expect(on.artifacts.replaced.restore(ada("write"), version)).rejects.toEqual(refused("not-found"));
  const cleared = { run: byId(run), name: "model.pt" };
  expect(await on.artifacts.replaced.purge({ ...OWNER, permission: "maintain" }, cleared)).toBe(1);
  await put(ada("write"), "model.pt", "two");
  expect(await names(ada("read"))).toEqual(["model.pt"]);
});
