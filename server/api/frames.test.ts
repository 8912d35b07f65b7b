import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { field } from "#wire/connect/testing/protobuf.ts";
import {
  callRaw,
  frame,
  PROTOCOLS,
  sendRaw,
  WRITE_PATH,
  type Outcome,
  type Protocol,
  type RawCall,
} from "#wire/connect/testing/raw-call.ts";
import { useWays, WAYS, type WayIn } from "../testing/servers.ts";

const SERVERS = WAYS.filter((way) => way.name === "gRPC" || way.name === "gRPC, generic");
const open = useWays(SERVERS);
const run = { alias: "target" };

async function opened(way: (typeof WAYS)[number]): Promise<WayIn> {
  const api = open(way);
  await api.runs.createRun({ namespace: "frames", aliases: ["target"], getOrCreate: true });
  return api;
}

function envelope(value: number): Uint8Array {
  return toBinary(EnvelopeSchema, create(EnvelopeSchema, { run, series: [{ key: "k", values: [value] }] }));
}

async function pointCount({ system }: WayIn): Promise<bigint> {
  return (await system.verifyRun({ run })).points;
}

/** The outcome on both servers, which must be the same. */
async function alike(call: RawCall): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const way of SERVERS) outcomes.push(await callRaw((await opened(way)).url, call));
  expect(outcomes[1]).toEqual(outcomes[0]);
  return outcomes[0]!;
}

const ENCODING_HEADER: Readonly<Record<Protocol, string>> = {
  grpc: "grpc-encoding",
  connect: "content-encoding",
  "connect over http2": "content-encoding",
  "grpc-web": "grpc-encoding",
};

describe.each(PROTOCOLS)("%s", (protocol) => {
  const header = ENCODING_HEADER[protocol];

  it("W1, W3 a compressed message is taken", async () => {
    for (const [encoding, compress] of [
      ["gzip", gzipSync],
      ["br", brotliCompressSync],
    ] as const) {
      const message = compress(envelope(1));
      expect(await alike({ protocol, message, flags: 1, headers: { [header]: encoding } })).toEqual({
        ok: true,
      });
    }
    const plain = { protocol, message: envelope(1), headers: { [header]: "identity" } };
    expect(await alike(plain)).toEqual({ ok: true });
  });

  it("W3 a message that decompresses to more than the limit is refused", async () => {
    const message = gzipSync(Buffer.alloc(limits.messageBytesMax + 1));
    const outcome = await alike({ protocol, message, flags: 1, headers: { [header]: "gzip" } });
    expect(outcome).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
  });

  it("W3 sixteen million empty messages in a few kilobytes are refused and do not affect others", async () => {
    const flood = gzipSync(Buffer.alloc(limits.messageBytesMax - 2, field(4)));
    expect(flood.length).toBeLessThan(64 << 10);
    const outcome = await alike({ protocol, message: flood, flags: 1, headers: { [header]: "gzip" } });
    expect(outcome).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
    const path = "/cairn.v1.MetricService/ReadSeries";
    const selectors = gzipSync(Buffer.alloc(limits.messageBytesMax - 2, field(1)));
    const read = await alike({ protocol, path, message: selectors, flags: 1, headers: { [header]: "gzip" } });
    expect(read).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
  });

  it("W4 damaged compression and an unknown encoding are refused by name", async () => {
    const damaged = gzipSync(envelope(1));
    damaged[damaged.length - 6]! ^= 255;
    const outcome = await alike({ protocol, message: damaged, flags: 1, headers: { [header]: "gzip" } });
    expect(outcome).toMatchObject({ code: "InvalidArgument", details: [{ reason: "MALFORMED" }] });
    const cut = await alike({
      protocol,
      message: gzipSync(envelope(1)).subarray(0, 20),
      flags: 1,
      headers: { [header]: "gzip" },
    });
    expect(cut).toMatchObject({ code: "InvalidArgument", details: [{ reason: "MALFORMED" }] });
    const odd = await alike({ protocol, message: envelope(1), flags: 1, headers: { [header]: "snappy" } });
    expect(odd).toMatchObject({ code: "Unimplemented" });
  });

  it("W4, W6 malformed messages of every method are refused by name", async () => {
    const paths = [
      "RunService/CreateRun",
      "RunService/GetRun",
      "MetricService/ReadSeries",
      "NamespaceService/ListNamespaces",
    ];
    const messages: [message: Uint8Array, reason: string][] = [
      [Buffer.from([0x0a, 50, 1]), "MALFORMED"],
      [field(1, Buffer.from([0xff, 0xfe])), "MALFORMED or BAD_UTF8"],
      [Buffer.from([0x0f]), "MALFORMED"],
    ];
    for (const path of paths) {
      for (const [message, reason] of messages) {
        const outcome = await alike({ protocol, path: `/cairn.v1.${path}`, message });
        expect(outcome, path).toMatchObject({ ok: false, code: "InvalidArgument" });
        expect(reason).toContain((outcome as Extract<Outcome, { ok: false }>).details[0]!.reason);
      }
    }
    const broken = field(2, Buffer.from([0x61, 0xff]));
    expect(await alike({ protocol, path: "/cairn.v1.RunService/CreateRun", message: broken })).toMatchObject({
      code: "InvalidArgument",
      message: "cannot accept name: it is not valid UTF-8",
      details: [{ reason: "BAD_UTF8" }],
    });
  });

  it("W4 an invalid deadline, or one that is too long, is refused", async () => {
    const name = protocol.startsWith("connect") ? "connect-timeout-ms" : "grpc-timeout";
    for (const value of ["x", "-1", "1000000000000", "99999999H"]) {
      const outcome = await alike({ protocol, message: envelope(1), headers: { [name]: value } });
      expect(outcome).toMatchObject({ code: "InvalidArgument" });
    }
  });

  it("W1 a deadline of one millisecond is met or missed, never anything else", async () => {
    const name = protocol.startsWith("connect") ? "connect-timeout-ms" : "grpc-timeout";
    const value = protocol.startsWith("connect") ? "1" : "1m";
    const values = Array.from({ length: 100_000 }, (_, i) => i);
    const big = toBinary(EnvelopeSchema, create(EnvelopeSchema, { run, series: [{ key: "big", values }] }));
    for (const way of SERVERS) {
      const api = await opened(way);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () =>
          callRaw(api.url, { protocol, message: big, headers: { [name]: value } }),
        ),
      );
      for (const outcome of outcomes) {
        if (!outcome.ok)
          expect(outcome).toMatchObject({ code: "DeadlineExceeded", message: "the operation timed out" });
      }
      expect(await callRaw(api.url, { protocol, message: envelope(1) })).toEqual({ ok: true });
    }
  });
});

describe("frames", () => {
  const framed: Protocol[] = ["grpc", "grpc-web"];

  it.each(framed)("W2, W4 %s: no message, two messages and half a message are refused", async (protocol) => {
    const two = Buffer.concat([frame(envelope(1)), frame(envelope(2))]);
    const nothing = await alike({ protocol, framed: true, message: Buffer.alloc(0) });
    expect(nothing).toMatchObject({
      code: "Unimplemented",
      message: expect.stringContaining("missing input message"),
    });
    const extra = await alike({ protocol, framed: true, message: two });
    expect(extra).toMatchObject({
      code: "Unimplemented",
      message: expect.stringContaining("extra input message"),
    });
    const whole = frame(envelope(1));
    for (const size of [5, 8, whole.length - 1]) {
      const half = await alike({ protocol, framed: true, message: whole.subarray(0, size) });
      expect(half).toMatchObject({ code: "InvalidArgument", details: [{ reason: "MALFORMED" }] });
    }
  });

  it.each(framed)(
    "W2, W3 %s: a false length is refused before anything is allocated for it",
    async (protocol) => {
      for (const length of [limits.messageBytesMax + 1, 0x7fffffff, 0xffffffff]) {
        const lying = frame(envelope(1));
        lying.writeUInt32BE(length, 1);
        const outcome = await alike({ protocol, framed: true, message: lying });
        expect(outcome).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
      }
      const longer = frame(envelope(1));
      longer.writeUInt32BE(longer.length, 1);
      expect(await alike({ protocol, framed: true, message: longer })).toMatchObject({
        code: "InvalidArgument",
      });
    },
  );

  it.each(framed)("W2, W4 %s: a message said to be compressed, but not how, is refused", async (protocol) => {
    expect(await alike({ protocol, message: envelope(1), flags: 1 })).toMatchObject({ code: "Internal" });
  });

  it.each(PROTOCOLS)("W4 %s: an empty body is not an envelope", async (protocol) => {
    const outcome = await alike({ protocol, message: Buffer.alloc(0) });
    expect(outcome).toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("cannot find a run by 0 names"),
    });
  });
});

describe("requests", () => {
  it("W1, A4 a content type no method takes is answered 415 and changes nothing", async () => {
    for (const way of SERVERS) {
      const api = await opened(way);
      const before = await pointCount(api);
      for (const protocol of PROTOCOLS) {
        for (const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "multipart/form-data",
          "application/xml",
          "",
        ]) {
          const { status } = await sendRaw(api.url, {
            protocol,
            message: envelope(1),
            headers: { "content-type": type },
          });
          expect(status, `${protocol} ${type}`).toBe(415);
        }
      }
      expect(await pointCount(api)).toBe(before);
    }
  });

  it("W1 writing by GET is answered 405", async () => {
    for (const way of SERVERS) {
      const { url } = await opened(way);
      const query = `?connect=v1&encoding=proto&base64=1&message=${Buffer.from(envelope(1)).toString("base64url")}`;
      const answer = await fetch(new URL(WRITE_PATH + query, url));
      expect(answer.status).toBe(405);
      for (const protocol of PROTOCOLS) {
        const { status } = await sendRaw(url, { protocol, method: "PUT", message: envelope(1) });
        expect([405, 415]).toContain(status);
      }
    }
  });

  it("W1 a method that does not exist is answered 404", async () => {
    const { url } = await opened(SERVERS[0]!);
    for (const path of ["/cairn.v1.MetricService/Nothing", "/cairn.v9.MetricService/WriteEnvelope"]) {
      for (const protocol of PROTOCOLS) {
        expect((await sendRaw(url, { protocol, path, message: envelope(1) })).status).toBe(404);
      }
    }
  });
});

describe("JSON", () => {
  const post = async (
    method: string,
    body: string | Uint8Array,
  ): Promise<{ status: number; error: JsonError }> => {
    const { url } = await opened(SERVERS[0]!);
    const answer = await fetch(`${url}/cairn.v1.${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return { status: answer.status, error: (await answer.json()) as JsonError };
  };

  interface JsonError {
    code: string;
    message: string;
    details: { type: string; debug: { reason: string } }[];
  }

  it("W4, W6 broken UTF-8 is refused by name, not repaired", async () => {
    const body = Buffer.concat([Buffer.from('{"name": "a'), Buffer.from([0xff]), Buffer.from('b"}')]);
    const { status, error } = await post("RunService/CreateRun", body);
    expect([status, error.code, error.details[0]!.debug.reason]).toEqual([
      400,
      "invalid_argument",
      "BAD_UTF8",
    ]);
  });

  it("W4 an unknown field, a wrong type and half an object are refused", async () => {
    for (const body of ['{"nmae": "x"}', '{"name": 5}', '{"name": "x"', "", "[]", '{"name": "x"} x']) {
      const { status, error } = await post("RunService/CreateRun", body);
      expect([status, error.code]).toEqual([400, "invalid_argument"]);
    }
  });

  it("W3 more levels, objects or values than anyone would send are refused before they are parsed", async () => {
    const floods = [
      "[".repeat(1_000_000),
      `{"series": [${"{},".repeat(limits.messageObjectsMax)}{}]}`,
      `{"series": [{"key": "k", "steps": [${"1,".repeat(limits.messageValuesMax)}1]}]}`,
    ];
    for (const body of floods) {
      const { status, error } = await post("MetricService/WriteEnvelope", body);
      expect([status, error.code, error.details[0]!.debug.reason]).toEqual([
        429,
        "resource_exhausted",
        "LIMIT_EXCEEDED",
      ]);
    }
  });

  it("W3 commas and brackets in texts do not count", async () => {
    const notes = '[{,\\"'.repeat(200_000);
    const { status } = await post("RunService/CreateRun", `{"notes": "${notes.slice(0, 900_000)}"}`);
    expect(status).toBe(200);
  });
});
