import { expect, test } from "vitest";
import type { ArtifactRecord } from "../types/artifact.ts";
import type { LogLines } from "../types/log.ts";
import { Backlog } from "./backlog.ts";
import { envelopeBytes } from "./envelope-bytes.ts";

type Parts = Parameters<typeof envelopeBytes>[0];

const LINES: LogLines = {
  origin: "process",
  stream: "stdout",
  rank: undefined,
  times: undefined,
  lengths: Uint32Array.of(5_000),
  text: new Uint8Array(5_000),
};
const FILE: ArtifactRecord = {
  name: "a",
  step: undefined,
  kind: "file",
  mediaType: "",
  metadata: new Map(),
  uri: undefined,
  content: new Uint8Array(5_000),
  sha256: undefined,
  sizeBytes: undefined,
};

test("K8 the queue is bounded in number and in bytes, and finished work makes room", () => {
  const backlog = new Backlog({ itemsMax: 2, bytesMax: 1_000 });
  const leave = backlog.enter(10);
  backlog.enter(10);
  const refused = expect.objectContaining({
    code: "unavailable",
    reason: "OVERLOADED",
    retryAfterMs: 1_000,
  });
  expect(() => backlog.enter(10)).toThrow(refused);
  expect(() => backlog.requireRoom()).toThrow(refused);
  leave();
  // One that is larger than the whole queue is accepted nevertheless.
  backlog.requireRoom();
  const leaveLarge = backlog.enter(5_000);
  leaveLarge();
  const leaveOther = backlog.enter(990);
  expect([backlog.items, backlog.bytes]).toEqual([2, 1_000]);
  expect(() => backlog.requireRoom()).toThrow(refused);
  leaveOther();
  expect([backlog.items, backlog.bytes]).toEqual([1, 10]);
});

test("K8 the size of an envelope grows with all its content", () => {
  const empty: Parts = { series: [], change: undefined };
  const base = envelopeBytes(empty);
  const points = { count: 1_000, steps: undefined, times: undefined, nanos: undefined };
  const texts = Array.from({ length: 1_000 }, () => "0123456789");
  const grown: [Parts, number][] = [
    [
      {
        ...empty,
        series: [
          {
            key: "k",
            labels: [],
            points: { ...points, values: { kind: "number", data: new Float64Array(1_000) } },
          },
        ],
      },
      8_000,
    ],
    [
      {
        ...empty,
        series: [
          {
            key: "k",
            labels: [],
            points: { ...points, steps: new Float64Array(1_000), values: { kind: "text", data: texts } },
          },
        ],
      },
      18_000,
    ],
    [{ ...empty, change: { params: new Map([["k", "x".repeat(5_000)]]) } }, 5_000],
    [{ ...empty, change: { notes: "x".repeat(5_000) } }, 5_000],
    [{ ...empty, log: [LINES] }, 5_000],
    [{ ...empty, artifacts: [FILE] }, 5_000],
  ];
  for (const [envelope, bytes] of grown) {
    expect(envelopeBytes(envelope) - base).toBeGreaterThanOrEqual(bytes);
    expect(envelopeBytes(envelope) - base).toBeLessThan(bytes + 1_000);
  }
});
