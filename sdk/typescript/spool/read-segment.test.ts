import { describe, expect, it } from "vitest";
import { encodeFrame, FRAME_KIND, segmentHead, type Frame } from "./frame.ts";
import { NewerSpool, readSegment } from "./read-segment.ts";

const WRITER = "0123456789abcdef0123456789abcdef";
const SEED = 20_261_115;
const TRIALS = 2_000;

/** Small and repeatable; the quality of the numbers does not matter here. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function envelopeBody(seq: number, payload: Buffer): Buffer {
  const head = Buffer.from([0x12, 32, ...Buffer.from(WRITER), 0x18, ...varint(seq)]);
  return Buffer.concat([head, Buffer.from([0x22, ...varint(payload.length)]), payload]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

interface Placed extends Frame {
  start: number;
  end: number;
}

function makeSegment(random: (below: number) => number): { bytes: Buffer; frames: Placed[] } {
  const pieces: Buffer[] = [segmentHead()];
  const frames: Placed[] = [];
  let at = pieces[0]!.length;
  const add = (kind: number, seq: number, body: Buffer) => {
    const bytes = encodeFrame(kind, seq, body);
    pieces.push(bytes);
    frames.push({ kind, seq, body, start: at, end: at + bytes.length });
    at += bytes.length;
  };
  add(FRAME_KIND.open, 0, Buffer.from("the run"));
  const count = 1 + random(12);
  for (let seq = 1; seq <= count; seq++) {
    const payload = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
    // Now and then it holds the spool of another writer, as a file that was logged would.
    const inner =
      random(4) === 0 ? encodeFrame(FRAME_KIND.envelope, 7, Buffer.from("foreign")) : Buffer.alloc(0);
    if (random(5) === 0) add(FRAME_KIND.source, 0, payload);
    add(FRAME_KIND.envelope, seq, envelopeBody(seq, Buffer.concat([payload, inner])));
  }
  return { bytes: Buffer.concat(pieces), frames };
}

const key = ({ kind, seq, body }: Frame) => `${kind} ${seq} ${body.toString("hex")}`;

describe("a segment of the spool", () => {
  it("C6 returns what was written", () => {
    const { bytes, frames } = makeSegment(randomFrom(1));
    const content = readSegment(bytes, WRITER);
    expect(content.frames.map(key)).toEqual(frames.map(key));
    expect(content).toMatchObject({ damages: 0, damagedBytes: 0 });
  });

  it(`R12, C6: of ${TRIALS} damaged ones every frame that is whole is read, the rest is counted (seed ${SEED})`, () => {
    let damagedTrials = 0;
    for (let trial = 0; trial < TRIALS; trial++) {
      const random = randomFrom(SEED + trial * 7919);
      const { bytes, frames } = makeSegment(random);
      const [damaged, spoiled] = damage(bytes, random);
      const whole = frames.filter(({ start, end }) => !spoiled(start, end));
      const found = readSegment(damaged, WRITER);
      expect(found.frames.map(key), `trial ${trial}`).toEqual(whole.map(key));
      const lostSome = whole.length < frames.length;
      if (lostSome) damagedTrials++;
      // A tail that is cut off exactly between two frames leaves no trace.
      if (lostSome && damaged.length === bytes.length)
        expect(found.damages, `trial ${trial}`).toBeGreaterThan(0);
    }
    expect(damagedTrials).toBeGreaterThan(TRIALS / 2);
  });

  it("C6 a tail that was cut off by a kill is not a frame", () => {
    const { bytes, frames } = makeSegment(randomFrom(3));
    const last = frames.at(-1)!;
    for (let cut = last.start + 1; cut < last.end; cut++) {
      const content = readSegment(bytes.subarray(0, cut), WRITER);
      expect(content.frames.length, `cut at ${cut}`).toBe(frames.length - 1);
      expect(content).toMatchObject({ damages: 1, damagedBytes: cut - last.start });
    }
  });

  it("C6 a newer version is not touched", () => {
    const bytes = Buffer.from(makeSegment(randomFrom(4)).bytes);
    bytes.writeUInt32LE(2, 8);
    expect(() => readSegment(bytes, WRITER)).toThrow(NewerSpool);
  });

  it("C6 frames behind a head that was overwritten are still there", () => {
    const { bytes, frames } = makeSegment(randomFrom(5));
    const spoiled = Buffer.from(bytes);
    spoiled.fill(0, 0, 12);
    const content = readSegment(spoiled, WRITER);
    expect(content.frames.length).toBe(frames.length);
    expect(content.damages).toBe(1);
  });

  it("R12, C6: a frame of another writer inside a damaged one is not mistaken for ours", () => {
    const inner = encodeFrame(FRAME_KIND.envelope, 2, Buffer.from("x".repeat(50)));
    const bytes = Buffer.concat([
      segmentHead(),
      encodeFrame(FRAME_KIND.envelope, 1, envelopeBody(1, inner)),
      encodeFrame(FRAME_KIND.envelope, 2, envelopeBody(2, Buffer.from("ours"))),
    ]);
    // The length of the first frame is wrong, so that the next has to be searched for.
    bytes.writeUInt32LE(3, 12);
    const { frames } = readSegment(bytes, WRITER);
    expect(frames.map(({ body }) => body.toString("latin1").slice(-4))).toEqual(["ours"]);
  });
});

/** Damages a copy; the function says whether a stretch of the original was hit. */
function damage(
  bytes: Buffer,
  random: (below: number) => number,
): [Buffer, (start: number, end: number) => boolean] {
  const copy = Buffer.from(bytes);
  const hits: [number, number][] = [];
  const kind = random(4);
  if (kind === 0) {
    const cut = 12 + random(bytes.length - 12);
    return [copy.subarray(0, cut), (_, end) => end > cut];
  }
  for (let n = 1 + random(3); n > 0; n--) {
    // The version is tested apart: to change it means something.
    const at = 12 + random(bytes.length - 12);
    const length = kind === 1 ? 1 : Math.min(1 + random(40), bytes.length - at);
    for (let i = at; i < at + length; i++) copy[i] = kind === 3 ? 0 : copy[i]! ^ (1 << random(8));
    for (let i = at; i < at + length; i++) if (copy[i] !== bytes[i]) hits.push([i, i + 1]);
  }
  return [copy, (start, end) => hits.some(([from, to]) => from < end && to > start)];
}
