import { describe, expect, it } from "vitest";
import { interruptible, type Interrupt } from "./interruptible.ts";

/** Numbers from 0 up to `count`, then silence. */
async function* numbersThenSilence(count: number, state: { ended: boolean }): AsyncGenerator<number> {
  const silence = Promise.withResolvers<void>();
  try {
    for (let number = 0; number < count; number++) yield number;
    await silence.promise;
  } finally {
    state.ended = true;
  }
}

async function* firstNumbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number;
}

describe("a stream that can be interrupted", () => {
  it("yields everything when it is not interrupted, and disarms", async () => {
    let armed = 0;
    const arm = () => {
      armed++;
      return () => void armed--;
    };
    const seen = [];
    for await (const number of interruptible(firstNumbers(5), arm)) seen.push(number);
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(armed).toBe(0);
  });

  it("throws the cause while it waits for what does not come", async () => {
    let interrupt: Interrupt | undefined;
    const arm = (given: Interrupt) => {
      interrupt = given;
      return () => {};
    };
    const items = interruptible(numbersThenSilence(2, { ended: false }), arm);
    expect(await items.next()).toEqual({ done: false, value: 0 });
    expect(await items.next()).toEqual({ done: false, value: 1 });
    const waiting = items.next();
    interrupt!(new Error("enough"));
    interrupt!(new Error("too late"));
    await expect(waiting).rejects.toThrow("enough");
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it("yields nothing after an interrupt between two items, and stops the source", async () => {
    let interrupt: Interrupt | undefined;
    const state = { ended: false };
    const arm = (given: Interrupt) => {
      interrupt = given;
      return () => {};
    };
    const items = interruptible(numbersThenSilence(9, state), arm);
    await items.next();
    interrupt!(new Error("enough"));
    await expect(items.next()).rejects.toThrow("enough");
    await Promise.resolve();
    expect(state.ended).toBe(true);
  });

  it("throws at once when it was interrupted before it began", async () => {
    const arm = (interrupt: Interrupt) => {
      interrupt(new Error("never"));
      return () => {};
    };
    await expect(interruptible(firstNumbers(3), arm).next()).rejects.toThrow("never");
  });

  it("passes on what the source throws", async () => {
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("broken")) }),
    };
    await expect(interruptible(source, () => () => {}).next()).rejects.toThrow("broken");
  });
});
