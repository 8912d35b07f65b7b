import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { RawClient } from "#server/testing/raw-client.ts";
import { makeFolder, startServer } from "#server/testing/servers.ts";
import type { Server } from "../serve.ts";
import { openInstallFiles } from "./install-files.ts";

const WHEEL = "cairn_tracker-9.9.9-py3-none-any.whl";
const BYTES = Buffer.from("PK\x03\x04 a wheel");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

describe("/install", () => {
  let folder: string;
  let server: Server;
  const get = (path: string, init: RequestInit = {}) => fetch(server.listening.url + path, init);

  beforeAll(async () => {
    folder = makeFolder();
    writeFileSync(join(folder, WHEEL), BYTES);
    writeFileSync(join(folder, "build.json"), "{}");
    mkdirSync(join(folder, "cairn_tracker-1-py3-none-any.whl"));
    // A token is required for everything else.
    server = await startServer(["--auth"], { install: openInstallFiles(folder) });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it("B200 offers the wheel without a credential, to be saved", async () => {
    const answer = await get(`/install/${WHEEL}`);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(BYTES)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": String(BYTES.length),
      "content-disposition": `attachment; filename="${WHEEL}"`,
      "x-content-type-options": "nosniff",
      etag: `"${SHA256}"`,
    });
    const head = await get(`/install/${WHEEL}`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      String(BYTES.length),
      "",
    ]);
    const same = await get(`/install/${WHEEL}`, { headers: { "if-none-match": `"${SHA256}"` } });
    expect([same.status, await same.text()]).toEqual([304, ""]);
    const other = await get(`/install/${WHEEL}`, { headers: { "if-none-match": '"0"' } });
    expect(other.status).toBe(200);
  });

  it("B201 lists it with a link that works from both addresses", async () => {
    for (const path of ["/install", "/install/", "/install/?x=1"]) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
      ]);
      const links = [...(await answer.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
      // As a browser or pip resolves it, also where a proxy has put something before the path.
      const seen = links.map((link) => new URL(link, `https://example.org/cairn${path}`).href);
      expect(seen).toEqual([`https://example.org/cairn/install/${WHEEL}#sha256=${SHA256}`]);
    }
  });

  it("B201 offers a package that was built again", async () => {
    const own = join(folder, "own");
    mkdirSync(own);
    const path = join(own, WHEEL);
    writeFileSync(path, "old");
    const files = openInstallFiles(own);
    expect(String(files.file(WHEEL)!.bytes)).toBe("old");
    writeFileSync(path, "new");
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    expect(String(files.file(WHEEL)!.bytes)).toBe("new");
    expect(files.list()).toHaveLength(1);
  });

  it("B202 refuses other names, other methods and foreign hosts", async () => {
    for (const name of ["build.json", "cairn_tracker-1-py3-none-any.whl", "none.whl", "..%2fpackage.json"]) {
      const answer = await get(`/install/${name}`);
      expect([name, [400, 404].includes(answer.status)]).toEqual([name, true]);
    }
    expect((await get("/install//", {})).status).toBe(400);
    expect((await get(`/install/${WHEEL}/`)).status).toBe(400);
    const posted = await get("/install", { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const foreign = await RawClient.connect(Number(new URL(server.listening.url).port));
    await foreign.send("GET /install/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    await foreign.closed();
    expect(foreign.text).toMatch(/^HTTP\/1\.1 4/);
    expect(foreign.text).not.toContain(WHEEL);
  });

  it("B202 says what to do where there is no package", async () => {
    const empty = await startServer([], { install: openInstallFiles(join(folder, "none")) });
    onTestFinished(() => empty.close());
    for (const path of ["/install/", `/install/${WHEEL}`]) {
      const answer = await fetch(empty.listening.url + path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        code: "not-found",
        hint: expect.stringContaining("npm start"),
      });
    }
  });
});
