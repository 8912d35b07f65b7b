import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeWorkTree, isClean, TRACKED } from "#lang/words/work-tree.ts";
import { readGit, type GitOptions, type GitState } from "../git.ts";
import { fakeProgram, temporaryFolder } from "../testing/folders.ts";
import { newRepository, repositoryAt, type Repository } from "../testing/repository.ts";

const PATIENT = 30_000;

async function look(dir: string, options: Partial<GitOptions> = {}): Promise<GitState> {
  const answer = await readGit(dir, { timeoutMs: PATIENT, ...options });
  if ("cause" in answer) throw new Error(answer.cause);
  return answer.git;
}

/** One commit with one file. */
async function committed(name?: string): Promise<Repository> {
  const repository = await newRepository(name);
  repository.write("a.txt", "one\n");
  repository.commit();
  return repository;
}

/** A repository with another one in it, at `sub`. */
async function nested(): Promise<{ outer: Repository; sub: Repository }> {
  const inner = await committed("inner");
  const outer = await committed("outer");
  outer.git("submodule", "--quiet", "add", inner.dir, "sub");
  outer.commit();
  return { outer, sub: repositoryAt(join(outer.dir, "sub")) };
}

/** A git that does not answer calls with this word. */
function slowGit(word: string): Promise<NodeJS.ProcessEnv> {
  return fakeProgram(
    "git",
    `for one in "$@"; do [ "$one" = "${word}" ] && exec sleep 60; done; PATH="\${PATH#*:}" exec git "$@"`,
  );
}

describe("the state of a work tree", () => {
  it("C240 is clean only if git said so of tracked files, untracked files and submodules", async () => {
    const { outer } = await nested();
    const state = await look(outer.dir);
    expect(state).toMatchObject({ trackedChanges: TRACKED.none, untrackedFiles: 0, changedSubmodules: 0 });
    expect(isClean(state)).toBe(true);
    outer.write(".git/info/exclude", "ignored/\n");
    outer.write("ignored/data.bin", "x");
    expect(isClean(await look(outer.dir))).toBe(true);
  });

  it("C240 counts untracked files, also in folders and with odd names, seen from any folder of the repository", async () => {
    const repository = await committed();
    for (const path of ["new.py", "deep/down/x", "deep/down/y", "deep/a\nb", "é.txt"])
      repository.write(path, "x");
    repository.write("deep/tracked", "x");
    repository.git("add", "deep/tracked");
    repository.git("commit", "--quiet", "--message", "more");
    const state = await look(join(repository.dir, "deep"));
    expect(state).toMatchObject({
      trackedChanges: TRACKED.none,
      untrackedFiles: 5,
      dirtyPatch: "",
      notes: [],
    });
    expect(describeWorkTree(state)).toBe("5 untracked files");
  });

  it("C240 counts more untracked files than fit into one answer", async () => {
    const repository = await committed();
    const name = "x".repeat(200);
    for (let i = 0; i < 6_000; i++) repository.write(`data/${name}${i}`, "");
    expect(await look(repository.dir)).toMatchObject({ untrackedFiles: 6_000, notes: [] });
  });

  it("C240 is dirty when a change is staged, merged or only a mode", async () => {
    const changes: [string, (repository: Repository) => void][] = [
      ["changed", (repository) => repository.write("a.txt", "two\n")],
      ["removed", (repository) => rmSync(join(repository.dir, "a.txt"))],
      ["a mode", (repository) => chmodSync(join(repository.dir, "a.txt"), 0o755)],
      ["staged", (repository) => (repository.write("b", "x"), repository.git("add", "b"))],
    ];
    for (const [what, change] of changes) {
      const repository = await committed();
      change(repository);
      const state = await look(repository.dir);
      expect(state.trackedChanges, what).toBe(TRACKED.some);
      expect(describeWorkTree(state), what).toBe("dirty");
    }
    const repository = await committed();
    repository.git("checkout", "--quiet", "-b", "side");
    repository.write("a.txt", "side\n");
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    repository.write("a.txt", "main\n");
    repository.commit();
    expect(() => repository.git("merge", "side")).toThrow();
    expect(await look(repository.dir)).toMatchObject({ trackedChanges: TRACKED.some });
  });

  it("C240 says how large a patch is that was left out", async () => {
    const repository = await committed();
    repository.write("a.txt", "x\n".repeat(1_100_000));
    const state = await look(repository.dir);
    expect(state).toMatchObject({
      dirtyPatch: "",
      trackedChanges: TRACKED.some,
      patchLeftOut: "it has more than 1 MiB",
    });
    // Each line has one character more in a patch.
    expect(state.leftOutBytes).toBeGreaterThan(3_300_000);
    expect(state.leftOutBytes).toBeLessThan(3_310_000);
    expect(describeWorkTree(state)).toMatch(/^dirty, patch left out \(3\.1 MiB\)$/);
  });

  it("C240 says that changed files which may hold secrets are not in the patch", async () => {
    const repository = await committed();
    repository.write(".env", "a=1\n");
    repository.commit();
    repository.write(".env", "a=2\n");
    const state = await look(repository.dir);
    expect(state).toMatchObject({
      dirtyPatch: "",
      trackedChanges: TRACKED.some,
      patchLeftOut: "1 file that may hold secrets",
    });
    expect(isClean(state)).toBe(false);
    repository.write("a.txt", "two\n");
    const both = await look(repository.dir);
    expect(both.dirtyPatch).toContain("+two");
    expect(describeWorkTree(both)).toBe("dirty, a part of the patch left out (1 file that may hold secrets)");
  });

  it("C240 counts submodules with changes, untracked files or another commit, at any depth", async () => {
    const { outer, sub } = await nested();
    sub.write("a.txt", "two\n");
    const changed = await look(outer.dir);
    expect(changed).toMatchObject({ trackedChanges: TRACKED.none, changedSubmodules: 1, dirtyPatch: "" });
    expect(describeWorkTree(changed)).toBe("1 changed submodule");
    sub.git("checkout", "--quiet", "a.txt");
    expect(isClean(await look(outer.dir))).toBe(true);
    sub.write("new.txt", "x");
    expect(await look(outer.dir)).toMatchObject({ changedSubmodules: 1, untrackedFiles: 0 });
    sub.commit();
    const moved = await look(outer.dir);
    expect(moved).toMatchObject({ trackedChanges: TRACKED.some, changedSubmodules: 1 });
    outer.commit();
    expect(isClean(await look(outer.dir))).toBe(true);
    const deepest = await committed("deepest");
    sub.git("submodule", "--quiet", "add", deepest.dir, "deep");
    sub.commit();
    outer.commit();
    expect(isClean(await look(outer.dir))).toBe(true);
    repositoryAt(join(sub.dir, "deep")).write("a.txt", "deep\n");
    expect(await look(outer.dir)).toMatchObject({ changedSubmodules: 1 });
    // As when the settings of the repository make git ignore all of it.
    outer.git("config", "submodule.sub.ignore", "all");
    outer.git("config", "diff.ignoreSubmodules", "all");
    outer.git("config", "status.showUntrackedFiles", "no");
    expect(await look(outer.dir)).toMatchObject({ changedSubmodules: 1 });
  });

  it("C240 of a submodule that was not fetched nothing can have changed", async () => {
    const { outer } = await nested();
    const dir = join(await temporaryFolder(), "clone");
    outer.git("clone", "--quiet", "--no-local", outer.dir, dir);
    expect(isClean(await look(dir))).toBe(true);
  });

  it("C240 what git has no time for is unknown, with the reason, and never clean", async () => {
    const { outer } = await nested();
    const reason = "git took longer than 2.5 s";
    const expected: [string, Partial<GitState>, string][] = [
      [
        "status",
        { trackedChanges: TRACKED.unknown, patchLeftOut: reason, untrackedFiles: 0 },
        `unknown: ${reason}`,
      ],
      [
        "--others",
        { trackedChanges: TRACKED.none, untrackedFiles: undefined },
        "no tracked changes, untracked files unknown",
      ],
      [
        "--stage",
        { trackedChanges: TRACKED.none, changedSubmodules: undefined },
        "no tracked changes, submodules unknown",
      ],
    ];
    for (const [word, state, words] of expected) {
      const found = await look(outer.dir, { timeoutMs: 2500, env: await slowGit(word) });
      expect(found, word).toMatchObject(state);
      expect(describeWorkTree(found), word).toBe(words);
      expect(found.notes.join(), word).toContain(reason);
    }
    outer.write("a.txt", "two\n");
    const late = await look(outer.dir, { timeoutMs: 2500, env: await slowGit("diff") });
    expect(late).toMatchObject({ trackedChanges: TRACKED.some, patchLeftOut: reason });
    expect(describeWorkTree(late)).toBe(`dirty, patch left out (${reason})`);
  });

  it("C240 is unknown where a filter cannot be switched off, also in a submodule", async () => {
    const { outer, sub } = await nested();
    sub.git("config", "filter.a=b.clean", "cat");
    expect(await look(outer.dir)).toMatchObject({
      trackedChanges: TRACKED.none,
      changedSubmodules: undefined,
    });
    outer.git("config", "filter.a=b.clean", "cat");
    const state = await look(outer.dir);
    expect(state).toMatchObject({ trackedChanges: TRACKED.unknown, untrackedFiles: 0 });
    expect(describeWorkTree(state)).toBe("unknown: the repository has filters that cannot be switched off");
  });

  it("C25 runs no program that a submodule names", async () => {
    const { outer, sub } = await nested();
    const [script, sign] = [join(outer.dir, "../trap.sh"), join(outer.dir, "../sign")];
    writeFileSync(script, `#!/bin/sh\ntouch "${sign}"\ncat\n`);
    chmodSync(script, 0o755);
    for (const key of ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.external"]) {
      sub.git("config", key, script);
    }
    outer.write(".git/modules/sub/info/attributes", "* filter=evil\n");
    for (const hook of ["post-index-change", "fsmonitor-watchman"]) {
      outer.write(`.git/modules/sub/hooks/${hook}`, `#!/bin/sh\n${script}\n`);
      chmodSync(join(outer.dir, ".git/modules/sub/hooks", hook), 0o755);
    }
    sub.write("a.txt", "two\n");
    expect(await look(outer.dir)).toMatchObject({ changedSubmodules: 1 });
    expect(existsSync(sign)).toBe(false);
    sub.git("status");
    expect(existsSync(sign)).toBe(true);
  });

  it("C25 looks into no folder that a submodule configures elsewhere", async () => {
    const { outer, sub } = await nested();
    const home = await temporaryFolder();
    sub.git("config", "core.worktree", home);
    expect(await look(outer.dir)).toMatchObject({ changedSubmodules: undefined });
  });
});
