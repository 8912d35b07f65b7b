import { relative } from "node:path";

import { ROOT } from "../sources.ts";

/** A test that failed; without a title, a whole file that could not be loaded or whose hooks failed. */
export interface Failure {
  file: string;
  title: string;
  message: string;
}

export interface TestFile {
  file: string;
  seconds: number;
}

export interface Report {
  passed: number;
  /** Tests that skipped themselves. */
  skipped: string[];
  failures: Failure[];
  files: TestFile[];
}

interface VitestReport {
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
}

/** A failure of the run itself, without a file. */
const WHOLE_RUN = "";

export function nameOf({ file, title }: { file: string; title: string }): string {
  return [file, title].filter((part) => part !== "").join(" › ");
}

/**
 * Parses a vitest JSON report. A file that failed without a failed test counts as one failure, and so does a run that
 * failed for any other reason or left no report.
 */
export function readReport(json: string, exitCode: number | undefined): Report {
  const report: Report = { passed: 0, skipped: [], failures: [], files: [] };
  if (json === "") {
    report.failures.push({ file: WHOLE_RUN, title: "vitest left no report", message: "" });
    return report;
  }
  for (const result of (JSON.parse(json) as VitestReport).testResults) {
    const file = relative(ROOT, result.name);
    report.files.push({ file, seconds: Math.max(0, result.endTime - result.startTime) / 1000 });
    let hasFailedTest = false;
    for (const { status, fullName, failureMessages } of result.assertionResults) {
      if (status === "passed") report.passed += 1;
      else if (status === "failed") {
        hasFailedTest = true;
        report.failures.push({ file, title: fullName, message: (failureMessages ?? []).join("\n") });
      } else report.skipped.push(nameOf({ file, title: fullName }));
    }
    if (result.status === "failed" && !hasFailedTest) {
      report.failures.push({ file, title: "", message: result.message });
    }
  }
  if (report.failures.length === 0 && exitCode !== 0) {
    const title = `vitest ended with ${exitCode ?? "a signal"} although no test failed`;
    report.failures.push({ file: WHOLE_RUN, title, message: "" });
  }
  return report;
}
