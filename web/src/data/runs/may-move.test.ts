import { expect, it } from "vitest";
import { mayMove } from "./may-move.ts";

it("Z9 only a query about changed fields can move a run", () => {
  expect(mayMove('namespace under "a" order by created')).toBe(false);
  expect(mayMove("order by metrics.loss.min")).toBe(true);
  expect(mayMove('status = "running"')).toBe(true);
});
