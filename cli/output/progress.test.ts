import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Progress } from "./progress.ts";

describe("Progress", () => {
  let written = "";
  let stream: WriteStream;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
    written = "";
    const through = new PassThrough().setEncoding("utf8").on("data", (text: string) => (written += text));
    stream = Object.assign(through, { columns: 60 }) as unknown as WriteStream;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("T17 prints nothing for short tasks, and nothing without a terminal", () => {
    const quick = new Progress("copying", 10, stream);
    quick.update(10);
    quick.end();
    const piped = new Progress("copying", 10, undefined);
    vi.advanceTimersByTime(10_000);
    piped.update(5);
    piped.end();
    expect(written).toBe("");
  });

  it("T17 draws one line that fits, not too often, and takes it away", () => {
    const progress = new Progress("copying", 100, stream);
    vi.advanceTimersByTime(1_000);
    progress.update(25, { note: "a-file-with-a-very-very-long-name\u001b[2J" });
    progress.update(26);
    expect(written.match(/\r/g)).toHaveLength(1);
    expect(written).toContain("copying ██████░░░░░░░░░░░░░░░░░░ 25 %");
    expect(written.slice("\r\u001b[K".length)).not.toContain("\u001b");
    expect(written.length - "\r\u001b[K".length).toBeLessThan(60);
    vi.advanceTimersByTime(200);
    progress.add(24);
    expect(written).toContain("50 % 2 s left");
    const listeners = process.listenerCount("exit");
    progress.end();
    expect(written.endsWith("\r\u001b[K")).toBe(true);
    expect(process.listenerCount("exit")).toBe(listeners - 1);
  });
});
