import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { ROOT } from "../sources.ts";
import { nameOf, readReport } from "./test-report.ts";

function report(files: Record<string, string[]>, fileStatus: Record<string, string> = {}): string {
  return JSON.stringify({
    testResults: Object.entries(files).map(([name, results]) => ({
      name: join(ROOT, name),
      status: fileStatus[name] ?? (results.includes("failed") ? "failed" : "passed"),
      message: "",
      startTime: 1_000,
      endTime: 3_500,
      assertionResults: results.map((status, index) => ({
        status,
        fullName: `${status} ${index}`,
        failureMessages: status === "failed" ? ["expected 1 to be 2"] : [],
      })),
    })),
  });
}

describe("readReport", () => {
  it("counts tests and names those that failed or skipped themselves", () => {
    const json = report({ a: ["passed", "passed", "skipped"], b: ["passed", "failed", "todo"] });
    expect(readReport(json, 1)).toEqual({
      passed: 3,
      skipped: ["a › skipped 2", "b › todo 2"],
      failures: [{ file: "b", title: "failed 1", message: "expected 1 to be 2" }],
      files: [
        { file: "a", seconds: 2.5 },
        { file: "b", seconds: 2.5 },
      ],
    });
    expect(readReport(report({ a: ["passed"] }), 0).failures).toEqual([]);
  });

  it("counts a file that could not be loaded as a failure", () => {
    const json = report({ a: ["passed"], b: [] }, { b: "failed" });
    expect(readReport(json, 1).failures.map(nameOf)).toEqual(["b"]);
  });

  it("counts a run that failed with all tests passed as a failure", () => {
    expect(readReport(report({ a: ["passed"] }), 1).failures).toHaveLength(1);
    expect(readReport(report({ a: ["passed"] }), undefined).failures).toHaveLength(1);
  });

  it("counts a run without a report as a failure", () => {
    expect(readReport("", 0).failures).toHaveLength(1);
  });
});
