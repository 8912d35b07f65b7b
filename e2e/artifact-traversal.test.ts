import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { dose, seed, tally } from "../tools/dose.ts";
import { RawHttp, type RawAnswer } from "./raw-http.ts";
import { EVERY_PAIR, traversalCorpus } from "./traversal-corpus.ts";

const CORPUS = dose(EVERY_PAIR, 10_000);
const CLIENTS = 8;
const CANARY = "canary: must not be read or changed";
/** Texts that some system interprets as the parent folder, the root, a drive or the end of a name. */
const CLIMBING = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)|^[/\\]|^[A-Za-z]:|\p{Cc}|\\/u;
/** Texts that no answer may contain: our canary, and the first words of files that attackers request. */
const FOREIGN = [CANARY, "root:x:0:0", "SQLite format 3", "cairn-blobs 1"];

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cairn-climb-"));
  mkdirSync(join(folder, "data"));
  for (const place of ["", "data", "data/a", "etc", "windows"]) {
    mkdirSync(join(folder, place), { recursive: true });
    writeFileSync(join(folder, place, "canary.txt"), CANARY);
  }
  server = await startChild(["--data", join(folder, "data"), "--quota-requests-per-second", "0"]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

function rpc(client: RawHttp, method: string, request: object): Promise<RawAnswer> {
  return client.call(
    "POST",
    `/cairn.v1.${method}`,
    JSON.stringify(request),
    "content-type: application/json\r\n",
  );
}

async function newRun(client: RawHttp): Promise<string> {
  const { body } = await rpc(client, "RunService/CreateRun", { namespace: "x" });
  return (JSON.parse(body.toString()) as { run: { id: string } }).run.id;
}

/** Every file below the folder, with its content unless the server writes it. */
function snapshot(): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (/^data\/(?:blobs\/|(?:cairn|lock)\.db)/.test(path)) continue;
    const file = join(folder, path);
    files.set(path, entry.isFile() ? `${statSync(file).mtimeMs} ${readFileSync(file, "utf8")}` : "folder");
  }
  return files;
}

/** Names in the blob store that are not of its making. */
function unexpectedFiles(): string[] {
  const names = readdirSync(join(folder, "data", "blobs"), { recursive: true, encoding: "utf8" });
  return names.filter(
    (name) => !/^(?:format|incoming|uploads|([0-9a-f]{2})(?:\/\1[0-9a-f]{62})?)$/.test(name),
  );
}

describe("S2 F8 paths that try to climb", () => {
  it(`S2 F8 ${CORPUS} spellings are refused or plain keys on every way, and nothing outside is touched (seed ${seed})`, async () => {
    const corpus = traversalCorpus(CORPUS, seed);
    expect(corpus).toHaveLength(CORPUS);
    const before = snapshot();
    const counts = { refused: 0, keys: 0, recorded: 0 };
    const attempt = async (client: RawHttp, run: string, text: string, content: string) => {
      const target = `/artifacts/${run}/${text}`;
      const said: [string, RawAnswer][] = [];
      const call = async (method: string, body?: string) => {
        const answer = await client.call(method, target, body);
        said.push([`${method} ${target}`, answer]);
        return answer;
      };
      const put = await call("PUT", content);
      const got = await call("GET");
      const removed = await call("DELETE");
      if (put.status === 201) {
        counts.keys++;
        const { name } = JSON.parse(put.body.toString()) as { name: string };
        // Decoded exactly once.
        const path = text.split("?", 1)[0]!;
        expect(name, target).toBe(decodeURIComponent(path));
        expect(name, target).not.toMatch(CLIMBING);
        expect([got.status, got.body.toString()], target).toEqual([200, content]);
        expect(removed.status, target).toBe(200);
      } else {
        counts.refused++;
        for (const { status } of [put, got, removed]) {
          expect([400, 404, 414], target).toContain(status);
        }
      }
      const recorded = await rpc(client, "ArtifactService/RecordArtifact", {
        run: { id: run },
        artifact: { name: text, content: Buffer.from(content).toString("base64") },
      });
      said.push([`RecordArtifact ${text}`, recorded]);
      expect([200, 400], text).toContain(recorded.status);
      if (recorded.status === 200) {
        counts.recorded++;
        expect((JSON.parse(recorded.body.toString()) as { name: string }).name).toBe(text);
        expect(text).not.toMatch(CLIMBING);
        const asked = { run: { id: run }, name: text };
        for (const method of ["GetArtifact", "DeleteArtifact"]) {
          const answer = await rpc(client, `ArtifactService/${method}`, asked);
          expect(answer.status, text).toBe(200);
          said.push([`${method} ${text}`, answer]);
        }
      }
      for (const [what, { text: answer }] of said) {
        for (const foreign of FOREIGN)
          expect(answer.includes(foreign), `${what} shows ${foreign}`).toBe(false);
      }
    };
    const clients = Array.from({ length: CLIENTS }, () => new RawHttp(server.url));
    await Promise.all(
      clients.map(async (client, number) => {
        // One run each: the encoded form of one name may be the literal form of another.
        const run = await newRun(client);
        for (let i = number; i < corpus.length; i += CLIENTS) {
          await attempt(client, run, corpus[i]!, `content ${number}`);
        }
        const list = await rpc(client, "ArtifactService/ListArtifacts", { run: { id: run } });
        expect(JSON.parse(list.body.toString())).toEqual({ position: expect.any(String) as string });
        client.close();
      }),
    );
    // All three happen, or the corpus proves nothing.
    expect(counts.refused).toBeGreaterThan(CORPUS / 10);
    expect(counts.keys).toBeGreaterThan(CORPUS / 100);
    expect(counts.recorded).toBeGreaterThan(CORPUS / 100);
    expect(snapshot()).toEqual(before);
    expect(unexpectedFiles()).toEqual([]);
    tally("traversals", CORPUS);
  });

  it("S2 the part of the path with the run cannot escape either", async () => {
    const client = new RawHttp(server.url);
    const before = snapshot();
    for (const text of traversalCorpus(dose(250, 500), seed)) {
      for (const method of ["PUT", "GET", "DELETE"]) {
        const answer = await client.call(method, `/artifacts/${text}/x`, "x");
        expect([400, 404, 414], text).toContain(answer.status);
        for (const foreign of FOREIGN) expect(answer.text.includes(foreign), text).toBe(false);
      }
    }
    client.close();
    expect(snapshot()).toEqual(before);
    expect(unexpectedFiles()).toEqual([]);
  });

  it("S2 links planted in the store are not followed", async () => {
    const client = new RawHttp(server.url);
    const content = "about to be replaced by a link";
    const digest = createHash("sha256").update(content).digest("hex");
    const target = `/artifacts/${await newRun(client)}/linked`;
    expect((await client.call("PUT", target, content)).status).toBe(201);
    const blobs = join(folder, "data", "blobs");
    const file = join(blobs, digest.slice(0, 2), digest);
    rmSync(file);
    symlinkSync(join(folder, "canary.txt"), file);
    for (const headers of ["", "range: bytes=0-3\r\n"]) {
      const got = await client.call("GET", target, "", headers);
      expect(got.status).toBe(500);
      expect(got.text).not.toContain(CANARY.slice(0, 4));
    }
    expect((await client.call("PUT", target, content)).status).toBe(201);
    expect((await client.call("GET", target)).body.toString()).toBe(content);

    // The whole directory of a digest, led elsewhere.
    rmSync(join(blobs, digest.slice(0, 2)), { recursive: true });
    mkdirSync(join(folder, "outside"));
    writeFileSync(join(folder, "outside", digest), CANARY);
    symlinkSync(join(folder, "outside"), join(blobs, digest.slice(0, 2)));
    expect((await client.call("GET", target)).status).toBe(503);
    expect((await client.call("PUT", target, content)).status).toBe(503);
    expect(readFileSync(join(folder, "outside", digest), "utf8")).toBe(CANARY);
    expect(readFileSync(join(folder, "canary.txt"), "utf8")).toBe(CANARY);
    expect(readdirSync(join(folder, "outside"))).toEqual([digest]);
    client.close();
  });
});
