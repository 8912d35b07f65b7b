import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { ItemError } from "#proto/cairn/v1/error_pb.ts";
import { EnvelopeSchema, SeriesKind, type WriteEnvelopesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import { callRaw, errorOf, PROTOCOLS, type Outcome } from "#wire/connect/testing/raw-call.ts";
import { field } from "#wire/connect/testing/protobuf.ts";
import { useWays, WAYS, type WayIn } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;
type Series = NonNullable<EnvelopeInit["series"]>;
type RequestInit = MessageInitShape<typeof WriteEnvelopesRequestSchema>;

/** By the fast methods, by the generic ones, and as text. */
const THREE_WAYS = WAYS.filter(({ name }) =>
  ["gRPC", "gRPC, generic", "Connect, generic", "Connect with JSON"].includes(name),
);
const PATH = "/cairn.v1.MetricService/WriteEnvelopes";
const open = useWays(THREE_WAYS);

async function newRun({ runs }: WayIn): Promise<string> {
  const { run } = await runs.createRun({ namespace: "many" });
  return run!.id;
}

function numbered(id: string, seq: number, series: Series = [{ key: "k", values: [seq] }]): EnvelopeInit {
  return { run: { id }, writer: "w", seq: BigInt(seq), series };
}

/** As `errorOf` says the error of a call. */
function plain(error: ItemError | undefined): Outcome | undefined {
  if (error === undefined) return undefined;
  const details = error.detail === undefined ? [] : [error.detail];
  return {
    ok: false,
    code: Code[codeFromString(error.code)!],
    message: error.message,
    details: details.map(({ reason, hint, facts }) => ({ reason, hint, facts: { ...facts } })),
  };
}

describe.each(THREE_WAYS)("$name", (way) => {
  it("W18, E11: many envelopes are answered one by one, refusals as a call of their own would say them", async () => {
    const api = open(way);
    const { metrics } = api;
    const id = await newRun(api);
    const refused: EnvelopeInit[] = [
      numbered(id, 5),
      numbered(id, 2, [{ key: "k", texts: ["x"], kind: SeriesKind.TEXT }]),
      numbered("0".repeat(32), 1),
      numbered(id, 2, [{ key: "k", values: [1], steps: [1n, 2n] }]),
      numbered(id, 2, [{ key: "k", values: [1], steps: [2n ** 60n] }]),
      { run: { id, alias: "both" } },
      { series: [] },
    ];
    await metrics.writeEnvelope(numbered(id, 1));
    const alone = await Promise.all(refused.map((envelope) => errorOf(metrics.writeEnvelope(envelope))));
    const envelopes = [numbered(id, 1), ...refused, numbered(id, 2)];
    const { results, rejected } = await metrics.writeEnvelopes({ envelopes });
    expect(rejected).toBe(refused.length);
    expect(results.map(({ ack }) => ack?.duplicate)).toEqual([true, ...refused.map(() => undefined), false]);
    expect(results.at(-1)).toMatchObject({ ack: { seq: 2n, points: 1n } });
    expect(results.slice(1, -1).map(({ error }) => plain(error))).toEqual(alone);
    expect(alone[0]!.details[0]).toMatchObject({ reason: "SEQ_GAP", facts: { expected: "2" } });
    const { points, verdict } = await api.system.verifyRun({ run: { id } });
    expect([points, verdict]).toEqual([2n, "2 of 2 envelopes, 0 gaps"]);
  });

  it("E13, W3: more envelopes or points than one call may hold are refused as a whole", async () => {
    const api = open(way);
    const id = await newRun(api);
    const most = Array.from({ length: limits.callEnvelopesMax }, (_, i) => numbered(id, i + 1));
    const zeros = Array.from({ length: limits.envelopePointsMax }, () => 0);
    const over: [RequestInit["envelopes"], string][] = [
      [[...most, numbered(id, limits.callEnvelopesMax + 1)], "envelopes in one call"],
      [
        [1, 2, 3, 4, 5, 6].map((seq) => numbered(id, seq, [{ key: "k", values: zeros }])),
        "points in one call",
      ],
    ];
    for (const [envelopes, what] of over) {
      const error = await errorOf(api.metrics.writeEnvelopes({ envelopes: envelopes! }));
      expect(error).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
      expect(error.message).toMatch(way.json && what === "points in one call" ? /./ : what);
    }
    const { rejected } = await api.metrics.writeEnvelopes({ envelopes: most });
    expect(rejected).toBe(0);
    expect(await api.metrics.writeEnvelopes({})).toMatchObject({ results: [], rejected: 0 });
  });
});

describe.each(THREE_WAYS.filter(({ json }) => !json))("bytes, $name", (way) => {
  it("W18, W3, W4: an envelope that cannot be read is refused by itself, a message that cannot be as a whole", async () => {
    const api = open(way);
    const id = await newRun(api);
    const good = (seq: number) => toBinary(EnvelopeSchema, create(EnvelopeSchema, numbered(id, seq)));
    const call = (protocol: (typeof PROTOCOLS)[number], message: Uint8Array) =>
      callRaw(api.url, { protocol, path: PATH, message });
    let seq = 0;
    for (const protocol of PROTOCOLS) {
      const bad = [Buffer.from([0xff]), field(4, field(1, Buffer.from([0xff])))];
      const message = Buffer.concat([good(++seq), ...bad, good(++seq)].map((one) => field(1, one)));
      expect(await call(protocol, message), protocol).toEqual({ ok: true });
      expect(await api.system.verifyRun({ run: { id } })).toMatchObject({ points: BigInt(seq) });
      const cut = field(1, good(seq + 1));
      expect(await call(protocol, cut.subarray(0, -1)), protocol).toMatchObject({
        code: "InvalidArgument",
        details: [{ reason: "MALFORMED" }],
      });
    }
    expect(await api.system.verifyRun({ run: { id } })).toMatchObject({ points: BigInt(seq) });
  });
});
