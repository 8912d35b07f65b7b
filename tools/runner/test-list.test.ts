import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { findProgram } from "../needs.ts";
import { campaignFiles, planRun } from "./plan-run.ts";
import { readSources, ROOT } from "../sources.ts";
import { allNeeds, campaigns, suitesOf } from "../suites.ts";
import { leftOutLines } from "./test-summary.ts";

/** A PATH with these programs and no others. */
function pathWith(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "cairn-path-"));
  for (const name of names) symlinkSync(findProgram(name)!, join(folder, name));
  return folder;
}

describe("npm test", () => {
  it("on a machine without any other program names the tests it leaves out, and how to get their needs", () => {
    const listed = execFileSync(process.execPath, ["tools/test.ts", "--list"], {
      cwd: ROOT,
      env: { PATH: pathWith("sh") },
      encoding: "utf8",
    });
    expect(listed).toContain("suite unit");
    expect(listed).toContain("suite server");
    expect(listed).not.toContain("suite browser");
    expect(listed).toMatch(/skipped[^]*browser: chromium\n {4}e2e\/browser\/[^]*how to get it:/);
    expect(listed).toContain("  chromium: apt-get install chromium\n");
    expect(listed).toContain("  gcc: apt-get install gcc libc6-dev\n");
  });

  it("runs each test file in exactly one suite", async () => {
    const files = [...(await readSources(["**/*.test.ts"])).keys()];
    expect(files.filter((file) => suitesOf(file).length !== 1)).toEqual([]);
  });

  it("refuses an unknown suite", async () => {
    await expect(planRun(["unti"])).rejects.toThrow("unknown suite unti; suites are unit, server");
  });

  it("every need documents how to get it", async () => {
    const missing = allNeeds();
    const plan = await planRun(["unit"]);
    const suite = suitesOf("tools/runner/test-list.test.ts")[0]!;
    plan.leftOut = [{ suite, files: ["a"], missing, isAllowed: false }];
    const lines = leftOutLines(plan);
    for (const need of missing) expect(lines).toContain(`  ${need.name}: ${need.remedy}`);
  });
});

describe("campaigns", () => {
  it.each(campaigns.map((campaign) => [campaign.name, campaign] as const))(
    "%s is of one suite",
    async (_, campaign) => {
      const files = await campaignFiles(campaign);
      expect(files.length).toBeGreaterThanOrEqual(campaign.files.length);
      expect(new Set(files.map((file) => suitesOf(file)[0])).size).toBe(1);
    },
  );

  it("have every test that comes in doses", async () => {
    const inCampaigns = new Set((await Promise.all(campaigns.map(campaignFiles))).flat());
    const sources = await readSources(["**/*.test.ts"]);
    const dosed = [...sources]
      .filter(([, text]) => /from "[./]+tools\/dose.ts"/.test(text))
      .map(([file]) => file);
    expect(dosed.filter((file) => !inCampaigns.has(file))).toEqual([]);
  });
});
