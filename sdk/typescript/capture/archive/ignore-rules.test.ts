import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIgnoreFile, type IgnoreFile } from "./ignore-rules.ts";
import { dose, tally } from "../../../../tools/dose.ts";
import { newRepository } from "../testing/repository.ts";
import { cpuMs } from "#base/cpu-ms.ts";

describe("parseIgnoreFile", () => {
  const cases: [rules: string, ignored: string[], others: string[]][] = [
    ["*.log", ["a.log", "b/c.log"], ["a.log.txt", "alog"]],
    ["/a", ["a"], ["b/a"]],
    ["a/b", ["a/b"], ["x/a/b", "a"]],
    ["**/a/b", ["a/b", "x/a/b", "x/y/a/b"], ["xa/b"]],
    ["a/**", ["a/b", "a/b/c"], ["a"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]],
    ["a/*", ["a/b"], ["a/b/c", "a"]],
    ["*.txt\n!keep.txt", ["a.txt"], ["keep.txt", "x/keep.txt"]],
    ["# a\n\\#b\n\\!c", ["#b", "!c"], ["# a", "a"]],
    ["a \nb\\ ", ["a", "b "], ["a ", "b"]],
    ["[a-c]x[!0-9][[:upper:]]", ["axyZ", "cx-A"], ["dxyZ", "ax1Z", "axyz"]],
    ["[a-c-e]", ["b", "-", "e"], ["d"]],
    ["a/**\\/b", ["a/x/b", "a/x/y/b"], ["a/b"]],
    ["a**/b", ["ax/b", "ax/y/b", "ab"], ["b"]],
    ["a[", [], ["a[", "a"]],
    ["a\\", [], ["a", "a\\"]],
    ["foo\r\nbar", ["foo", "bar"], ["foo\r"]],
    ["??", ["é", "ab"], ["a", "漢"]],
  ];
  it.each(cases)("C29 %j ignores %j and not %j", (rules, ignored, others) => {
    const file = parseIgnoreFile(rules);
    for (const path of ignored) expect(file.judge(path, false), path).toBe("ignored");
    for (const path of others) expect(file.judge(path, false), path).not.toBe("ignored");
  });

  it("C29 distinguishes folders and files", () => {
    const file = parseIgnoreFile("build/\n!a/build/");
    expect(file.judge("build", true)).toBe("ignored");
    expect(file.judge("build", false)).toBeUndefined();
    expect(file.judge("a/build", true)).toBe("kept");
  });

  it("C29 is fast for a hostile pattern", () => {
    const started = cpuMs();
    const patterns = ["*a".repeat(200) + "b", "**/a/".repeat(200) + "b", "a/" + "[!b]*".repeat(200) + "c"];
    for (const pattern of patterns) {
      const file = parseIgnoreFile(pattern);
      for (const path of ["a".repeat(250), "a/".repeat(120) + "x"]) file.judge(path, false);
    }
    expect(cpuMs() - started).toBeLessThan(5_000);
  });
});

/** Small alphabets, so that patterns and paths meet often. */
const name = fc.string({
  unit: fc.constantFrom("a", "b", "A", "-", "é", "0", "[", "!", "#", " "),
  minLength: 1,
  maxLength: 3,
});
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const piece = fc.constantFrom(
  ..."a b A - é 0 [ ] ! # / / / * * ? ** **/ /** /**/ \\ \\* \\[ [ab] [!a] [^b] [a-b] [b-0] [[:alpha:]] [[:digit:]b] [[:x:]] **\\/ [0-a-é] []a] [a- [-a] [\\]] *a a*".split(
    " ",
  ),
  " ",
);
const pattern = fc
  .tuple(
    fc.constantFrom("", "", "", "!", "/", "!/", "#"),
    fc.array(piece, { minLength: 1, maxLength: 6 }),
    fc.constantFrom("", "", "/", " ", "\r"),
  )
  .map(([before, pieces, after]) => before + pieces.join("") + after);

/** The entries of a tree, folders too, and whether each is a folder. */
function plant(root: string, paths: readonly string[]): Map<string, boolean> {
  const isFolder = new Map<string, boolean>();
  for (const way of paths) {
    const folders = [...way.matchAll(/\//g)].map(({ index }) => way.slice(0, index));
    if (isFolder.has(way) || folders.some((folder) => isFolder.get(folder) === false)) continue;
    for (const folder of folders) isFolder.set(folder, true);
    isFolder.set(way, false);
    mkdirSync(dirname(join(root, way)), { recursive: true });
    writeFileSync(join(root, way), "");
  }
  return isFolder;
}

function askGit(root: string, paths: readonly string[]): string[] {
  const answer = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z"], {
    cwd: root,
    input: paths.map((way) => `./${way}`).join("\0"),
    encoding: "utf8",
    timeout: 60_000,
  });
  // 1 means that nothing is ignored.
  if (answer.status !== 0 && answer.status !== 1) throw new Error(answer.stderr);
  return answer.stdout
    .split("\0")
    .filter((way) => way !== "")
    .map((way) => way.slice(2));
}

interface Tree {
  paths: string[];
  ignoreFiles: [folder: string, patterns: string[]][];
}

const ignoreFile = fc.tuple(
  fc.oneof(fc.constant(""), name),
  fc.array(pattern, { minLength: 1, maxLength: 4 }),
);
const tree: fc.Arbitrary<Tree> = fc.record({
  paths: fc.array(path, { minLength: 1, maxLength: 25 }),
  ignoreFiles: fc.array(ignoreFile, { minLength: 1, maxLength: 3 }),
});

/** Trees per call of git. */
const TREES = 30;

describe("ignore files", () => {
  it("C29 ignore what git ignores, in any folder, on generated trees", async () => {
    const { dir, git } = await newRepository();
    git("config", "core.ignoreCase", "false");
    let [batches, questions, ignored] = [0, 0, 0];
    /** Creates a tree in `root` and returns its entries and which of them we ignore. */
    const judge = (root: string, { paths, ignoreFiles }: Tree) => {
      mkdirSync(root, { recursive: true });
      const entries = plant(root, paths);
      const parsed = new Map<string, IgnoreFile>();
      for (const [folder, patterns] of ignoreFiles) {
        if (folder !== "" && entries.get(folder) !== true) continue;
        writeFileSync(join(root, folder, ".gitignore"), patterns.join("\n"));
        parsed.set(folder, parseIgnoreFile(patterns.join("\n")));
      }
      const ours = [...entries].filter(([way, isFolder]) => isIgnored(way, isFolder, parsed));
      return { entries: [...entries.keys()], ours: ours.map(([way]) => way) };
    };
    const check = (trees: Tree[]) => {
      const root = join(dir, `b${batches++}`);
      const judged = trees.map((one, at) => judge(join(root, String(at)), one));
      const inTree = (ways: string[], at: number) => ways.map((way) => `${at}/${way}`);
      const asked = judged.flatMap(({ entries }, at) => inTree(entries, at));
      const theirs = askGit(root, asked);
      questions += asked.length;
      ignored += theirs.length;
      expect(judged.flatMap(({ ours }, at) => inTree(ours, at)).sort()).toEqual(theirs.sort());
    };
    const trees = fc.array(tree, { minLength: 1, maxLength: TREES, size: "max" });
    fc.assert(fc.property(trees, check), { numRuns: dose(5, 50) });
    tally("ignored trees", batches * TREES);
    expect(questions).toBeGreaterThan(500);
    expect(ignored).toBeGreaterThan(50);
  });
});

/** An ignored folder includes its content; otherwise the nearest ignore file with a matching line decides. */
function isIgnored(way: string, isFolder: boolean, files: ReadonlyMap<string, IgnoreFile>): boolean {
  const parts = way.split("/");
  for (let count = 1; count <= parts.length; count++) {
    const part = parts.slice(0, count).join("/");
    const isPartFolder = count < parts.length || isFolder;
    let verdict: string | undefined;
    for (let depth = 0; depth < count; depth++) {
      const folder = parts.slice(0, depth).join("/");
      const relative = folder === "" ? part : part.slice(folder.length + 1);
      verdict = files.get(folder)?.judge(relative, isPartFolder) ?? verdict;
    }
    if (verdict === "ignored") return true;
  }
  return false;
}
