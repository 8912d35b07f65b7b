import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { field } from "#wire/connect/testing/protobuf.ts";
import { callRaw, frame, PROTOCOLS, type Protocol, type RawCall } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { asNpmStart, CLEAN_HEAP, cleanRssBytes, objections, rssBytes } from "./measure.ts";

const UNFOLDED_BYTES = 200 << 20;
const RSS_GROWTH_BYTES_MAX = 32e6;
const REFUSED_MS_MAX = 50;
/** The fastest of some counts, and beside it a call that does nothing: the machine may be busy. */
const TRIES = 8;
const BUSY_FACTOR = 4;

const ENCODING_HEADER: Readonly<Record<Protocol, string>> = {
  grpc: "grpc-encoding",
  connect: "content-encoding",
  "connect over http2": "content-encoding",
  "grpc-web": "grpc-encoding",
};

describe("S7 bombs", () => {
  let server: ChildServer;
  let packed: { gzip: Buffer; br: Buffer; zstd: Buffer };
  beforeAll(async () => {
    const zeros = Buffer.alloc(UNFOLDED_BYTES);
    packed = {
      gzip: gzipSync(zeros),
      br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      zstd: zstdCompressSync(zeros),
    };
    server = await startChild(["--data", "memory:"], asNpmStart(CLEAN_HEAP));
    // What any server has loaded after a while is not the bombs' doing.
    const { runs, metrics } = clientsOf(createGrpcTransport({ baseUrl: server.url }));
    await runs.createRun({ aliases: ["target"] });
    const values = Array.from(new Float64Array(randomBytes(800_000).buffer, 0, 90_000));
    for (let round = 0; round < 10; round++) {
      await metrics.writeEnvelope({ run: { alias: "target" }, series: [{ key: "k", values }] });
    }
    const plain = Buffer.alloc(3 << 20);
    for (const [encoding, message] of [
      ["gzip", gzipSync(plain)],
      ["br", brotliCompressSync(plain)],
    ] as const) {
      const call = { protocol: "grpc", message, flags: 1, headers: { "grpc-encoding": encoding } } as const;
      for (let round = 0; round < 20; round++) {
        expect(await callRaw(server.url, call)).toMatchObject({ code: "InvalidArgument" });
      }
    }
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
  });

  async function explode(call: RawCall, code: string): Promise<void> {
    const before = await clean();
    expect(await objections(() => explodeOnce(call, code, before))).toEqual([]);
  }

  async function clean(): Promise<number> {
    return cleanRssBytes(server.child, () => fetch(`${server.url}/healthz`));
  }

  /** Sends it some times one after another, and then many at once; says what took too much. */
  async function explodeOnce(call: RawCall, code: string, before: number): Promise<string | undefined> {
    const pid = server.child.pid!;
    let grown = (await clean()) - before;
    const watching = setInterval(() => (grown = Math.max(grown, rssBytes(pid) - before)), 5);
    try {
      let fastestMs = Infinity;
      let nothingMs = Infinity;
      for (let at = 0; at < TRIES; at++) {
        const startMs = performance.now();
        expect(await callRaw(server.url, call)).toMatchObject({ ok: false, code });
        const refusedMs = performance.now();
        await callRaw(server.url, { protocol: call.protocol, message: Buffer.alloc(0) });
        fastestMs = Math.min(fastestMs, refusedMs - startMs);
        nothingMs = Math.min(nothingMs, performance.now() - refusedMs);
      }
      if (fastestMs > REFUSED_MS_MAX + BUSY_FACTOR * nothingMs) {
        return `refused after ${fastestMs.toFixed(1)} ms, a call that does nothing takes ${nothingMs.toFixed(1)} ms`;
      }
      if (grown > RSS_GROWTH_BYTES_MAX) return `one takes ${Math.round(grown / 1e6)} MB`;
      const outcomes = await Promise.all(Array.from({ length: TRIES }, () => callRaw(server.url, call)));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ ok: false, code });
      if (grown > 2 * RSS_GROWTH_BYTES_MAX) {
        return `${TRIES} at once take ${Math.round(grown / 1e6)} MB`;
      }
      return undefined;
    } finally {
      clearInterval(watching);
    }
  }

  describe.each(PROTOCOLS)("%s", (protocol) => {
    const header = ENCODING_HEADER[protocol];

    it.each(["gzip", "br"] as const)("S7 %s that unfolds to 200 MB", async (encoding) => {
      const message = packed[encoding];
      expect(message.length).toBeLessThan(256 << 10);
      const call = { protocol, message, flags: 1, headers: { [header]: encoding } };
      await explode(call, "ResourceExhausted");
    });

    it("S7 zstd, which no method takes, is not even tried", async () => {
      await explode(
        { protocol, message: packed.zstd, flags: 1, headers: { [header]: "zstd" } },
        "Unimplemented",
      );
    });

    it("S7 millions of empty messages in a few kilobytes", async () => {
      const message = gzipSync(Buffer.alloc(limits.messageBytesMax - 2, field(4)));
      await explode({ protocol, message, flags: 1, headers: { [header]: "gzip" } }, "ResourceExhausted");
    });
  });

  it.each(["grpc", "grpc-web"] as const)("S7 %s with a length prefix that lies", async (protocol) => {
    for (const length of [limits.messageBytesMax + 1, 0xffff_ffff]) {
      const message = frame(Buffer.alloc(10));
      message.writeUInt32BE(length, 1);
      await explode({ protocol, framed: true, message }, "ResourceExhausted");
    }
  });

  it("S7 messages within messages, lists within lists", async () => {
    const deep = { protocol: "connect", headers: { "content-type": "application/json" } } as const;
    for (const text of ["[".repeat(1_000_000), '{"series":'.repeat(100_000), `{"run":${"[".repeat(65)}`]) {
      await explode({ ...deep, message: Buffer.from(text) }, "ResourceExhausted");
    }
    let nested: Buffer = Buffer.alloc(0);
    for (let level = 0; level < 10_000; level++) nested = field(4, nested);
    const path = "/cairn.v1.RunService/CreateRun";
    for (const message of [nested, Buffer.alloc(1 << 20, 0x0b)]) {
      await explode({ protocol: "grpc", path, message }, "InvalidArgument");
    }
  });

  it("S7 the server goes on", async () => {
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: server.url }));
    expect((await runs.searchRuns({})).totalCount).toBe(1n);
  });
});
