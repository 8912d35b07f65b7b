import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { archiveWorkdir } from "./archive.ts";
import { plant, unpack } from "../testing/archives.ts";
import { temporaryFolder } from "../testing/folders.ts";
import { newRepository } from "../testing/repository.ts";

const NOBODY = 65_534;

/** The superuser may read everything: it runs as another user meanwhile, who may write in the folder. */
async function asNobody<T>(folder: string, work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  chownSync(folder, NOBODY, NOBODY);
  process.seteuid!(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

describe("archiveWorkdir", () => {
  it("S30 C27 C39 redacts the values of secret variables", async () => {
    const values = { HF_TOKEN: "zQ81kfj2LmPq77xNv0aa", DB_PASSWORD: "grün-8Zq1x" };
    const text = Object.values(values).map((value) => `call("${value}")\n`);
    const { dir, target } = await plant({ "train.py": text.join("") });
    const archive = await archiveWorkdir(dir, target, { env: values });
    expect(await unpack(archive)).toEqual({ "train.py": 'call("[redacted]")\n'.repeat(2) });
  });

  it("C30 holds the working directory", async () => {
    const name = `${"long/".repeat(40)}é\n😀.txt`;
    const { dir, target } = await plant({ "a.ts": "one", "b/c d.txt": "two", empty: "", [name]: "three" });
    writeFileSync(join(dir, "run.sh"), "#!/bin/sh\n");
    chmodSync(join(dir, "run.sh"), 0o4755);
    linkSync(join(dir, "a.ts"), join(dir, "hard.ts"));
    const archive = await archiveWorkdir(dir, target);
    expect(archive).toMatchObject({ path: target, files: 6, left: [], leftCount: 0 });
    expect(archive.sizeBytes).toBe(statSync(target).size);
    expect(await unpack(archive)).toEqual({
      "a.ts": "one",
      "b/c d.txt": "two",
      empty: "",
      [name]: "three",
      "run.sh": "#!/bin/sh\n",
      "hard.ts": "one",
    });
    const listing = execFileSync("tar", ["-tvzf", target], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], TZ: "UTC" },
    });
    expect(listing.match(/ 1970-01-01 /g)).toHaveLength(6);
    expect(listing).toMatch(/-rwxr-xr-x .* run\.sh/);
    expect(listing).toMatch(/-rw-r--r-- .* a\.ts/);
  });

  it("C30 leaves out what is ignored, version control and installed packages", async () => {
    const { dir, target } = await plant({
      ".gitignore": "*.log\n/out/\n!keep.log\n",
      "a.ts": "1",
      "a.log": "1",
      "keep.log": "1",
      "out/x": "1",
      "src/out/x": "1",
      "src/.gitignore": "x\n!*.log\n",
      "src/b.log": "1",
      "node_modules/x/index.js": "1",
      "src/node_modules/y.js": "1",
      ".git/config": "1",
      ".git/info/exclude": "excluded\n",
      excluded: "1",
      ".venv/bin/python": "1",
      "src/__pycache__/x.pyc": "1",
      ".hg/x": "1",
    });
    const files = Object.keys(await unpack(await archiveWorkdir(dir, target))).sort();
    expect(files).toEqual([".gitignore", "a.ts", "keep.log", "src/.gitignore", "src/b.log"]);
  });

  it("C30 follows .cairnignore where there is one", async () => {
    const { dir, target } = await plant({
      ".gitignore": "*.csv\n",
      ".cairnignore": "*.bin\nnotes/\n",
      "a.csv": "1",
      "a.bin": "1",
      "notes/x": "1",
      "sub/.gitignore": "*\n",
      "sub/b.csv": "1",
      "sub/.cairnignore": "c.*\n",
      "sub/c.csv": "1",
    });
    const files = Object.keys(await unpack(await archiveWorkdir(dir, target))).sort();
    expect(files).toEqual([
      ".cairnignore",
      ".gitignore",
      "a.csv",
      "sub/.cairnignore",
      "sub/.gitignore",
      "sub/b.csv",
    ]);
  });

  it("C29 holds what git would add, in a folder of a repository, too", async () => {
    const repository = await newRepository();
    const rules: Record<string, string> = {
      ".gitignore": "*.log\n/deep/er/x.txt\nbuild/\n!deep/er/build/\n",
      "deep/.gitignore": "!a.log\ny.txt\n",
      "deep/er/.gitignore": "!y.txt\n",
    };
    for (const [path, text] of Object.entries(rules)) repository.write(path, text);
    repository.write(".git/info/exclude", "z.txt\n");
    for (const name of ["a.log", "b.log", "x.txt", "y.txt", "z.txt", "build/q", "plain"])
      for (const folder of ["", "deep/", "deep/er/"]) repository.write(folder + name, "1");
    for (const folder of ["", "deep", "deep/er"]) {
      const dir = join(repository.dir, folder);
      const theirs = execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], {
        cwd: dir,
        encoding: "utf8",
      });
      const target = join(await temporaryFolder(), "x.tar.gz");
      const ours = Object.keys(await unpack(await archiveWorkdir(dir, target)));
      expect(ours.sort()).toEqual(
        theirs
          .split("\0")
          .filter((path) => path !== "")
          .sort(),
      );
    }
  });

  it("C27 has no files that hold secrets, and notes it", async () => {
    const { dir, target } = await plant({
      ".cairnignore": "!.env\n!*.pem\n",
      ".env": "planted",
      "conf/.env.local": "planted",
      "conf/tls.pem": "planted",
      "home/.ssh/config": "planted",
      ID_RSA: "planted",
      "secrets.ts": "code",
    });
    const archive = await archiveWorkdir(dir, target);
    expect(Object.keys(await unpack(archive)).sort()).toEqual([".cairnignore", "secrets.ts"]);
    expect(archive.left.map(({ path }) => path).sort()).toEqual([
      ".env",
      "ID_RSA",
      "conf/.env.local",
      "conf/tls.pem",
      "home/.ssh",
    ]);
    for (const { why } of archive.left) expect(why).toBe("it may hold secrets");
  });

  it("C30 keeps links that stay inside, and neither others nor special files", async () => {
    const { dir, target } = await plant({ "a/b.txt": "1", "c.txt": "1" });
    writeFileSync(join(dir, "..", "outside.txt"), "planted");
    const links = {
      "to-file": "a/b.txt",
      "a/up": "../c.txt",
      "to-folder": "a",
      "to-nowhere": "a/later.txt",
      "bad-absolute": join(dir, "c.txt"),
      "bad-up": "../outside.txt",
      "bad-through": "bad-folder/outside.txt",
      "bad-folder": "..",
      "a/bad-deep": "../../job/../outside.txt",
      "bad-nowhere": "../nowhere",
      "bad-and-back": "../job/c.txt",
      "bad-loop": "bad-loop",
      "bad-proc": "/proc/self/environ",
    };
    for (const [path, to] of Object.entries(links)) symlinkSync(to, join(dir, path));
    const server = createServer().listen(join(dir, "socket"));
    await once(server, "listening");
    const archive = await archiveWorkdir(dir, target);
    expect(await unpack(archive)).toEqual({
      "a/b.txt": "1",
      "c.txt": "1",
      "to-file": "-> a/b.txt",
      "a/up": "-> ../c.txt",
      "to-folder": "-> a",
      "to-nowhere": "-> a/later.txt",
    });
    const left = Object.fromEntries(archive.left.map(({ path, why }) => [path, why]));
    server.close();
    expect(left["socket"]).toBe("it is neither a file nor a folder");
    expect(Object.keys(left).filter((path) => path.includes("bad-"))).toHaveLength(9);
  });

  it("C30 leaves out what it may not read", async () => {
    const { dir, target } = await plant({ a: "1", b: "1" });
    chmodSync(join(dir, "a"), 0);
    const archive = await asNobody(dirname(dir), () => archiveWorkdir(dir, target));
    expect(Object.keys(await unpack(archive))).toEqual(["b"]);
  });

  it("C30 does not archive itself", async () => {
    const { dir } = await plant({ a: "1" });
    const target = join(dir, "archive.tar.gz");
    await archiveWorkdir(dir, target);
    const again = await archiveWorkdir(dir, target);
    expect(Object.keys(await unpack(again))).toEqual(["a"]);
    // The same folder by another path.
    symlinkSync(dir, join(dir, "..", "link"));
    const linked = await archiveWorkdir(join(dir, "..", "link"), join(dir, "..", "link", "archive.tar.gz"));
    expect(Object.keys(await unpack(linked))).toEqual(["a"]);
  });
});

describe("limits of an archive", () => {
  it("C31 a directory with too many bytes has none, and a note names the largest", async () => {
    const { dir, target } = await plant({ small: "x", "data/large.bin": "", "data/larger.bin": "" });
    truncateSync(join(dir, "data/large.bin"), 40 << 20);
    truncateSync(join(dir, "data/larger.bin"), 50 << 20);
    const archive = await archiveWorkdir(dir, target);
    expect(archive).toMatchObject({ sizeBytes: 0, files: 0 });
    expect(archive.path).toBeUndefined();
    expect(archive.note).toBe(
      `"${dir}" has 90.0 MiB in 3 files, more than 64.0 MiB; the largest are "data/larger.bin" (50.0 MiB), "data/large.bin" (40.0 MiB), "small" (1 B); list what is not code in .cairnignore`,
    );
    expect(readdirSync(dirname(target))).toEqual(["job"]);
    writeFileSync(join(dir, ".cairnignore"), "data/\n");
    expect(await unpack(await archiveWorkdir(dir, target))).toHaveProperty("small");
  });

  it("C31 a directory with too many files has none, and a note names where they are", async () => {
    const { dir, target } = await plant({
      a: "1",
      ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`cache/${at}`, "1"])),
    });
    const { note, path } = await archiveWorkdir(dir, target, { filesMax: 20 });
    expect(path).toBeUndefined();
    expect(note).toContain(`has more than 20 files, most of those seen in "cache/" (20)`);
  });

  it("C31 one that takes too long or is canceled leaves the previous one", async () => {
    const { dir, target } = await plant({ a: "x".repeat(1 << 20) });
    writeFileSync(target, "before");
    const late = await archiveWorkdir(dir, target, { timeoutMs: 0 });
    expect(late.note).toBe("the archive took longer than 0 s");
    const off = await archiveWorkdir(dir, target, { signal: AbortSignal.abort() });
    expect(off.note).toBe("the archive was canceled");
    expect(readFileSync(target, "utf8")).toBe("before");
    expect(readdirSync(dirname(target)).sort()).toEqual(["archive.tar.gz", "job"]);
  });

  it("C26 notes errors instead of throwing", async () => {
    const { dir, target } = await plant({ a: "1" });
    expect((await archiveWorkdir(join(dir, "nowhere"), target)).note).toMatch(/^cannot archive ".*ENOENT/);
    expect((await archiveWorkdir(dir, join(dir, "no/such/folder"))).note).toMatch(
      /^cannot archive ".*ENOENT/,
    );
    expect((await archiveWorkdir(join(dir, "a"), target)).note).toBeDefined();
  });

  it.runIf(existsSync("/dev/full"))("C26 ends on a full disk", async () => {
    const { dir } = await plant({ a: "1" });
    writeFileSync(
      join(dir, "noise"),
      Buffer.from(Array.from({ length: 3 << 20 }, (_, at) => (at * 7919) >> 5)),
    );
    const folder = await temporaryFolder();
    symlinkSync("/dev/full", join(folder, `x.${process.pid}.part`));
    const { note } = await archiveWorkdir(dir, join(folder, "x"));
    expect(note).toMatch(/^cannot archive ".*ENOSPC/);
  });
});
