import { describe, expect, it } from "vitest";

import { countsFrom } from "./test-report.ts";

function report(files: Record<string, string[]>, fileStatus: Record<string, string> = {}): string {
  const tests = Object.values(files).flat();
  const count = (status: string) => tests.filter((test) => test === status).length;
  return JSON.stringify({
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("skipped"),
    numTodoTests: count("todo"),
    testResults: Object.entries(files).map(([name, results]) => ({
      name,
      status: fileStatus[name] ?? (results.includes("failed") ? "failed" : "passed"),
      assertionResults: results.map((status) => ({ status })),
    })),
  });
}

describe("countsFrom", () => {
  it("counts tests", () => {
    const json = report({ a: ["passed", "passed", "skipped"], b: ["passed", "failed", "todo"] });
    expect(countsFrom(json, 1)).toEqual({ passed: 3, failed: 1, skipped: 2 });
    expect(countsFrom(report({ a: ["passed"] }), 0)).toEqual({ passed: 1, failed: 0, skipped: 0 });
  });

  it("counts a file that could not be loaded as a failure", () => {
    const json = report({ a: ["passed"], b: [] }, { b: "failed" });
    expect(countsFrom(json, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  it("counts a run that ended badly with all tests passed as a failure", () => {
    expect(countsFrom(report({ a: ["passed"] }), 1).failed).toBe(1);
    expect(countsFrom(report({ a: ["passed"] }), undefined).failed).toBe(1);
  });

  it("counts a run without a report as a failure", () => {
    expect(countsFrom("", 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});
