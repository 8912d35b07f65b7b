import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import {
  httpClient,
  jsonOf,
  sha256,
  VERSIONS,
  type HttpAnswer,
  type HttpClient,
} from "../testing/artifact-client.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

let folder: string;
let server: Server;
let run: string;

const start = () => startServer(["--data", folder, "--artifact-size-max", "10000000"]);

beforeAll(async () => {
  folder = makeFolder();
  server = await start();
  const api = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  run = (await api.runs.createRun({ namespace: "files" })).run!.id;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const blobFile = (digest: string) => join(folder, "blobs", digest.slice(0, 2), digest);
const uploads = () => readdirSync(join(folder, "blobs", "uploads"));
const offsetOf = (answer: HttpAnswer) => [answer.status, answer.headers["upload-offset"]];

describe.each(VERSIONS)("over %s", (version) => {
  let http: HttpClient;
  beforeAll(() => {
    http = httpClient(server.listening.url, version);
  });
  afterAll(() => http.close());
  const restart = async () => {
    http.close();
    await server.close();
    server = await start();
    http = httpClient(server.listening.url, version);
  };

  const pathOf = (name: string) => `/artifacts/${run}/${version.replaceAll(/\W/g, "")}/${name}`;
  /** Content of its own for each test, and the calls that upload it. */
  const upload = (name: string, sizeBytes = 1000) => {
    const content = Buffer.alloc(sizeBytes, `${version} ${name} `);
    const digest = sha256(content);
    const headers = (range: string) => ({ "content-range": `bytes ${range}`, "x-cairn-sha256": digest });
    return {
      content,
      digest,
      path: pathOf(name),
      headers,
      piece: (from: number, to: number) =>
        http.call("PUT", pathOf(name), headers(`${from}-${to - 1}/${sizeBytes}`), content.subarray(from, to)),
      ask: () => http.call("PUT", pathOf(name), headers(`*/${sizeBytes}`)),
      get: () => http.call("GET", pathOf(name)),
    };
  };

  it("F6 takes pieces in order, returns the offset, and the last one makes the artifact", async () => {
    const { piece, ask, get, content, digest } = upload("ordered");
    expect(offsetOf(await ask())).toEqual([202, "0"]);
    expect(uploads()).toEqual([]);
    expect(offsetOf(await piece(0, 400))).toEqual([202, "400"]);
    expect(offsetOf(await ask())).toEqual([202, "400"]);
    expect((await get()).status).toBe(404);
    expect(existsSync(blobFile(digest))).toBe(false);
    expect(offsetOf(await piece(400, 401))).toEqual([202, "401"]);
    const last = await piece(401, 1000);
    expect(offsetOf(last)).toEqual([201, "1000"]);
    expect(jsonOf(last)).toMatchObject({ sha256: digest, sizeBytes: "1000" });
    expect((await get()).body.equals(content)).toBe(true);
    expect(uploads()).toEqual([]);
  });

  it("F6 refuses a piece at another offset, and returns the right one", async () => {
    const { piece, get, content } = upload("places");
    expect(offsetOf(await piece(300, 400))).toEqual([409, "0"]);
    await piece(0, 300);
    for (const from of [0, 299, 301, 900]) {
      const refused = await piece(from, from + 50);
      expect(offsetOf(refused)).toEqual([409, "300"]);
      expect(jsonOf(refused)).toMatchObject({ reason: "UPLOAD_OFFSET", facts: { offset: "300" } });
    }
    expect((await piece(300, 1000)).status).toBe(201);
    expect((await get()).body.equals(content)).toBe(true);
  });

  it("F6 keeps the received part of a piece that was cut, and continues from there", async () => {
    const { content, headers, path, ask, piece, get } = upload("cut", 1_000_000);
    const cut = http.open("PUT", path, headers("0-999999/1000000"));
    await cut.write(content.subarray(0, 300_000));
    await expect
      .poll(() => server.stores.uploads.findUpload(uploads()[0] ?? "0".repeat(64)))
      .toMatchObject({ sizeBytes: 300_000 });
    cut.cut();
    await expect(cut.answer).rejects.toThrow();
    expect(offsetOf(await ask())).toEqual([202, "300000"]);
    expect((await get()).status).toBe(404);
    expect((await piece(300_000, 1_000_000)).status).toBe(201);
    expect((await get()).body.equals(content)).toBe(true);
  });

  it("F6 lets a newer request take over from one that hangs", async () => {
    const { content, headers, path, ask, piece } = upload("hanging");
    const hanging = http.open("PUT", path, headers("0-999/1000"));
    await hanging.write(content.subarray(0, 10));
    await expect.poll(uploads).toHaveLength(1);
    await expect.poll(() => server.stores.uploads.findUpload(uploads()[0]!)).toMatchObject({ sizeBytes: 10 });
    expect(offsetOf(await ask())).toEqual([202, "10"]);
    expect((await hanging.answer).status).toBe(499);
    expect((await piece(10, 1000)).status).toBe(201);
    hanging.cut();
  });

  it("F6 continues after a restart", async () => {
    const first = upload("restart");
    await first.piece(0, 700);
    await restart();
    const again = upload("restart");
    expect(offsetOf(await again.ask())).toEqual([202, "700"]);
    expect((await again.piece(700, 1000)).status).toBe(201);
    expect((await again.get()).body.equals(first.content)).toBe(true);
  });

  it("F6 answers the last piece again when its answer was lost", async () => {
    const { piece, ask, get, content } = upload("lost-answer");
    await piece(0, 500);
    await piece(500, 1000);
    expect(offsetOf(await piece(500, 1000))).toEqual([201, "1000"]);
    expect(offsetOf(await ask())).toEqual([201, "1000"]);
    expect((await get()).body.equals(content)).toBe(true);
  });

  it("F3 F6 stores nothing of an upload that differs from the announced content", async () => {
    const { piece, path, headers, ask, digest } = upload("lie");
    await piece(0, 999);
    const lie = await http.call("PUT", path, headers("999-999/1000"), "?");
    expect(lie.status).toBe(422);
    expect(jsonOf(lie)).toMatchObject({ reason: "DIGEST_MISMATCH" });
    expect(offsetOf(await ask())).toEqual([202, "0"]);
    expect(uploads()).toEqual([]);
    expect(existsSync(blobFile(digest))).toBe(false);
    expect((await http.call("GET", path)).status).toBe(404);
  });

  it("F6 refuses a piece that does not have the bytes it announces", async () => {
    const { path, headers, ask, piece } = upload("length");
    const short = await http.call("PUT", path, headers("0-99/1000"), "short");
    expect([short.status, jsonOf(short)["reason"]]).toEqual([400, "BODY_LENGTH"]);
    const long = await http.call("PUT", path, headers("5-6/1000"), "much too long");
    expect(long.status).toBe(400);
    const [, offset] = offsetOf(await ask());
    // What was received may stay: the digest decides at the end.
    expect(["0", "5"]).toContain(offset);
    await http.call("PUT", path, headers(`${Number(offset)}-999/1000`), Buffer.alloc(1000 - Number(offset)));
    expect((await piece(0, 1000)).status).toBe(201);
  });

  it("F6 is a different upload for another name, step, digest or size", async () => {
    const { piece, content, digest } = upload("mine");
    await piece(0, 600);
    const ask = async (name: string, total = 1000, sum = digest) => {
      const headers = { "content-range": `bytes */${total}`, "x-cairn-sha256": sum };
      return offsetOf(await http.call("PUT", pathOf(name), headers));
    };
    expect(await ask("mine")).toEqual([202, "600"]);
    expect(await ask("mine?step=1")).toEqual([202, "0"]);
    expect(await ask("other")).toEqual([202, "0"]);
    expect(await ask("mine", 1001)).toEqual([202, "0"]);
    expect(await ask("mine", 1000, sha256("x"))).toEqual([202, "0"]);
    expect((await piece(600, 1000)).status).toBe(201);
    expect(content.length).toBe(1000);
  });

  it("F3 refuses an upload in pieces that would be too large", async () => {
    const headers = { "content-range": "bytes 0-9/10000001", "x-cairn-sha256": sha256("x") };
    const refused = await http.call("PUT", pathOf("huge"), headers, "0123456789");
    expect([refused.status, jsonOf(refused)["reason"]]).toEqual([413, "LIMIT_EXCEEDED"]);
    expect(uploads()).toEqual([]);
  });

  it("F6 lets many send the same content under many names at once", async () => {
    const content = Buffer.alloc(200_000, `${version} crowd`);
    const digest = sha256(content);
    const send = async (name: string) => {
      let offset = 0;
      while (offset < content.length) {
        const end = Math.min(offset + 70_000, content.length);
        const headers = {
          "content-range": `bytes ${offset}-${end - 1}/${content.length}`,
          "x-cairn-sha256": digest,
        };
        const { status } = await http.call("PUT", pathOf(name), headers, content.subarray(offset, end));
        expect([201, 202]).toContain(status);
        offset = end;
      }
      expect((await http.call("GET", pathOf(name))).body.equals(content)).toBe(true);
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => send(`crowd-${i}`)));
    expect(uploads()).toEqual([]);
  });
});
