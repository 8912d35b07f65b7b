import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { httpClient, jsonOf, sha256, VERSIONS, type HttpClient } from "../testing/artifact-client.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let api: Clients;
let run: string;
let path: (name: string) => string;

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer(["--data", folder, "--artifact-size-max", "5000000"]);
  api = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  run = (await api.runs.createRun({ namespace: "files" })).run!.id;
  path = (name) => `/artifacts/${run}/${name}`;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const blobFile = (digest: string) => join(folder, "blobs", digest.slice(0, 2), digest);
const blobFolder = (name: string) => readdirSync(join(folder, "blobs", name));

describe.each(VERSIONS)("over %s", (version) => {
  let http: HttpClient;
  beforeAll(() => {
    http = httpClient(server.listening.url, version);
  });
  afterAll(() => http.close());

  const name = (text: string) => path(`${version.replaceAll(/\W/g, "")}/${text}`);

  it("F1 F2 puts a file and returns it byte for byte", async () => {
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 251));
    const put = await http.call("PUT", `${name("a/b.bin")}?kind=model&step=-3`, {}, content);
    expect(put.status).toBe(201);
    expect(put.headers["etag"]).toBe(`"${sha256(content)}"`);
    expect(jsonOf(put)).toEqual({
      runId: run,
      name: decodeURIComponent(name("a/b.bin")).slice(path("").length),
      step: "-3",
      kind: "ARTIFACT_KIND_MODEL",
      place: "ARTIFACT_PLACE_STORED",
      sha256: sha256(content),
      sizeBytes: "300000",
      mediaType: "application/octet-stream",
      createdUs: expect.stringMatching(/^\d+$/),
      createdBy: "owner",
    });
    const got = await http.call("GET", name("a/b.bin"));
    expect(got.status).toBe(200);
    expect(got.body.equals(content)).toBe(true);
    expect(got.headers["content-length"]).toBe("300000");
  });

  it("F1 takes a name that looks like a method of our API", async () => {
    const target = name("model.v1/weights");
    expect((await http.call("PUT", target, { "content-type": "text/csv" }, "1,2")).status).toBe(201);
    expect((await http.call("GET", target, { "sec-fetch-site": "cross-site" })).body.toString()).toBe("1,2");
  });

  it("F1 keeps an empty file", async () => {
    expect((await http.call("PUT", name("empty"), {}, "")).status).toBe(201);
    const got = await http.call("GET", name("empty"));
    expect([got.status, got.body.length, got.headers["content-length"]]).toEqual([200, 0, "0"]);
    const range = await http.call("GET", name("empty"), { range: "bytes=0-" });
    expect(range.status).toBe(416);
  });

  it("F1 returns its metadata, the same by RPC and by route", async () => {
    const headers = {
      "content-type": "image/png; q=1",
      "x-cairn-metadata": '{ "epoch": 1.0, "note": "\\u00e9", "__proto__": {"x": 1} }',
    };
    const put = await http.call("PUT", `${name("said.png")}?kind=image&step=12`, headers, "png");
    expect(put.status).toBe(201);
    const wanted = jsonOf(put)["name"] as string;
    expect(jsonOf(put)["metadata"]).toEqual(
      JSON.parse('{"epoch":"1.0","note":"\\"é\\"","__proto__":"{\\"x\\":1}"}'),
    );
    const found = await fetch(`${server.listening.url}/cairn.v1.ArtifactService/GetArtifact`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ run: { id: run }, name: wanted, step: "12" }),
    });
    expect(await found.json()).toEqual({ ...jsonOf(put), position: expect.any(String) });
    expect((await http.call("GET", `${name("said.png")}?step=12`)).headers["content-type"]).toBe(
      "image/png; q=1",
    );
  });

  it("F9 serves it as a download that a browser neither runs nor sniffs", async () => {
    for (const [file, type] of [
      ["page.html", "text/html; charset=utf-8"],
      ["picture.svg", "image/svg+xml"],
      ["script.js", "text/javascript; charset=utf-8"],
      ["notes.weird", "application/octet-stream"],
    ]) {
      await http.call("PUT", name(file!), {}, "<script>alert(1)</script>");
      for (const method of ["GET", "HEAD"]) {
        const { status, headers } = await http.call(method, name(file!));
        expect(status).toBe(200);
        expect(headers).toMatchObject({
          "content-type": type,
          "content-disposition": `attachment; filename="${file}"; filename*=UTF-8''${file}`,
          "content-security-policy": "sandbox; default-src 'none'",
          "x-content-type-options": "nosniff",
          "cross-origin-resource-policy": "same-origin",
          "cache-control": "private, no-cache",
          "accept-ranges": "bytes",
          etag: `"${sha256("<script>alert(1)</script>")}"`,
        });
        expect(headers["access-control-allow-origin"]).toBeUndefined();
      }
    }
  });

  it("F9 names the file in ASCII and in UTF-8, and escapes quotes in names", async () => {
    const file = "a \"quoted' \u202e\u00fc;%.txt";
    await http.call("PUT", name(encodeURIComponent(file)), {}, "x");
    const { headers } = await http.call("HEAD", name(encodeURIComponent(file)));
    expect(headers["content-disposition"]).toBe(
      "attachment; filename=\"a _quoted' __;_.txt\"; filename*=UTF-8''a%20%22quoted%27%20_%C3%BC%3B%25.txt",
    );
  });

  it("F9 answers HEAD with the head only", async () => {
    await http.call("PUT", name("head"), {}, "0123456789");
    const head = await http.call("HEAD", name("head"), { range: "bytes=2-3" });
    expect([head.status, head.body.length, head.headers["content-length"]]).toEqual([200, 0, "10"]);
  });

  it.each([
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=3-", 206, "3456789", "bytes 3-9/10"],
    ["bytes=-4", 206, "6789", "bytes 6-9/10"],
    ["bytes=-40", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=9-9", 206, "9", "bytes 9-9/10"],
    ["bytes=5-500", 206, "56789", "bytes 5-9/10"],
    ["bytes=0-1,4-5", 200, "0123456789", undefined],
    ["bytes=5-2", 200, "0123456789", undefined],
    ["lines=1-2", 200, "0123456789", undefined],
    ["bytes=x", 200, "0123456789", undefined],
  ])("F2 F9 answers range %s with %i", async (range, status, text, contentRange) => {
    await http.call("PUT", name("ranges"), {}, "0123456789");
    const got = await http.call("GET", name("ranges"), { range });
    expect([got.status, got.body.toString(), got.headers["content-range"]]).toEqual([
      status,
      text,
      contentRange,
    ]);
    expect(got.headers["content-length"]).toBe(String(text.length));
  });

  it.each(["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99-100"])(
    "F9 answers range %s with 416 and the size",
    async (range) => {
      await http.call("PUT", name("ranges"), {}, "0123456789");
      const got = await http.call("GET", name("ranges"), { range });
      expect([got.status, got.headers["content-range"]]).toEqual([416, "bytes */10"]);
      expect(jsonOf(got)).toMatchObject({ reason: "RANGE" });
      expect(got.headers["content-disposition"]).toBeUndefined();
    },
  );

  it("F9 honours If-Range and If-None-Match", async () => {
    await http.call("PUT", name("conditions"), {}, "0123456789");
    const tag = `"${sha256("0123456789")}"`;
    const get = async (headers: Record<string, string>) => {
      const { status, body } = await http.call("GET", name("conditions"), headers);
      return [status, body.toString()];
    };
    expect(await get({ range: "bytes=1-2", "if-range": tag })).toEqual([206, "12"]);
    expect(await get({ range: "bytes=1-2", "if-range": '"other"' })).toEqual([200, "0123456789"]);
    expect(await get({ range: "bytes=1-2", "if-range": `W/${tag}` })).toEqual([200, "0123456789"]);
    expect(await get({ range: "bytes=1-2", "if-range": "Sat, 01 Jan 2028 00:00:00 GMT" })).toEqual([
      200,
      "0123456789",
    ]);
    expect(await get({ "if-none-match": tag })).toEqual([304, ""]);
    expect(await get({ "if-none-match": `"x", W/${tag}` })).toEqual([304, ""]);
    expect(await get({ "if-none-match": "*" })).toEqual([304, ""]);
    expect(await get({ "if-none-match": '"x"' })).toEqual([200, "0123456789"]);
    expect(await get({ "if-none-match": tag, range: "bytes=99-" })).toEqual([304, ""]);
    const { headers } = await http.call("HEAD", name("conditions"), { "if-none-match": tag });
    expect(headers["etag"]).toBe(tag);
  });

  it("F3 stores nothing of content that differs from the announced one", async () => {
    const wrong = await http.call("PUT", name("wrong"), { "x-cairn-sha256": sha256("right") }, "wrong!");
    expect(wrong.status).toBe(422);
    expect(jsonOf(wrong)).toMatchObject({ code: "invalid", reason: "DIGEST_MISMATCH" });
    const none = await http.call("PUT", name("wrong"), { "x-cairn-sha256": "abc" }, "wrong!");
    expect(none.status).toBe(400);
    expect((await http.call("GET", name("wrong"))).status).toBe(404);
    expect(existsSync(blobFile(sha256("wrong!")))).toBe(false);
    expect(blobFolder("incoming")).toEqual([]);
    const right = await http.call(
      "PUT",
      name("right"),
      { "x-cairn-sha256": sha256("right").toUpperCase() },
      "right",
    );
    expect(right.status).toBe(201);
  });

  it("F3 stores nothing of too large content, whether it is announced or not", async () => {
    const large = Buffer.alloc(5_000_001, version);
    const announced = await http.call("PUT", name("large"), { "content-length": "5000001" }, large);
    expect(announced.status).toBe(413);
    expect(jsonOf(announced)).toMatchObject({ code: "exhausted", reason: "LIMIT_EXCEEDED" });
    const silent = await http.call("PUT", name("large"), {}, large);
    expect(silent.status).toBe(413);
    expect((await http.call("GET", name("large"))).status).toBe(404);
    expect(existsSync(blobFile(sha256(large)))).toBe(false);
    expect(blobFolder("incoming")).toEqual([]);
    const most = await http.call("PUT", name("large"), {}, large.subarray(1));
    expect(most.status).toBe(201);
  });

  it("F3 an upload that is cut in the middle leaves nothing: no artifact, no file", async () => {
    await http.call("PUT", name("cut"), {}, "as it was");
    const cut = http.open("PUT", name("cut"));
    await cut.write(Buffer.alloc(100_000));
    await expect.poll(() => blobFolder("incoming").length).toBe(1);
    cut.cut();
    await expect(cut.answer).rejects.toThrow();
    await expect.poll(() => blobFolder("incoming")).toEqual([]);
    expect((await http.call("GET", name("cut"))).body.toString()).toBe("as it was");
    expect(existsSync(blobFile(sha256(Buffer.alloc(100_000))))).toBe(false);
  });

  it("F2 reports damage and never serves it", async () => {
    const content = Buffer.alloc(1_000_000, `damage ${version}`);
    await http.call("PUT", name("damaged"), {}, content);
    writeFileSync(blobFile(sha256(content)), Buffer.alloc(content.length, "x"));
    await expect(http.call("GET", name("damaged"))).rejects.toThrow();
    expect((await api.system.checkIntegrity({})).problems).toEqual([expect.stringContaining("damaged")]);
    // Longer or shorter than its head: nothing of it is sent.
    for (const length of [content.length + 1_000_000, 10, 0]) {
      writeFileSync(blobFile(sha256(content)), Buffer.alloc(length, "x"));
      for (const headers of [{}, { range: "bytes=5-9" }, { range: "bytes=900000-" }]) {
        expect((await http.call("GET", name("damaged"), headers)).status).toBe(500);
      }
    }
    rmSync(blobFile(sha256(content)));
    expect((await http.call("GET", name("damaged"))).status).toBe(500);
    expect((await api.system.checkIntegrity({})).problems).toEqual([expect.stringContaining("missing")]);
    // The same content again repairs it.
    await http.call("PUT", name("damaged"), {}, content);
    expect((await http.call("GET", name("damaged"))).body.equals(content)).toBe(true);
    expect((await api.system.checkIntegrity({})).problems).toEqual([]);
  });

  it("F13 serves inline content by the same route", async () => {
    const file = `${version.replaceAll(/\W/g, "")}/inline.json`;
    await api.artifacts.recordArtifact({
      run: { id: run },
      artifact: { name: file, content: Buffer.from('{"a":1}') },
    });
    const got = await http.call("GET", path(file));
    expect([got.status, got.body.toString()]).toEqual([200, '{"a":1}']);
    expect(got.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": "7",
      etag: `"${sha256('{"a":1}')}"`,
      "content-security-policy": "sandbox; default-src 'none'",
    });
    const part = await http.call("GET", path(file), { range: "bytes=1-3" });
    expect([part.status, part.body.toString()]).toEqual([206, '"a"']);
  });

  it("F5 has no bytes of a reference, and returns its location", async () => {
    const file = `${version.replaceAll(/\W/g, "")}/reference`;
    const uri = `${server.listening.url}/healthz`;
    await api.artifacts.recordArtifact({ run: { id: run }, artifact: { name: file, uri } });
    const got = await http.call("GET", path(file));
    expect(got.status).toBe(409);
    expect(jsonOf(got)).toMatchObject({ reason: "NOT_STORED", facts: { uri } });
    expect(got.headers["location"]).toBeUndefined();
  });

  it("F1 deletes one step, or all, and reports when there is none", async () => {
    for (const step of ["?step=1", "?step=2", ""])
      await http.call("PUT", name("many") + step, {}, `many${step}`);
    const remove = async (query: string) => {
      const { status, body } = await http.call("DELETE", name("many") + query);
      return [status, status === 200 ? body.toString() : ""];
    };
    expect(await remove("?step=1")).toEqual([200, '{"deletedCount":"1"}']);
    expect(await remove("?step=1")).toEqual([404, ""]);
    expect(await remove("")).toEqual([200, '{"deletedCount":"2"}']);
    expect(await remove("")).toEqual([404, ""]);
    expect(existsSync(blobFile(sha256("many?step=2")))).toBe(true);
  });

  it.each([
    ["?step=1.5", {}],
    ["?step=9007199254740993", {}],
    ["?step=", {}],
    ["?step=1&step=2", {}],
    ["?kind=virus", {}],
    ["?stpe=1", {}],
    ["", { "x-cairn-metadata": "[1]" }],
    ["", { "x-cairn-metadata": "{" }],
    ["", { "x-cairn-metadata": '{"a": "\u00e9"}' }],
    ["", { "content-type": "not a type" }],
    ["", { "content-range": "bytes 0-1/2" }],
    ["", { "content-range": "bytes 1-0/2", "x-cairn-sha256": sha256("ab") }],
    ["", { "content-range": "bytes 0-2/2", "x-cairn-sha256": sha256("ab") }],
    ["", { "content-range": "bytes */0", "x-cairn-sha256": sha256("ab") }],
    ["", { "content-range": "elephants 0-1/2", "x-cairn-sha256": sha256("ab") }],
  ])("F8 refuses a PUT with %s %o", async (query, headers) => {
    const put = await http.call("PUT", name("refused") + query, headers, "ab");
    expect(put.status).toBe(400);
    expect((await http.call("GET", name("refused"))).status).toBe(404);
  });

  it("A4 refuses a body that a form or a foreign page could send", async () => {
    for (const type of ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]) {
      expect((await http.call("PUT", name("form"), { "content-type": type }, "ab")).status).toBe(415);
    }
    expect((await http.call("PUT", name("form"), { "content-encoding": "gzip" }, "ab")).status).toBe(415);
    for (const foreign of [
      { origin: "http://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { origin: "null", "content-type": "text/plain" },
    ]) {
      expect((await http.call("PUT", name("form"), foreign, "ab")).status).toBe(403);
      expect((await http.call("DELETE", name("form"), foreign)).status).toBe(403);
    }
    expect((await http.call("OPTIONS", name("form"), { origin: "http://evil.example" })).status).toBe(405);
    expect((await http.call("GET", name("form"))).status).toBe(404);
    expect((await http.call("PUT", name("text"), { "content-type": "text/plain" }, "ab")).status).toBe(201);
  });

  it("reports what is missing", async () => {
    const unknownRun = "0".repeat(32);
    for (const [method, target, status] of [
      ["GET", path("unknown"), 404],
      ["GET", `/artifacts/${unknownRun}/x`, 404],
      ["PUT", `/artifacts/${unknownRun}/x`, 404],
      ["DELETE", `/artifacts/${unknownRun}/x`, 404],
      ["GET", "/artifacts/not-an-id/x", 400],
      ["GET", `/artifacts/${run}`, 404],
      ["POST", path("x"), 405],
    ] as const) {
      expect([method, target, (await http.call(method, target)).status]).toEqual([method, target, status]);
    }
    expect(blobFolder("incoming")).toEqual([]);
  });
});
