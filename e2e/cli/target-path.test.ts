import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep, win32 } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeRoom, targetPath, Targets, UnsafeTarget } from "#cli/artifacts/target-path.ts";
import { dose, tally } from "../../tools/dose.ts";
import { traversalCorpus } from "../traversal-corpus.ts";

/** An even stride over all combinations, so that the dose has every spelling many times. */
const CORPUS_SIZE = dose(4_000, 20_000);

/** As they are, and as a program that decodes them would hand them on. */
function corpus(): Set<string> {
  const names = new Set<string>();
  for (const text of traversalCorpus(CORPUS_SIZE)) {
    names.add(text);
    for (let decoded = text, times = 0; times < 3; times++) {
      try {
        decoded = decodeURIComponent(decoded);
      } catch {
        break;
      }
      names.add(decoded);
    }
  }
  return names;
}

describe("targetPath", () => {
  const root = join(sep, "downloads", "here");

  it("T33, S12: no name of the corpus leaves the folder, on any system", () => {
    let taken = 0;
    for (const name of corpus()) {
      for (const platform of ["linux", "win32"] as const) {
        let path: string;
        try {
          path = targetPath(name, platform);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(UnsafeTarget);
          continue;
        }
        taken++;
        const inside =
          platform === "win32"
            ? win32.relative("C:\\d", win32.resolve("C:\\d", path))
            : relative(root, resolve(root, path));
        expect(inside).toBe(path);
        expect(inside.split(/[/\\]/)).not.toContain("..");
      }
    }
    // Otherwise refusing everything would pass.
    expect(taken).toBeGreaterThan(100);
    tally("names of files", CORPUS_SIZE);
  });

  it.each([
    "a",
    "checkpoints/epoch-3.pt",
    "...",
    ".hidden",
    "a/..b/c..",
    "ünï/📈.png",
    "%2e%2e/x",
    "ab:c",
    "~/x",
    "CON",
  ])("T33 takes %j", (name) => {
    expect(targetPath(name, "linux")).toBe(name);
  });

  it.each([
    "",
    "..",
    "../x",
    "a/../b",
    "a/./b",
    "/etc/x",
    "a//b",
    "a/",
    "a\\b",
    "c:x",
    "C:/x",
    "a\0b",
    "a\nb",
    "\ud800",
    "a\u202eb",
    "x".repeat(256),
  ])("T33 refuses %j", (name) => {
    expect(() => targetPath(name, "linux")).toThrow(UnsafeTarget);
  });

  it.each(["CON", "aux.txt", "a/NUL", "com1.log", "a:b", "x.", "x ", "a?", "a/b:stream"])(
    "T33 refuses %j on Windows",
    (name) => {
      expect(() => targetPath(name, "win32")).toThrow(UnsafeTarget);
    },
  );
});

describe("Targets", () => {
  it.each([
    [["a", "A"]],
    [["dir/File", "DIR/file"]],
    [["straße", "STRASSE"]],
    [["\u00e9", "e\u0301"]],
    [["ﬁle", "file"]],
    [["x", "x/y"]],
    [["x/y", "x"]],
    [["X/y", "x"]],
    [["a", "a"]],
  ])("T33, S12: %j never become one file", (names) => {
    const targets = new Targets();
    expect(targets.add(names[0]!)).toBe(names[0]);
    expect(() => targets.add(names[1]!)).toThrow(UnsafeTarget);
  });

  it("T33 takes neighbours", () => {
    const targets = new Targets();
    for (const name of ["a/b", "a/c", "A/d", "ab", "a.b"]) targets.add(name);
  });
});

describe("makeRoom", () => {
  const root = mkdtempSync(join(tmpdir(), "cairn-room-"));
  afterAll(() => rmSync(root, { recursive: true }));
  const folder = join(root, "folder");
  mkdirSync(join(folder, "real"), { recursive: true });
  mkdirSync(join(root, "outside"));
  symlinkSync(join(root, "outside"), join(folder, "link"));
  symlinkSync(join(root, "outside", "new"), join(folder, "dangling"));
  symlinkSync(join(root, "outside"), join(folder, "real", "deep"));
  writeFileSync(join(folder, "file"), "");

  it.each(["link/x", "real/deep/x", "real/deep/y/x", "dangling", "dangling/x", "link", "file/x", "real"])(
    "T33, S12: %s is in the way",
    async (name) => {
      await expect(makeRoom(folder, name, name)).rejects.toThrow(
        /symbolic link|is not a folder|is a folder|is not a plain/,
      );
      expect(readdirSync(join(root, "outside"))).toEqual([]);
    },
  );

  it("T33 makes missing folders, also below a link that the user named", async () => {
    expect(await makeRoom(folder, "real/new/x", "x")).toBe(join(folder, "real", "new", "x"));
    expect(await makeRoom(join(folder, "link", "own"), "y", "y")).toBe(join(folder, "link", "own", "y"));
    rmSync(join(root, "outside", "own"), { recursive: true });
  });
});
