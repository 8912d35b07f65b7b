import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { CountingApi } from "../testing/counting-worker.ts";
import { Caller, serveCalls, Transferred } from "./worker-call.ts";

interface Api {
  add(a: number, b: number): number;
  later(value: string): string;
  never(): string;
  refuse(): string;
  refuseLater(): string;
  unclonable(): unknown;
  echo(value: unknown): unknown;
  bytes(length: number): Uint8Array;
  take(bytes: Uint8Array): number;
}

const toPlain = (thrown: unknown): { text: string } => ({
  text: thrown instanceof Error ? thrown.message : "not an error",
});
const fromPlain = (plain: { text: string }): Error => new Error(`received: ${plain.text}`);

const ended = (cause: unknown): Error => new Error(cause instanceof Error ? cause.message : "ended");

function start(code: string): { worker: Worker; caller: Caller<Api> } {
  const worker = new Worker(`const { parentPort } = require("node:worker_threads");${code}`, { eval: true });
  return { worker, caller: new Caller<Api>(worker, fromPlain, ended) };
}

describe("calls over a port", () => {
  let channel: MessageChannel;
  let caller: Caller<Api>;

  beforeEach(() => {
    channel = new MessageChannel();
    serveCalls<Api>(
      channel.port2,
      {
        add: (a, b) => a + b,
        later: (value) => Promise.resolve(value.toUpperCase()),
        never: () => new Promise<string>(() => {}),
        refuse: () => {
          throw new Error("no");
        },
        refuseLater: () => Promise.reject(new Error("not now")),
        unclonable: () => () => {},
        echo: (value) => value,
        bytes: (length) => {
          const bytes = new Uint8Array(length).fill(7);
          return new Transferred(bytes, [bytes.buffer]);
        },
        take: (bytes) => bytes.length,
      },
      toPlain,
    );
    caller = new Caller<Api>(channel.port1, fromPlain, () => new Error("port closed"));
  });
  afterEach(() => channel.port1.close());

  it("answers at once or later, each call with its own result", async () => {
    const answers = await Promise.all([
      caller.call("later", ["a"]),
      caller.call("add", [1, 2]),
      caller.call("later", ["b"]),
      caller.call("add", [3, 4]),
    ]);
    expect(answers).toEqual(["A", 3, "B", 7]);
  });

  it("carries errors as the data the two ends agreed on", async () => {
    await expect(caller.call("refuse", [])).rejects.toThrow("received: no");
    await expect(caller.call("refuseLater", [])).rejects.toThrow("received: not now");
  });

  it("refuses a call whose result cannot be cloned", async () => {
    await expect(caller.call("unclonable", [])).rejects.toThrow(/received: .*could not be cloned/);
    expect(await caller.call("add", [1, 1])).toBe(2);
  });

  it("rejects a call whose arguments cannot be cloned", async () => {
    await expect(caller.call("echo", [() => {}])).rejects.toThrow(/could not be cloned/);
    expect(await caller.call("add", [1, 1])).toBe(2);
  });

  it("hands buffers over in both directions", async () => {
    expect(await caller.call("bytes", [3])).toEqual(new Uint8Array([7, 7, 7]));
    const mine = new Uint8Array(5);
    expect(await caller.call("take", [mine], { transfer: [mine.buffer] })).toBe(5);
    expect(mine.length).toBe(0);
  });

  it("S27 rejects a call that is given up at once, with the signal's reason", async () => {
    const gone = new AbortController();
    const reason = new Error("the caller is gone");
    const waiting = caller.call("never", [], { signal: gone.signal });
    gone.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(caller.call("add", [1, 2], { signal: gone.signal })).rejects.toBe(reason);
    const still = new AbortController();
    expect(await caller.call("add", [1, 2], { signal: still.signal })).toBe(3);
  });

  it("S27 does not begin a call that was cancelled while it waited, and stops work that checks the flag", async () => {
    const worker = new Worker(new URL("../testing/counting-worker.ts", import.meta.url));
    const counter = new Caller<CountingApi>(worker, fromPlain, ended);
    try {
      const gone = new AbortController();
      const begun = new Int32Array(new SharedArrayBuffer(4));
      const running = counter.call("countForever", [begun], { signal: gone.signal });
      const waiting = counter.call("count", [], { signal: gone.signal });
      await Atomics.waitAsync(begun, 0, 0).value;
      gone.abort(new Error("the caller is gone"));
      await expect(running).rejects.toThrow("the caller is gone");
      await expect(waiting).rejects.toThrow("the caller is gone");
      // It answers this, so it has left the loop; of the two calls it began the first only.
      expect(await counter.call("begun", [])).toEqual(["countForever"]);
      expect(await counter.call("count", [])).toBe(1);
    } finally {
      await worker.terminate();
    }
  });

  it("rejects what waits and what follows once the port is closed", async () => {
    const waiting = caller.call("never", []);
    channel.port2.close();
    await expect(waiting).rejects.toThrow("port closed");
    await expect(caller.call("add", [1, 2])).rejects.toThrow("port closed");
  });

  it("keeps the first failure", async () => {
    caller.fail(new Error("first"));
    caller.fail(new Error("second"));
    await expect(caller.call("add", [1, 2])).rejects.toThrow("first");
  });
});

describe("calls to a worker", () => {
  it("are rejected with the cause when it crashes", async () => {
    const { worker, caller } = start(`parentPort.on("message", () => { throw new Error("boom"); });`);
    const exited = once(worker, "exit").catch(() => {});
    await expect(caller.call("add", [1, 2])).rejects.toThrow("boom");
    await expect(caller.call("add", [1, 2])).rejects.toThrow("boom");
    await exited;
  });

  it("are rejected when it exits", async () => {
    const { caller } = start(`parentPort.on("message", () => process.exit(0));`);
    await expect(caller.call("add", [1, 2])).rejects.toThrow("ended");
  });
});
