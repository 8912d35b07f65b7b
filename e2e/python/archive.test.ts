import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { archiveWorkdir } from "#sdk/capture/archive/archive.ts";
import { readCorpus } from "#sdk/capture/testing/corpus.ts";
import { temporaryFolder } from "#sdk/capture/testing/folders.ts";
import { dose } from "../../tools/dose.ts";
import { askPython, usePythonTests } from "./python.ts";

const tests = usePythonTests();

/** Archives each folder beside itself; prints one line of JSON for each. */
const PROGRAM = [
  "import json, sys",
  "from cairn.archive.archive import archive_folder",
  "for folder, limits in json.load(open(sys.argv[1])):",
  "    made = archive_folder(folder, folder + '.py.tar.gz', env={'DB_PASSWORD': 'zQ81kfj2LmPq'}, **limits)",
  "    print(json.dumps([made.is_made, made.files, made.left, made.left_count, made.note]))",
].join("\n");

interface Case {
  dir: string;
  bytesMax?: number;
  filesMax?: number;
}

/** Both clients make the same of every folder: bytes, what is left out, and notes. Returns the notes. */
async function expectSame(cases: readonly Case[]): Promise<string[]> {
  const limits = cases.map(({ dir, bytesMax, filesMax }) => [
    dir,
    {
      ...(bytesMax !== undefined && { bytes_max: bytesMax }),
      ...(filesMax !== undefined && { files_max: filesMax }),
    },
  ]);
  const lines = (await askPython(PROGRAM, limits)).trim().split("\n");
  expect(lines).toHaveLength(cases.length);
  const notes: string[] = [];
  for (const [at, { dir, bytesMax, filesMax }] of cases.entries()) {
    const ours = await archiveWorkdir(dir, `${dir}.ts.tar.gz`, {
      env: { DB_PASSWORD: "zQ81kfj2LmPq" },
      ...(bytesMax !== undefined && { sizeBytesMax: bytesMax }),
      ...(filesMax !== undefined && { filesMax }),
    });
    const left = ours.left.map(({ path, why }) => [path, why]);
    const theirs = JSON.parse(lines[at]!) as unknown[];
    expect(theirs, dir).toEqual([ours.path !== undefined, ours.files, left, ours.leftCount, ours.note ?? ""]);
    notes.push(ours.note ?? "");
    if (ours.path === undefined) continue;
    const [one, two] = [ours.path, `${dir}.py.tar.gz`].map((path) => gunzipSync(readFileSync(path)));
    expect(two!.equals(one!), dir).toBe(true);
    expect(execFileSync("tar", ["-tzf", `${dir}.py.tar.gz`], { encoding: "utf8" })).toBeDefined();
  }
  return notes;
}

function plantIn(dir: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

const name = fc.string({
  unit: fc.constantFrom("a", "b", "A", "-", "é", "0", "[", "!", "#", " ", "😀"),
  minLength: 1,
  maxLength: 3,
});
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const pattern = fc
  .tuple(
    fc.constantFrom("", "", "", "!", "/", "!/", "#"),
    fc.array(
      fc.constantFrom(
        ..."a b A - é 0 [ ] ! # / / * * ? ** **/ /** /**/ \\ \\* \\[ [ab] [!a] [^b] [a-b] [b-0] [[:alpha:]] [[:digit:]b] [[:x:]] **\\/ [0-a-é] []a] [a- [-a] [\\]] *a".split(
          " ",
        ),
        " ",
      ),
      { minLength: 1, maxLength: 6 },
    ),
    fc.constantFrom("", "", "/", " ", "\r"),
  )
  .map(([before, pieces, after]) => before + pieces.join("") + after);
const tree = fc.record({
  paths: fc.array(path, { minLength: 1, maxLength: 25 }),
  rules: fc.array(
    fc.tuple(fc.oneof(fc.constant(""), name), fc.array(pattern, { minLength: 1, maxLength: 4 })),
    {
      minLength: 0,
      maxLength: 3,
    },
  ),
  ignoreName: fc.constantFrom(".gitignore", ".cairnignore"),
});

describe("the archive of the Python client", () => {
  it("Y202 has the bytes of the TypeScript client's, for generated trees and ignore files", async () => {
    const folder = await temporaryFolder();
    const trees = fc.sample(tree, { numRuns: dose(60, 2_000), seed: Number(process.env["CAIRN_SEED"] ?? 1) });
    const cases = trees.map(({ paths, rules, ignoreName }, at): Case => {
      const dir = join(folder, String(at));
      mkdirSync(dir);
      for (const [place, content] of [
        ...paths.map((one) => [one, one] as const),
        ...rules.map(([below, lines]) => [join(below, ignoreName), lines.join("\n")] as const),
      ]) {
        try {
          plantIn(dir, { [place]: content });
        } catch {
          // A file of this name is there, or a folder.
        }
      }
      return { dir };
    });
    await expectSame(cases);
  });

  it("Y202 leaves out and redacts the same, follows no link outside and has the same limits", async () => {
    const folder = await temporaryFolder();
    const dir = (text: string) => join(folder, text);
    plantIn(dir("links"), { "a/b.py": "print(1)\n", "run.sh": "#!/bin/sh\n" });
    chmodSync(dir("links/run.sh"), 0o4755);
    for (const [target, at] of [
      ["a/b.py", "inner"],
      ["../outside", "outer"],
      ["/etc/passwd", "absolute"],
      ["later", "dangling"],
      ["circle", "circle"],
      ["a", "folder"],
    ] as const)
      symlinkSync(target, dir(`links/${at}`));
    plantIn(dir("secrets"), {
      ".env": "PASSWORD=hunter2\n",
      ".ssh/id_rsa": "x",
      "settings.yaml": "password: hunter2x\nlr: 1\n",
      "train.py": 'connect("zQ81kfj2LmPq")\n',
      "data.bin": Buffer.from([0, 1, 2, 255]),
      "latin.py": Buffer.from("# caf\xe9 password='hunter22x'\n", "latin1"),
    });
    plantIn(
      dir("corpus"),
      Object.fromEntries(readCorpus().map(({ text }, at) => [`f${at}.${at % 2 === 0 ? "py" : "ini"}`, text])),
    );
    plantIn(dir("never"), {
      ".git/config": "x",
      "node_modules/a/b": "x",
      "__pycache__/a.pyc": "x",
      "kept.py": "x",
    });
    plantIn(dir("long"), {
      [`${"d".repeat(150)}/${"e".repeat(140)}/é.py`]: "x",
      [`${"f".repeat(120)}.py`]: "x",
    });
    plantIn(dir("large"), {
      "a/x.bin": Buffer.alloc(3_000_000),
      "b.bin": Buffer.alloc(2_000_000),
      "c.py": "x",
    });
    plantIn(
      dir("many"),
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d${at % 3}/f${at}`, "x"])),
    );
    plantIn(dir("repository"), { ".git/info/exclude": "*.tmp\n", ".gitignore": "/inner/out\n*.log\n" });
    plantIn(dir("repository/inner"), { "a.tmp": "x", "a.log": "x", "out/x": "x", "kept.py": "x" });
    const notes = await expectSame([
      ...["links", "secrets", "corpus", "never", "long", "large"].map((text): Case => ({ dir: dir(text) })),
      { dir: dir("large"), bytesMax: 4 << 20 },
      { dir: dir("many"), filesMax: 20 },
      { dir: dir("repository/inner") },
    ]);
    expect(notes.filter((note) => note !== "")).toHaveLength(2);
  });

  it("Y203 is kept with a run that begins in a repository, and says why there is none", () =>
    tests("test_archive"));
});
