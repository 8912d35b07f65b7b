import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { EnvelopeSchema, SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import type { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { field, varintField } from "#wire/connect/testing/protobuf.ts";
import {
  callRaw,
  errorOf,
  outcomeOf,
  PROTOCOLS,
  sendRaw,
  type ErrorFacts,
  type Outcome,
} from "#wire/connect/testing/raw-call.ts";
import { WAYS, type Way } from "#wire/connect/testing/ways.ts";
import { useWays, type WayIn } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

/** Each reads a message in another way: by hand, by the library, and from text. */
const [FAST, GENERIC, JSON_WAY] = ["gRPC", "gRPC, generic", "Connect with JSON"].map((name) =>
  WAYS.find((way) => way.name === name)!,
) as [Way, Way, Way];
const open = useWays([FAST, GENERIC]);

/** The same run on every server: its id differs, its alias does not. */
const run = { alias: "target" };

async function prepare({ runs, metrics }: WayIn): Promise<void> {
  await runs.createRun({ namespace: "errors", aliases: ["target"], getOrCreate: true });
  const series = [{ key: "flag", kind: SeriesKind.BOOL, bools: [true] }];
  await metrics.writeEnvelope({ run, writer: "w", seq: 1n, series });
}

const one = [{ key: "k", values: [1] }];
const nested = "[".repeat(33) + "]".repeat(33);
const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, "v"]));

const REFUSED: [what: string, envelope: EnvelopeInit, code: string, reason: string][] = [
  ["no run", { series: one }, "InvalidArgument", ""],
  ["a run without a name", { run: {}, series: one }, "InvalidArgument", ""],
  ["a run by two names", { run: { id: "a", alias: "b" } }, "InvalidArgument", ""],
  ["a namespace without an alias", { run: { id: "a", namespace: "n" } }, "InvalidArgument", ""],
  ["an unknown id", { run: { id: "f".repeat(32) }, series: one }, "NotFound", ""],
  ["an unknown path", { run: { path: `a/${"f".repeat(32)}` } }, "NotFound", ""],
  ["an invalid path", { run: { path: "a/b" } }, "InvalidArgument", ""],
  ["an unknown alias", { run: { alias: "nobody" } }, "NotFound", ""],
  ["an alias of 1,025 bytes", { run: { alias: "a".repeat(1025) } }, "ResourceExhausted", "LIMIT_EXCEEDED"],
  ["a seq without a writer", { run, seq: 1n }, "InvalidArgument", ""],
  ["a writer without a seq", { run, writer: "w" }, "InvalidArgument", ""],
  ["a writer of 257 bytes", { run, writer: "w".repeat(257), seq: 1n }, "ResourceExhausted", "LIMIT_EXCEEDED"],
  ["a seq above 2^53", { run, writer: "w", seq: 2n ** 53n + 1n }, "InvalidArgument", "UNSAFE_INTEGER"],
  ["a number used before", { run, writer: "w", seq: 1n, series: one }, "AlreadyExists", "SEQ_REUSED"],
  ["a gap", { run, writer: "w", seq: 9n, series: one }, "FailedPrecondition", "SEQ_GAP"],
  [
    "lost numbers at or above seq",
    { run, writer: "w", seq: 2n, lost: [{ first: 2n, last: 2n }] },
    "InvalidArgument",
    "",
  ],
  [
    "lost numbers backwards",
    { run, writer: "w", seq: 9n, lost: [{ first: 5n, last: 2n }] },
    "InvalidArgument",
    "",
  ],
  ["lost number 0", { run, writer: "w", seq: 9n, lost: [{ first: 0n, last: 8n }] }, "InvalidArgument", ""],
  ["lost numbers without a number", { run, lost: [{ first: 1n, last: 2n }] }, "InvalidArgument", ""],
  [
    "1,001 lost ranges",
    { run, writer: "w", seq: 9n, lost: Array.from({ length: 1001 }, () => ({ first: 1n, last: 1n })) },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  ["status 99", { run, status: 99 as RunStatus }, "InvalidArgument", ""],
  ["an end above 2^53", { run, endedUs: -(2n ** 53n) - 1n }, "InvalidArgument", "UNSAFE_INTEGER"],
  ["an empty key", { run, series: [{ key: "", values: [1] }] }, "InvalidArgument", ""],
  [
    "a key of 513 bytes",
    { run, series: [{ key: "k".repeat(513), values: [1] }] },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  ["a control character in a key", { run, series: [{ key: "a\nb", values: [1] }] }, "InvalidArgument", ""],
  [
    "17 labels",
    { run, series: [{ key: "k", labels: labels(17), values: [1] }] },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  [
    "a label of 129 bytes",
    { run, series: [{ key: "k", labels: { l: "v".repeat(129) }, values: [1] }] },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  [
    "an empty label name",
    { run, series: [{ key: "k", labels: { "": "v" }, values: [1] }] },
    "InvalidArgument",
    "",
  ],
  [
    "a control character in a label",
    { run, series: [{ key: "k", labels: { l: "\u0001" }, values: [1] }] },
    "InvalidArgument",
    "",
  ],
  [
    "fewer steps than values",
    { run, series: [{ key: "k", values: [1, 2], steps: [1n] }] },
    "InvalidArgument",
    "COLUMNS_UNEVEN",
  ],
  [
    "more times than values",
    { run, series: [{ key: "k", values: [1], timesUs: [1n, 2n] }] },
    "InvalidArgument",
    "COLUMNS_UNEVEN",
  ],
  ["steps without values", { run, series: [{ key: "k", steps: [1n] }] }, "InvalidArgument", "COLUMNS_UNEVEN"],
  [
    "nanos without times",
    { run, series: [{ key: "k", values: [1], nanos: [1] }] },
    "InvalidArgument",
    "COLUMNS_UNEVEN",
  ],
  [
    "nanos of 1000",
    { run, series: [{ key: "k", values: [1], timesUs: [1n], nanos: [1000] }] },
    "InvalidArgument",
    "",
  ],
  [
    "nanos of 65536",
    { run, series: [{ key: "k", values: [1], timesUs: [1n], nanos: [65536] }] },
    "InvalidArgument",
    "",
  ],
  [
    "an unknown kind",
    { run, series: [{ key: "k", kind: 9 as SeriesKind, values: [1] }] },
    "InvalidArgument",
    "",
  ],
  [
    "values of another kind",
    { run, series: [{ key: "k", texts: ["x"] }] },
    "InvalidArgument",
    "KIND_MISMATCH",
  ],
  [
    "another kind than before",
    { run, series: [{ key: "flag", values: [1] }] },
    "InvalidArgument",
    "KIND_MISMATCH",
  ],
  [
    "two kinds in one envelope",
    { run, series: [...one, { key: "k", kind: SeriesKind.TEXT, texts: ["x"] }] },
    "InvalidArgument",
    "KIND_MISMATCH",
  ],
  [
    "a step above 2^53",
    { run, series: [{ key: "k", values: [1], steps: [2n ** 53n + 1n] }] },
    "InvalidArgument",
    "UNSAFE_INTEGER",
  ],
  [
    "a text of 64 KiB + 1",
    { run, series: [{ key: "t", kind: SeriesKind.TEXT, texts: ["x".repeat((64 << 10) + 1)] }] },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  ["a param that is not JSON", { run, params: { p: "{" } }, "InvalidArgument", "JSON_SYNTAX"],
  ["a param nested 33 deep", { run, params: { p: nested } }, "InvalidArgument", "JSON_SYNTAX"],
  ["an empty param key", { run, params: { "": "1" } }, "InvalidArgument", ""],
  [
    "a param of 64 KiB + 1",
    { run, params: { p: `"${"x".repeat(64 << 10)}"` } },
    "InvalidArgument",
    "JSON_SYNTAX",
  ],
  [
    "a tag of 8 KiB + 1",
    { run, tags: { t: "x".repeat((8 << 10) + 1) } },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  [
    "100,001 points",
    { run, series: [{ key: "k", values: Array.from({ length: 100_001 }, () => 1) }] },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
  [
    "100,001 points in two series",
    {
      run,
      series: [
        { key: "k", values: Array.from({ length: 100_000 }, () => 1) },
        { key: "l", values: [1] },
      ],
    },
    "ResourceExhausted",
    "LIMIT_EXCEEDED",
  ],
];

describe("an envelope with", () => {
  it.each(REFUSED)(
    "W2, W4, W6 %s is refused alike, however it is read",
    async (_, envelope, code, reason) => {
      let first: Outcome | undefined;
      for (const way of [FAST, GENERIC, JSON_WAY]) {
        const api = open(way);
        await prepare(api);
        const before = await api.system.verifyRun({ run });
        const error = await errorOf(api.metrics.writeEnvelope(envelope));
        expect(error, way.name).toMatchObject({ code, details: [{ reason }] });
        first ??= error;
        expect(error, way.name).toEqual(first);
        const after = await api.system.verifyRun({ run });
        expect([after.points, after.writers[0]!.envelopes, after.unnumberedEnvelopes]).toEqual([
          before.points,
          before.writers[0]!.envelopes,
          before.unnumberedEnvelopes,
        ]);
      }
    },
  );
});

const RUN = field(1, field(3, "target"));
const MALFORMED: [what: string, message: Uint8Array, reason: string][] = [
  ["a field that is cut off", Buffer.concat([RUN, Buffer.from([0x12, 9, 0x61])]), "MALFORMED"],
  [
    "a nested field that is cut off",
    Buffer.concat([RUN, field(4, Buffer.from([0x0a, 9, 0x61]))]),
    "MALFORMED",
  ],
  ["a group", Buffer.concat([RUN, Buffer.from([0xa3, 1, 0xa4, 1])]), "MALFORMED"],
  ["field number 0", Buffer.concat([RUN, Buffer.from([0x00])]), "MALFORMED"],
  ["a wrong wire type", Buffer.concat([RUN, varintField(2, 5)]), "MALFORMED"],
  [
    "a number without an end",
    Buffer.concat([RUN, Buffer.from([0x18, ...Buffer.alloc(11, 0x80)])]),
    "MALFORMED",
  ],
  [
    "doubles of 7 bytes",
    Buffer.concat([RUN, field(4, field(1, "k"), field(6, Buffer.alloc(7)))]),
    "MALFORMED",
  ],
  ["broken UTF-8 in a key", Buffer.concat([RUN, field(4, field(1, Buffer.from([0xff])))]), "BAD_UTF8"],
  ["broken UTF-8 in a writer", Buffer.concat([RUN, field(2, Buffer.from([0xc0, 0x80]))]), "BAD_UTF8"],
  [
    "broken UTF-8 in a tag",
    Buffer.concat([RUN, field(6, field(1, "t"), field(2, Buffer.from([0xed, 0xa0, 0x80])))]),
    "BAD_UTF8",
  ],
  ["a negative status", Buffer.concat([RUN, varintField(7, -1n)]), "MALFORMED"],
  ["noise", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "MALFORMED"],
];

describe("a message with", () => {
  it.each(MALFORMED)(
    "W2, W4 %s is refused by name on every protocol, fast or not",
    async (_, message, reason) => {
      let first: Outcome | undefined;
      for (const way of [FAST, GENERIC]) {
        const api = open(way);
        await prepare(api);
        for (const protocol of PROTOCOLS) {
          const outcome = await callRaw(api.url, { protocol, message });
          first ??= outcome;
          expect(outcome).toMatchObject({ code: "InvalidArgument", details: [{ reason }] });
          expect(outcome, `${protocol} ${way.name}`).toEqual(first);
        }
      }
    },
  );

  it("W2, W3, K9 more than 32 MiB is refused alike, without a time to wait, and the connection's other calls continue", async () => {
    const exact = Buffer.concat([RUN, field(20, Buffer.alloc(limits.messageBytesMax - RUN.length - 6))]);
    const over = Buffer.concat([exact, Buffer.alloc(1)]);
    expect(exact.length).toBe(limits.messageBytesMax);
    let first: Outcome | undefined;
    for (const way of [FAST, GENERIC]) {
      const api = open(way);
      await prepare(api);
      for (const protocol of PROTOCOLS) {
        expect(await callRaw(api.url, { protocol, message: exact }), `${protocol} ${way.name}`).toEqual({
          ok: true,
        });
        const answer = await sendRaw(api.url, { protocol, message: over });
        const outcome = outcomeOf(protocol, answer);
        first ??= outcome;
        expect(outcome).toMatchObject({
          code: "ResourceExhausted",
          details: [{ reason: "LIMIT_EXCEEDED", facts: { limit: String(limits.messageBytesMax) } }],
        });
        expect(outcome, `${protocol} ${way.name}`).toEqual(first);
        const [detail] = (outcome as { details: ErrorFacts[] }).details;
        expect(detail!.facts).not.toHaveProperty("retry_after_ms");
        expect([answer.headers.get("retry-after"), answer.trailers.get("retry-after")]).toEqual([null, null]);
      }
    }
  });

  it("W2 everything right is accepted on every protocol, fast or not", async () => {
    const message = toBinary(EnvelopeSchema, create(EnvelopeSchema, { run, series: one }));
    for (const way of [FAST, GENERIC]) {
      await prepare(open(way));
      for (const protocol of PROTOCOLS) {
        expect(await callRaw(open(way).url, { protocol, message })).toEqual({ ok: true });
      }
    }
  });
});
