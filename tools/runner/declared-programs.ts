/**
 * Loaded before every test file: only the programs that it declares in tools/suites.ts are on its PATH, and Python has
 * packages only if it declares some.
 */
import { relative } from "node:path";
import { expect } from "vitest";

import { pathOf } from "./program-folders.ts";
import { ROOT } from "../sources.ts";
import { needsOf } from "../suites.ts";

/** Made by `npm test`; without it, as when vitest is called directly, a test sees the unchanged PATH. */
const folder = process.env["CAIRN_TEST_PROGRAM_FOLDER"];
const { testPath } = expect.getState();
if (folder !== undefined && testPath !== undefined) {
  const needs = needsOf(relative(ROOT, testPath));
  const programs = needs.flatMap((need) => need.programs);
  process.env["CAIRN_TEST_PACKAGES"] = needs.some((need) => need.hasPackages === true) ? "yes" : "no";
  process.env["CAIRN_TEST_PROGRAMS"] = programs.join(",");
  process.env["PATH"] = pathOf(folder, programs);
}
