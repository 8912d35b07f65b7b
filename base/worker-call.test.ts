import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

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
const fromPlain = (plain: { text: string }): Error => new Error(`told: ${plain.text}`);

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
    await expect(caller.call("refuse", [])).rejects.toThrow("told: no");
    await expect(caller.call("refuseLater", [])).rejects.toThrow("told: not now");
  });

  it("refuses the one call whose result cannot be cloned", async () => {
    await expect(caller.call("unclonable", [])).rejects.toThrow(/told: .*could not be cloned/);
    expect(await caller.call("add", [1, 1])).toBe(2);
  });

  it("rejects the one call whose arguments cannot be cloned", async () => {
    await expect(caller.call("echo", [() => {}])).rejects.toThrow(/could not be cloned/);
    expect(await caller.call("add", [1, 1])).toBe(2);
  });

  it("hands buffers over in both directions", async () => {
    expect(await caller.call("bytes", [3])).toEqual(new Uint8Array([7, 7, 7]));
    const mine = new Uint8Array(5);
    expect(await caller.call("take", [mine], [mine.buffer])).toBe(5);
    expect(mine.length).toBe(0);
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
