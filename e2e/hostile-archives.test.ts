import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpClient, jsonOf, sha256, VERSIONS, type HttpClient } from "#server/testing/artifact-client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { hostileArchives, type HostileArchive } from "./hostile-archive-files.ts";

const CANARY = "must not be overwritten";

let folder: string;
let server: ChildServer;
let archives: HostileArchive[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cairn-archives-"));
  writeFileSync(join(folder, "canary.txt"), CANARY);
  archives = hostileArchives(join(folder, "canary.txt"));
  server = await startChild(["--data", join(folder, "data")]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

async function newRun(http: HttpClient): Promise<string> {
  const headers = { "content-type": "application/json" };
  const created = await http.call(
    "POST",
    "/cairn.v1.RunService/CreateRun",
    headers,
    '{"namespace":"archives"}',
  );
  return (jsonOf(created)["run"] as { id: string }).id;
}

const files = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();

describe.each(VERSIONS)("S12 archives over %s", (version) => {
  it("S12 F2 are opaque: they are returned byte for byte, and never unpacked or inspected", async () => {
    expect(archives.length).toBeGreaterThanOrEqual(50);
    const http = httpClient(server.url, version);
    const id = await newRun(http);
    const before = files().filter((file) => !file.startsWith("data/blobs/"));
    for (const { name, bytes } of archives) {
      const path = `/artifacts/${id}/${name}`;
      const put = await http.call("PUT", path, {}, bytes);
      expect([name, put.status]).toEqual([name, 201]);
      expect(jsonOf(put)).toMatchObject({ sha256: sha256(bytes), sizeBytes: String(bytes.length) });
      const got = await http.call("GET", path, { "accept-encoding": "gzip, br, zstd" });
      expect([name, got.status, got.body.equals(bytes)]).toEqual([name, 200, true]);
      expect(got.headers["content-encoding"]).toBeUndefined();
      expect(got.headers["content-disposition"]).toContain("attachment");
    }
    http.close();
    expect(files().filter((file) => !file.startsWith("data/blobs/"))).toEqual(before);
    const blobs = files().filter((file) => /^data\/blobs\/[0-9a-f]{2}\//.test(file));
    expect(blobs).toHaveLength(new Set(archives.map(({ bytes }) => sha256(bytes))).size);
    expect(readFileSync(join(folder, "canary.txt"), "utf8")).toBe(CANARY);
    expect(existsSync(join(tmpdir(), "cairn-slip.txt"))).toBe(false);
  });

  it("S12 S7 are not unpacked when a request says that they are its encoding", async () => {
    const http = httpClient(server.url, version);
    const path = `/artifacts/${await newRun(http)}/x`;
    for (const [encoding, name] of [
      ["gzip", "bomb.gz"],
      ["br", "bomb.br"],
      ["zstd", "bomb.zst"],
    ]) {
      const { bytes } = archives.find((archive) => archive.name === name)!;
      const headers = { "content-encoding": encoding! };
      expect((await http.call("PUT", path, headers, bytes)).status).toBe(415);
      expect((await http.call("GET", path)).status).toBe(404);
    }
    http.close();
  });
});
