import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { Preparer, type Thread } from "./preparer.ts";

/** Real threads. The text "forever" never returns; any other returns the count of texts. */
const CODE = `
  const { parentPort } = require("node:worker_threads");
  let count = 0;
  parentPort.on("message", ({ text }) => {
    while (text === "forever");
    parentPort.postMessage({ value: [text + " " + ++count] });
  });
  parentPort.postMessage("ready");
`;

describe("texts prepared in a worker thread", () => {
  const workers: Worker[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.terminate();
  });

  function start(code = CODE): Thread {
    const worker = new Worker(code, { eval: true });
    workers.push(worker);
    const listeners = new Map<unknown, (data: unknown) => void>();
    return {
      postMessage: (message) => worker.postMessage(message),
      addEventListener: (type, listener) => {
        const heard = (data: unknown) => listener({ data });
        listeners.set(listener, heard);
        worker.on(type, heard);
      },
      removeEventListener: (type, listener) => void worker.off(type, listeners.get(listener)!),
      terminate: () => void worker.terminate(),
    };
  }

  it("Z100 cancels a text that takes too long, and prepares the next in a new thread", async () => {
    const preparer = new Preparer(() => start(), 2_000);
    const outcomes = ["a", "b", "forever", "c"].map((text) => preparer.prepare("markdown", text));
    expect(await Promise.all(outcomes)).toEqual([
      { value: ["a 1"] },
      { value: ["b 2"] },
      { refused: "slow" },
      { value: ["c 1"] },
    ]);
    expect(workers).toHaveLength(2);
    await expect.poll(() => workers.at(0)?.threadId).toBe(-1);
  });

  it("Z100 does not begin a cancelled text", async () => {
    const preparer = new Preparer(() => start());
    const left = new AbortController();
    left.abort();
    await preparer.prepare("markdown", "forever", left.signal);
    expect(await preparer.prepare("markdown", "a")).toEqual({ value: ["a 1"] });
  });

  it("Z100 reports when no thread can be started, and retries with the next text", async () => {
    let isBroken = true;
    const preparer = new Preparer(() => {
      if (isBroken) throw new Error("no workers here");
      return start();
    });
    expect(await preparer.prepare("markdown", "a")).toEqual({ refused: "broken" });
    isBroken = false;
    expect(await preparer.prepare("markdown", "a")).toEqual({ value: ["a 1"] });
  });
});
