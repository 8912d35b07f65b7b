import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request as request1, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { dose } from "../../tools/dose.ts";
import { asNpmStart, CLEAN_HEAP, cleanRssBytes, objections, rssBytes } from "./measure.ts";

const MIB = 1 << 20;
/** Rather less than the size of anything that is sent here. */
const GROWTH_BYTES_MAX = 96 * MIB;
const MEASURE_EVERY_BYTES = 16 * MIB;

let folder: string;
let server: ChildServer;
let run: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cairn-large-"));
  // No bound on the rate, or the machine's speed would decide what is tested.
  const argv = ["--data", join(folder, "data"), "--quota-bytes-per-second", "0"];
  server = await startChild(argv, asNpmStart(CLEAN_HEAP));
  const created = await fetch(`${server.url}/cairn.v1.RunService/CreateRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"namespace":"large"}',
  });
  run = ((await created.json()) as { run: { id: string } }).run.id;
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

interface Transfer {
  upload(path: string): { out: Writable; answer: Promise<{ status: number; body: Readable }> };
  download(path: string): Promise<{ status: number; body: Readable }>;
  close(): void;
}

function http1(): Transfer {
  const { hostname, port } = new URL(server.url);
  const open = (method: string, path: string) => {
    const request = request1({ hostname, port, method, path, agent: false });
    const answer = once(request, "response").then(([first]) => {
      const response = first as IncomingMessage;
      return { status: response.statusCode!, body: response };
    });
    return { out: request, answer };
  };
  return {
    upload: (path) => open("PUT", path),
    download: (path) => {
      const { out, answer } = open("GET", path);
      out.end();
      return answer;
    },
    close() {},
  };
}

function http2(): Transfer {
  const session = connect(server.url);
  const open = (method: string, path: string) => {
    const stream = session.request({ ":method": method, ":path": path }, { endStream: method === "GET" });
    const answer = once(stream, "response").then(([head]) => ({
      status: Number((head as Record<string, string>)[":status"]),
      body: stream,
    }));
    return { out: stream, answer };
  };
  return {
    upload: (path) => open("PUT", path),
    download: (path) => open("GET", path).answer,
    close: () => session.destroy(),
  };
}

/** The server's memory stays as it is while `work` is done and counts bytes. */
async function requireSteady(work: (passed: (bytes: number) => void) => Promise<void>): Promise<void> {
  const clean = () => cleanRssBytes(server.child, () => fetch(`${server.url}/healthz`));
  const before = await clean();
  const growths = await objections(async () => {
    let peak = await clean();
    let bytes = 0;
    const look = () => (peak = Math.max(peak, rssBytes(server.child.pid!)));
    await work((more) => {
      const step = Math.floor(bytes / MEASURE_EVERY_BYTES);
      bytes += more;
      if (Math.floor(bytes / MEASURE_EVERY_BYTES) > step) look();
    });
    look();
    return peak - before < GROWTH_BYTES_MAX
      ? undefined
      : `memory grew by ${Math.round((peak - before) / MIB)} MiB`;
  });
  expect(growths).toEqual([]);
}

describe.each([
  ["HTTP/1.1", http1, dose(384, 2_048)],
  ["HTTP/2", http2, dose(384, 1_024)],
] as const)("F12 large files over %s", (version, open, sizeMib) => {
  it(`F12 ${sizeMib} MiB go in and out while the server's memory stays as it is`, async () => {
    const transfer = open();
    const path = `/artifacts/${run}/${version.replaceAll(/\W/g, "")}.bin`;
    const block = Buffer.alloc(MIB, `${version} `);
    const send = async (blocks: number, to: string, passed: (bytes: number) => void) => {
      const hash = createHash("sha256");
      const { out, answer } = transfer.upload(to);
      for (let i = 0; i < blocks; i++) {
        block.writeUInt32LE(i);
        hash.update(block);
        if (!out.write(Buffer.from(block))) await once(out, "drain");
        passed(MIB);
      }
      out.end();
      const { status, body } = await answer;
      expect(status).toBe(201);
      for await (const chunk of body) expect(chunk).toBeDefined();
      return hash.digest("hex");
    };
    // What a first upload needs once and for all is not held against the large one.
    await send(32, `${path}.warm`, () => {});

    let digest = "";
    await requireSteady(async (passed) => {
      digest = await send(sizeMib, path, passed);
    });
    await requireSteady(async (passed) => {
      const hash = createHash("sha256");
      let bytes = 0;
      const { status, body } = await transfer.download(path);
      expect(status).toBe(200);
      for await (const chunk of body as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
        passed(chunk.length);
      }
      expect(bytes).toBe(sizeMib * MIB);
      expect(hash.digest("hex")).toBe(digest);
    });

    // Readers that take a little and then nothing cost little, however large the file is.
    await requireSteady(async () => {
      const stalled = await Promise.all(Array.from({ length: 20 }, () => transfer.download(path)));
      for (const { body } of stalled) {
        await once(body, "readable");
        expect(body.read(1)).not.toBeNull();
      }
      const health = await fetch(`${server.url}/healthz`);
      expect(health.status).toBe(200);
      for (const { body } of stalled) body.destroy();
    });
    transfer.close();

    const removed = await fetch(server.url + path, { method: "DELETE" });
    expect(removed.status).toBe(200);
    expect(readdirSync(join(folder, "data", "blobs", "incoming"))).toEqual([]);
  });
});

it("F12 a large piece goes in while the server's memory stays as it is", async () => {
  const { hostname, port } = new URL(server.url);
  const sizeBytes = dose(256, 768) * MIB;
  const block = Buffer.alloc(MIB, "piece ");
  const hash = createHash("sha256");
  for (let i = 0; i < sizeBytes / MIB; i++) hash.update(block);
  await requireSteady(async (passed) => {
    const out = request1({
      hostname,
      port,
      method: "PUT",
      path: `/artifacts/${run}/piece.bin`,
      agent: false,
      headers: {
        "content-range": `bytes 0-${sizeBytes - 1}/${sizeBytes}`,
        "content-length": sizeBytes,
        "x-cairn-sha256": hash.digest("hex"),
      },
    });
    const answer = once(out, "response");
    for (let sent = 0; sent < sizeBytes; sent += MIB) {
      if (!out.write(block)) await once(out, "drain");
      passed(MIB);
    }
    out.end();
    const [response] = (await answer) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(201);
  });
});
