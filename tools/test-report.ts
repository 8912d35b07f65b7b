export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/**
 * Counts of a vitest JSON report. A file that failed without a failed test (it could not be loaded)
 * counts as one failure, and so does a run that ended badly for any other reason or left no report.
 */
export function countsFrom(json: string, exitCode: number | undefined): Counts {
  if (json === "") return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(json) as Report;
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  const failed = report.numFailedTests + brokenFiles.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
