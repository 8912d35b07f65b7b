import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeFrame, FRAME_KIND } from "./frame.ts";
import type { SpooledFrame } from "./frame-source.ts";
import { isOwnerAlive, ownerOf, readOwner } from "./owner.ts";
import { readSegment } from "./read-segment.ts";
import { listSegments } from "./segments.ts";
import { Spool, type SpoolEvent, type SpoolOptions } from "./spool.ts";

const WRITER = "a".repeat(32);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cairn-spool-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(options: Partial<SpoolOptions> = {}) {
  const events: SpoolEvent[] = [];
  const spool = new Spool({
    spool: join(folder, "spool"),
    owner: ownerOf(WRITER, { server: "http://127.0.0.1:4700" }, "test", 1),
    open: Buffer.from("open"),
    sync: "segment",
    onEvent: (event) => events.push(event),
    ...options,
  });
  let seq = 0;
  const append = (sizeBytes: number) => {
    const body = Buffer.alloc(sizeBytes, ++seq);
    spool.append(FRAME_KIND.envelope, seq, encodeFrame(FRAME_KIND.envelope, seq, body));
  };
  return { spool, events, append };
}

/** All that can be read now. */
function readAll(spool: Spool): SpooledFrame[] {
  const all: SpooledFrame[] = [];
  for (let frames = spool.read(); frames !== undefined; frames = spool.read()) all.push(...frames);
  return all;
}

const seqs = (frames: readonly { seq: number }[]) => frames.map(({ seq }) => seq);

describe("the spool of a living process", () => {
  it("C4 what was appended is in the file at once, and every segment begins with the open frame", () => {
    const { spool, append } = open({ segmentBytesMax: 1_000 });
    for (let i = 0; i < 10; i++) append(300);
    const segments = listSegments(spool.folder);
    expect(segments.length).toBeGreaterThan(3);
    const contents = segments.map(({ path }) => readSegment(readFileSync(path), WRITER).frames);
    for (const frames of contents) expect(frames[0]).toMatchObject({ kind: FRAME_KIND.open, seq: 0 });
    expect(seqs(contents.flat().filter(({ kind }) => kind === FRAME_KIND.envelope))).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 1),
    );
    expect(statSync(spool.folder).mode & 0o777).toBe(0o700);
    const owner = readOwner(spool.folder);
    expect(owner).toMatchObject({ writer: WRITER, pid: process.pid, version: 1 });
    expect(isOwnerAlive(spool.folder, owner)).toBe(true);
    expect(isOwnerAlive(spool.folder, { ...owner!, pidStart: "1" })).toBe(false);
    expect(isOwnerAlive(spool.folder, { ...owner!, host: "elsewhere" })).toBe(true);
    expect(isOwnerAlive(spool.folder, { ...owner!, host: "elsewhere" }, Date.now() + 3_700_000)).toBe(false);
  });

  it("C5 gives every frame once, in order, and removes a segment when all of it was delivered", () => {
    const { spool, append } = open({ segmentBytesMax: 1_000 });
    append(300);
    const first = readAll(spool);
    expect(seqs(first)).toEqual([1]);
    for (let i = 0; i < 6; i++) append(300);
    const rest = readAll(spool);
    expect(seqs(rest)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(spool.waiting).toEqual({ envelopes: 7, others: 0 });
    const before = listSegments(spool.folder).length;
    for (const frame of [...first, ...rest].slice(0, 5)) spool.resolve(frame);
    expect(listSegments(spool.folder).length).toBeLessThan(before);
    spool.close();
    expect(listSegments(spool.folder).length).toBeGreaterThan(0);
    expect(spool.waiting.envelopes).toBe(2);
  });

  it("C15 leaves nothing behind when everything was delivered", () => {
    const { spool, append } = open();
    append(10);
    for (const frame of readAll(spool)) spool.resolve(frame);
    spool.close();
    expect(readdirSync(join(folder, "spool"))).toEqual([]);
  });

  it("C11 over the cap the oldest complete segment that is not being sent is dropped", () => {
    const { spool, append, events } = open({ segmentBytesMax: 1_000, bytesMax: 3_500 });
    append(300);
    const held = spool.read()!;
    for (let i = 0; i < 14; i++) append(300);
    const left = readAll(spool);
    // The first segment is being sent; those behind it went, from the oldest on.
    expect(seqs(held)).toEqual([1]);
    expect(existsSync(join(spool.folder, "00000001.frames"))).toBe(true);
    const numbers = seqs(left);
    expect(numbers.at(-1)).toBe(15);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const lost = events
      .filter((event) => event.kind === "lost")
      .reduce((sum, event) => sum + event.envelopes, 0);
    expect(lost).toBe(15 - 1 - left.length);
    expect(lost).toBeGreaterThan(3);
    expect(spool.waiting.envelopes).toBe(1 + left.length);
    const total = listSegments(spool.folder).reduce((sum, { path }) => sum + statSync(path).size, 0);
    expect(total).toBeLessThanOrEqual(3_500);
  });

  it("C10 without a disk frames are kept in memory, the oldest going first, and written when it is back", async () => {
    // There is a file in place of the folder.
    writeFileSync(join(folder, "spool"), "");
    const { spool, append, events } = open({ memoryBytesMax: 2_000 });
    for (let i = 0; i < 10; i++) append(300);
    expect(events[0]).toMatchObject({ kind: "disk-failed" });
    expect(events.filter(({ kind }) => kind === "disk-failed").length).toBe(1);
    const lost = events.filter((event) => event.kind === "lost").length;
    expect(lost).toBeGreaterThan(2);
    const given = spool.read()!;
    expect(seqs(given)).toEqual(Array.from({ length: 10 - lost }, (_, i) => lost + 1 + i));
    spool.resolve(given[0]!);
    rmSync(join(folder, "spool"));
    mkdirSync(join(folder, "spool"));
    await expect
      .poll(() => {
        append(10);
        return events.some(({ kind }) => kind === "disk-back");
      })
      .toBe(true);
    const [segment] = listSegments(spool.folder);
    const written = readSegment(readFileSync(segment!.path), WRITER).frames.filter(({ seq }) => seq > 0);
    // What was delivered is not written, all else is, in order.
    expect(seqs(written).slice(0, 2)).toEqual([lost + 2, lost + 3]);
    expect(spool.waiting.envelopes).toBe(written.length);
  });

  it("C10 after the spool was removed, new frames are kept in a new one", () => {
    const { spool, append, events } = open();
    append(10);
    rmSync(spool.folder, { recursive: true });
    expect(spool.read()).toBeUndefined();
    expect(events).toMatchObject([{ kind: "lost", why: "gone", envelopes: 1 }]);
    append(10);
    expect(seqs(readAll(spool))).toEqual([2]);
    expect(readOwner(spool.folder)?.writer).toBe(WRITER);
  });

  it("C8 refused frames are kept for inspection", () => {
    const { spool, append } = open();
    append(10);
    const [frame] = readAll(spool);
    const path = spool.setAside(frame!, { what: "it", why: "because", server: "", run: "" });
    expect(path).toBe(join(spool.folder, "refused", "1.frame"));
    expect(readFileSync(path)).toEqual(encodeFrame(FRAME_KIND.envelope, 1, frame!.body));
    spool.resolve(frame!);
    spool.close();
    expect(readdirSync(spool.folder).sort()).toEqual(["owner.json", "refused"]);
  });
});
