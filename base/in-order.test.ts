import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { inOrder } from "./in-order.ts";

it("gives all in order", async () => {
  expect(await inOrder([setTimeout(5, "a"), Promise.resolve("b")])).toEqual(["a", "b"]);
});

it("throws the first failure in order, not in time", async () => {
  const late = setTimeout(5).then(() => Promise.reject(new Error("late")));
  await expect(inOrder([late, Promise.reject(new Error("soon"))])).rejects.toThrow("late");
});
