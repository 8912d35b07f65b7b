import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LogLineSchema, type LogLine } from "#proto/cairn/v1/log_pb.ts";
import { LogBook, PAGE_LINES, type LogRead } from "./log-book.ts";

const line = (number: number): LogLine =>
  create(LogLineSchema, {
    number: BigInt(number),
    text: `line ${number}`,
    stream: number % 2 === 0 ? "stdout" : "stderr",
    rank: number % 4,
  });

/** A log of so many lines, whose answers hold at most `perRead` of them. */
function logOf(total: number, perRead = 10_000) {
  const asked: [number, number][] = [];
  let failing = false;
  let drawn = 0;
  const read = async (from: bigint, limit: number): Promise<LogRead> => {
    const first = from < 0n ? Math.max(0, total + Number(from)) : Number(from);
    asked.push([first, limit]);
    await Promise.resolve();
    if (failing) throw new Error("away");
    const count = Math.max(0, Math.min(limit, perRead, total - first));
    const lines = Array.from({ length: count }, (_, i) => line(first + i));
    return { lines, next: BigInt(first + count), total: BigInt(total), more: first + count < total };
  };
  const book = new LogBook(read, () => drawn++);
  return { book, asked, fail: (now: boolean) => (failing = now), drawn: () => drawn };
}

describe("the log viewer", () => {
  it("Z45 opens with its end and reads the rest when it scrolls into view", async () => {
    const { book, asked } = logOf(100_000);
    expect(await book.open()).toBe(100_000n);
    expect(book.lineAt(99_999)?.text).toBe("line 99999");
    expect(book.lineAt(50_000)).toBeUndefined();
    book.want(50_100, 50_140);
    book.want(50_100, 50_140);
    await expect.poll(() => book.lineAt(50_120)?.text).toBe("line 50120");
    expect(asked).toHaveLength(2);
    expect([...book.ranks].sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect([...book.streams].sort()).toEqual(["stderr", "stdout"]);
  });

  it("Z45 completes a page whose answers end early", async () => {
    const { book } = logOf(2_000, 7);
    await book.open();
    book.want(600, 640);
    await expect.poll(() => book.lineAt(999)?.text).toBe("line 999");
    expect(book.lineAt(500)?.text).toBe("line 500");
  });

  it("Z45 appends new lines as they arrive, without gaps", async () => {
    const { book } = logOf(1_250);
    await book.open();
    book.append([line(1_250), line(1_251)]);
    expect(book.total).toBe(1_252);
    expect(book.lineAt(1_251)?.text).toBe("line 1251");
    // Of the page at the end only its last lines are here: it is read as a whole, and keeps what came live.
    book.want(1_000, 1_251);
    await expect.poll(() => book.lineAt(1_000)?.text).toBe("line 1000");
    expect(book.lineAt(1_251)?.text).toBe("line 1251");
  });

  it("Z45 does not request a damaged line again and again", async () => {
    let asked = 0;
    const book = new LogBook(
      async (from, limit) => {
        asked++;
        const lines = Array.from({ length: limit }, (_, i) => line(Number(from < 0n ? 0n : from) + i)).filter(
          ({ number }) => number !== 7n,
        );
        return { lines, next: BigInt(limit), total: BigInt(limit), more: false };
      },
      () => {},
    );
    await book.open();
    book.want(0, 20);
    await expect.poll(() => book.lineAt(6) !== undefined && book.lineAt(8) !== undefined && asked).toBe(2);
    book.want(0, 20);
    expect([asked, book.lineAt(7)]).toEqual([2, undefined]);
  });

  it("Z45 keeps a bounded number of lines", async () => {
    const { book, asked } = logOf(500 * PAGE_LINES);
    await book.open();
    for (let at = 0; at < 300; at++) {
      book.want(at * PAGE_LINES, at * PAGE_LINES + 10);
      await expect.poll(() => book.lineAt(at * PAGE_LINES)).toBeDefined();
    }
    expect(book.lineAt(0)).toBeUndefined();
    expect(book.lineAt(299 * PAGE_LINES)).toBeDefined();
    expect(asked).toHaveLength(301);
  });

  it("Z45 shows what failed and reads it again on demand", async () => {
    const { book, fail } = logOf(2_000);
    await book.open();
    fail(true);
    book.want(0, 10);
    await expect.poll(() => book.errorAt(3)).toBeInstanceOf(Error);
    book.want(0, 10);
    expect(book.errorAt(3)).toBeInstanceOf(Error);
    fail(false);
    book.retry();
    book.want(0, 10);
    await expect.poll(() => book.lineAt(3)?.text).toBe("line 3");
  });
});
