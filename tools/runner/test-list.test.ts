import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { findProgram } from "../needs.ts";
import { planRun } from "./plan-run.ts";
import { readSources, ROOT } from "../sources.ts";
import { allNeeds, campaigns, needsOf, suitesOf } from "../suites.ts";
import { leftOutLines } from "./test-summary.ts";

/** A PATH with these programs and no others. */
function pathWith(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "cairn-path-"));
  for (const name of names) symlinkSync(findProgram(name)!, join(folder, name));
  return folder;
}

describe("npm test", () => {
  it("on a machine without any other program names what it leaves out, and how to get it", () => {
    const listed = execFileSync(process.execPath, ["tools/test.ts", "--list"], {
      cwd: ROOT,
      env: { PATH: pathWith("sh") },
      encoding: "utf8",
    });
    expect(listed).toContain("suite unit");
    expect(listed).toContain("suite server");
    expect(listed).not.toContain("suite browser");
    expect(listed).toMatch(/left out[^]*browser: chromium\n {4}e2e\/browser\/[^]*how to get it:/);
    expect(listed).toContain("  chromium: apt-get install chromium\n");
    expect(listed).toContain("  gcc: apt-get install gcc libc6-dev\n");
  });

  it("runs each test file in exactly one suite", async () => {
    const files = [...(await readSources(["**/*.test.ts"])).keys()];
    expect(files.filter((file) => suitesOf(file).length !== 1)).toEqual([]);
  });

  it("refuses a suite that is not there", async () => {
    await expect(planRun(["unti"])).rejects.toThrow("unknown suite unti; there are unit, server");
  });

  it("every need says how to get it", async () => {
    const missing = allNeeds();
    const plan = await planRun(["unit"]);
    const suite = suitesOf("tools/runner/test-list.test.ts")[0]!;
    plan.leftOut = [{ suite, files: ["a"], missing, isAllowed: false }];
    const lines = leftOutLines(plan);
    for (const need of missing) expect(lines).toContain(`  ${need.name}: ${need.remedy}`);
  });
});

describe("campaigns", () => {
  it.each(campaigns.map(({ name, file }) => [name, file] as const))("%s is a test of npm test", (_, file) => {
    expect(suitesOf(file)).toHaveLength(1);
    expect(needsOf(file)).toBeDefined();
  });
});
