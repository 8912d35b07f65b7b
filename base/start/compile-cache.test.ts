import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

import { cacheFolder } from "./compile-cache.js";

const PROGRAM = fileURLToPath(new URL("./compile-cache.js", import.meta.url));

/** The folder that an installed package would use, outside a checkout. */
function folderOutside(makeEnv: (home: string) => NodeJS.ProcessEnv): { home: string; found: string } {
  const home = mkdtempSync(join(tmpdir(), "cairn-cache-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "package", "base", "start"), { recursive: true });
  const program = join(home, "package", "base", "start", "compile-cache.mjs");
  copyFileSync(PROGRAM, program);
  const code = `import { cacheFolder } from ${JSON.stringify(program)}; console.log(cacheFolder(process.env));`;
  const found = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: makeEnv(home),
    encoding: "utf8",
  }).trim();
  return { home, found };
}

describe("the folder of compiled code", () => {
  it("T205 is beside the code in a checkout", () => {
    expect(cacheFolder({ HOME: tmpdir() })).toBe(
      fileURLToPath(new URL("../../node_modules/.cache/cairn", import.meta.url)),
    );
  });

  it("T205 is in the cache folder of the user elsewhere, and only for that user", () => {
    const { home, found } = folderOutside((HOME) => ({ HOME }));
    expect(found).toBe(join(home, ".cache", "cairn", "code"));
    expect(statSync(found).mode & 0o777).toBe(0o700);
    const named = folderOutside((folder) => ({ HOME: "/nowhere", XDG_CACHE_HOME: join(folder, "named") }));
    expect(named.found).toBe(join(named.home, "named", "cairn", "code"));
  });

  it.each(["", "relative"])('T205 is nowhere with the home "%s"', (HOME) => {
    expect(folderOutside(() => ({ HOME })).found).toBe("undefined");
  });

  it("T205 is nowhere if others may write to a folder above it", () => {
    const { home, found } = folderOutside((HOME) => {
      mkdirSync(join(HOME, ".cache"));
      chmodSync(join(HOME, ".cache"), 0o777);
      return { HOME };
    });
    expect(found).toBe("undefined");
    expect(existsSync(join(home, ".cache", "cairn"))).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)("T205 is nowhere in the home of another user", () => {
    const { home, found } = folderOutside((HOME) => {
      chownSync(HOME, 65_534, 65_534);
      return { HOME };
    });
    expect(found).toBe("undefined");
    expect(existsSync(join(home, ".cache"))).toBe(false);
  });
});
