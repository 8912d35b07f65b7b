import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { prepareInstall } from "./prepare-install.ts";

it("B203 builds the wheel once, again when it is missing, and removes one of another version", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "cairn_tracker-0.0.1-py3-none-any.whl"), "old");
  await prepareInstall(folder);
  const [wheel, ...others] = readdirSync(folder).filter((name) => name.endsWith(".whl"));
  expect(others).toEqual([]);
  const made = () => statSync(join(folder, wheel!)).mtimeMs;
  const before = made();
  await prepareInstall(folder);
  expect(made()).toBe(before);
  writeFileSync(join(folder, "build.json"), '{"hash": "of other sources", "wheel": "none"}');
  await prepareInstall(folder);
  expect(made()).toBeGreaterThan(before);
  rmSync(join(folder, wheel!));
  await prepareInstall(folder);
  expect(readdirSync(folder)).toContain(wheel);
});
