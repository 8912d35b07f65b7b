import { expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { statusMark } from "./status-mark.ts";

it("T18 gives every status a sign of its own", () => {
  const marks = Object.values(RunStatus).map((status) => statusMark(status, false));
  expect(new Set(marks).size).toBe(marks.length);
  expect(statusMark(RunStatus.FINISHED, false)).toBe("✓ finished");
  expect(statusMark(RunStatus.FAILED, true)).toBe("\u001b[31m✗\u001b[39m failed");
});
