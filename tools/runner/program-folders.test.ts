import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";

import { makeProgramFolders, pathOf } from "./program-folders.ts";

function says(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\necho ${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

it("a test sees the programs that it declares and those that need no declaration", () => {
  const top = mkdtempSync(join(tmpdir(), "cairn-programs-test-"));
  const first = join(top, "first");
  const second = join(top, "second");
  says(first, "rare", "rare");
  says(first, "plain", "first");
  says(second, "plain", "second");
  const folder = join(top, "folders");
  makeProgramFolders(
    folder,
    [first, join(top, "missing"), second].join(delimiter),
    new Set(["rare", "absent"]),
  );
  const run = (name: string, programs: string[]): string =>
    execFileSync(name, { env: { PATH: pathOf(folder, programs) }, encoding: "utf8" }).trim();
  expect(run("plain", [])).toBe("first");
  expect(run("rare", ["absent", "rare"])).toBe("rare");
  expect(() => run("rare", ["absent"])).toThrow("ENOENT");
});
