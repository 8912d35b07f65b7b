import { expect, it } from "vitest";

import { repeatFailed, UNSTEADY_MAX } from "./repeat-failed.ts";
import type { Failure } from "./test-report.ts";

const PROCESSES = "e2e/cli/serve.test.ts";
const OTHER = "e2e/sdk/run.test.ts";

function failure(file: string, title: string): Failure {
  return { file, title, message: "" };
}

async function verdictOf(
  failures: readonly Failure[],
  again: readonly Failure[] = [],
): Promise<{ failed: Failure[]; unsteady: Failure[]; repeated: string[] }> {
  const repeated: string[] = [];
  const verdict = await repeatFailed(failures, (file) => {
    repeated.push(file);
    return Promise.resolve(again.filter((one) => one.file === file));
  });
  return { ...verdict, repeated };
}

it("a test that passes alone is unsteady, and each file is repeated once", async () => {
  const failures = [failure(PROCESSES, "a"), failure(PROCESSES, "b"), failure(OTHER, "c")];
  expect(await verdictOf(failures)).toEqual({ failed: [], unsteady: failures, repeated: [PROCESSES, OTHER] });
});

it("a test that fails again has failed", async () => {
  const failures = [failure(PROCESSES, "a"), failure(OTHER, "c")];
  expect(await verdictOf(failures, [failure(OTHER, "c")])).toEqual({
    failed: [failures[1]],
    unsteady: [failures[0]],
    repeated: [PROCESSES, OTHER],
  });
});

it.each([
  ["unit tests", [failure("base/seal.test.ts", "a")]],
  ["unit tests beside others", [failure(PROCESSES, "a"), failure("base/seal.test.ts", "b")]],
  ["a run that failed as a whole", [failure("", "vitest left no report")]],
  [
    "more than may be unsteady",
    Array.from({ length: UNSTEADY_MAX + 1 }, (_, index) => failure(PROCESSES, `${index}`)),
  ],
])("%s are not repeated", async (_, failures) => {
  expect(await verdictOf(failures)).toEqual({ failed: failures, unsteady: [], repeated: [] });
});

it("nothing failed, nothing is repeated", async () => {
  expect(await verdictOf([])).toEqual({ failed: [], unsteady: [], repeated: [] });
});
