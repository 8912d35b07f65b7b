import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TRACKED } from "#lang/words/work-tree.ts";
import { readGit, type GitOptions, type GitState } from "./git.ts";
import { fakeProgram, temporaryFolder } from "./testing/folders.ts";
import { newRepository, repositoryAt, type Repository } from "./testing/repository.ts";

const PATIENT = 30_000;

async function look(dir: string, options: Partial<GitOptions> = {}): Promise<GitState> {
  const answer = await readGit(dir, { timeoutMs: PATIENT, ...options });
  if ("cause" in answer) throw new Error(answer.cause);
  return answer.git;
}

async function causeOf(dir: string, options: Partial<GitOptions> = {}): Promise<string> {
  const answer = await readGit(dir, { timeoutMs: PATIENT, ...options });
  return "cause" in answer ? answer.cause : "";
}

/** A fresh clone with the patch applied has the same tracked files as the work tree. */
async function expectPatchToApply(repository: Repository, { commit, dirtyPatch }: GitState): Promise<void> {
  const dir = join(await temporaryFolder(), "clone");
  repository.git("clone", "--quiet", "--no-local", repository.dir, dir);
  const clone = repositoryAt(dir);
  clone.git("checkout", "--quiet", commit);
  writeFileSync(join(dir, "..", "patch"), dirtyPatch);
  clone.git("apply", "--index", join(dir, "..", "patch"));
  expect(clone.git("write-tree")).toBe(treeOf(repository));
}

/** The tree that a commit of all tracked changes would have. */
function treeOf(repository: Repository): string {
  repository.git("add", "--update");
  return repository.git("write-tree");
}

describe("readGit", () => {
  it("C24 reports commit, branch, remote and the changes, staged or not", async () => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.write("b/c.txt", "two\n");
    repository.write("gone.txt", "x\n");
    repository.write("model.bin", Buffer.from([0, 1, 2, 255]));
    const commit = repository.commit();
    repository.git("remote", "add", "origin", "https://me:hunter2@example.org/a/b.git");
    expect(await look(repository.dir)).toEqual({
      repository: "https://example.org/a/b.git",
      commit,
      branch: "main",
      dirtyPatch: "",
      trackedChanges: TRACKED.none,
      untrackedFiles: 0,
      changedSubmodules: 0,
      patchLeftOut: "",
      leftOutBytes: 0,
      root: repository.dir,
      notes: [],
    });
    repository.write("a.txt", "changed\n");
    repository.write("b/c.txt", "staged é\n");
    repository.write("new.txt", "added\n");
    repository.write("model.bin", Buffer.from([0, 1, 2, 254, 0]));
    repository.git("add", "b/c.txt", "new.txt");
    rmSync(join(repository.dir, "gone.txt"));
    repository.write("untracked.txt", "not of interest\n");
    // From within a folder the whole repository counts.
    const state = await look(join(repository.dir, "b"));
    expect(state.dirtyPatch).toContain("+changed");
    expect(state.dirtyPatch).toContain("+staged é");
    expect(state.dirtyPatch).not.toContain("not of interest");
    expect(state.notes).toEqual([]);
    await expectPatchToApply(repository, state);
  });

  it("C24 makes a patch that applies with any configuration of the user", async () => {
    const repository = await newRepository();
    repository.write("a b\tc.txt", "one\ntwo\nthree\n");
    repository.commit();
    const settings = {
      "diff.noprefix": "true",
      "diff.mnemonicPrefix": "true",
      "color.ui": "always",
      "diff.context": "0",
      "diff.wordRegex": ".",
      "diff.orderFile": "nowhere",
      "diff.relative": "true",
      "core.pager": "false",
      "diff.renames": "copies",
    };
    for (const [key, value] of Object.entries(settings)) repository.git("config", key, value);
    repository.write("a b\tc.txt", "one\n2\nthree\n");
    const state = await look(repository.dir);
    expect(state.dirtyPatch).toContain("+2");
    await expectPatchToApply(repository, state);
  });

  it("C24 supports a detached head, a repository without commits, and one of SHA-256", async () => {
    const repository = await newRepository("work", "--object-format=sha256");
    repository.write("a.txt", "one\n");
    repository.git("add", "a.txt");
    const fresh = await look(repository.dir);
    expect(fresh).toMatchObject({ commit: "", branch: "main", notes: [] });
    expect(fresh.dirtyPatch).toContain("+one");
    const commit = repository.commit();
    repository.git("checkout", "--quiet", "--detach");
    expect(await look(repository.dir)).toMatchObject({ commit, branch: "", dirtyPatch: "" });
    expect(commit).toHaveLength(64);
    const empty = await newRepository();
    expect(await look(empty.dir)).toMatchObject({ commit: "", branch: "main", dirtyPatch: "", notes: [] });
  });

  it("C24 finds the remote of the branch, of origin, or any", async () => {
    const repository = await newRepository();
    repository.git("remote", "add", "third", "git@example.org:third.git");
    expect((await look(repository.dir)).repository).toBe("git@example.org:third.git");
    repository.git("remote", "add", "origin", "/srv/origin.git");
    expect((await look(repository.dir)).repository).toBe("/srv/origin.git");
    repository.git("config", "branch.main.remote", "third");
    expect((await look(repository.dir)).repository).toBe("git@example.org:third.git");
  });

  it("C24 works in a path with a line feed, and in a second work tree", async () => {
    const repository = await newRepository("a\nb c");
    repository.write("x\ny.txt", "one\n");
    const commit = repository.commit();
    repository.write("x\ny.txt", "two\n");
    const state = await look(repository.dir);
    expect(state.root).toBe(repository.dir);
    await expectPatchToApply(repository, state);
    const second = join(repository.dir, "..", "second");
    repository.git("worktree", "add", "--quiet", "-b", "side", second, commit);
    expect(await look(second)).toMatchObject({ branch: "side", root: second, commit });
  });

  it("C24 records the commit of a submodule and does not look into it", async () => {
    const inner = await newRepository("inner");
    inner.write("a.txt", "one\n");
    inner.commit();
    const outer = await newRepository("outer");
    outer.git("submodule", "--quiet", "add", inner.dir, "sub");
    outer.commit();
    const sub = repositoryAt(join(outer.dir, "sub"));
    sub.write("a.txt", "two\n");
    expect((await look(outer.dir)).dirtyPatch).toBe("");
    const commit = sub.commit();
    expect((await look(outer.dir)).dirtyPatch).toContain(`+Subproject commit ${commit}`);
    expect((await look(sub.dir)).commit).toBe(commit);
  });

  it("C24 has no answer outside of a work tree, and gives the reason", async () => {
    expect(await causeOf(await temporaryFolder())).toContain("not a git repository");
    const bare = await newRepository("bare", "--bare");
    expect(await causeOf(bare.dir)).toContain("bare repository");
    expect(await causeOf(join(bare.dir, "nowhere"))).not.toBe("");
    const nowhere = { PATH: await temporaryFolder() };
    expect(await causeOf(bare.dir, { env: nowhere })).toContain("git is missing");
  });

  it("C24 ignores variables of git that point elsewhere", async () => {
    const [here, there] = [await newRepository("here"), await newRepository("there")];
    here.write("a", "a");
    there.write("b", "b");
    const commit = here.commit();
    there.commit();
    const env = {
      ...process.env,
      GIT_DIR: join(there.dir, ".git"),
      GIT_WORK_TREE: there.dir,
      GIT_EXTERNAL_DIFF: "false",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.bare",
      GIT_CONFIG_VALUE_0: "true",
    };
    expect((await look(here.dir, { env })).commit).toBe(commit);
  });
});

describe("a hostile repository", () => {
  /** A program that leaves a trace when it is run. */
  function trap(dir: string): { script: string; wasRun(): boolean } {
    const [script, sign] = [join(dir, "..", "trap.sh"), join(dir, "..", "sign")];
    writeFileSync(script, `#!/bin/sh\ntouch "${sign}"\ncat\n`);
    chmodSync(script, 0o755);
    return { script, wasRun: () => existsSync(sign) };
  }

  const traps: [what: string, settings: (script: string) => Record<string, string>, attributes: string][] = [
    ["a file system monitor", (script) => ({ "core.fsmonitor": script }), ""],
    ["an external diff", (script) => ({ "diff.external": script }), ""],
    ["a diff driver", (script) => ({ "diff.evil.command": script }), "* diff=evil"],
    ["a text conversion", (script) => ({ "diff.evil.textconv": script }), "* diff=evil"],
    ["a clean filter", (script) => ({ "filter.evil.clean": script }), "* filter=evil"],
    [
      "a filter process",
      (script) => ({ "filter.evil.process": script, "filter.evil.required": "true" }),
      "* filter=evil",
    ],
    ["a filter with an odd name", (script) => ({ "filter.a.b c.clean": script }), "* filter=evil"],
    ["a filter that cannot be named", (script) => ({ "filter.a=b.clean": script }), "* filter=a=b"],
    ["a pager", (script) => ({ "core.pager": script, "pager.diff": script, "pager.config": script }), ""],
    ["a path of hooks", (script) => ({ "core.hooksPath": script }), ""],
    ["an alias", (script) => ({ "alias.diff": `!${script}`, "alias.rev-parse": `!${script}` }), ""],
    ["an askpass and a helper", (script) => ({ "core.askPass": script, "credential.helper": script }), ""],
  ];

  it.each(traps)("C25 runs no program: %s", async (_what, settings, attributes) => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.commit();
    const { script, wasRun } = trap(repository.dir);
    for (const [key, value] of Object.entries(settings(script))) repository.git("config", key, value);
    repository.write(".git/info/attributes", `${attributes}\n`);
    for (const hook of ["post-index-change", "fsmonitor-watchman", "pre-auto-gc"]) {
      repository.write(`.git/hooks/${hook}`, `#!/bin/sh\n${script}\n`);
      chmodSync(join(repository.dir, ".git/hooks", hook), 0o755);
    }
    repository.write("a.txt", "two\n");
    const state = await look(repository.dir);
    expect(wasRun()).toBe(false);
    expect(state.commit).not.toBe("");
    if (state.notes.length === 0) expect(state.dirtyPatch).toContain("+two");
    else expect(state.notes[0]).toContain("filters that cannot be switched off");
  });

  it("C25 the traps would have run", async () => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.commit();
    const { script, wasRun } = trap(repository.dir);
    repository.git("config", "filter.evil.clean", script);
    repository.write(".git/info/attributes", "* filter=evil\n");
    repository.write("a.txt", "two\n");
    repository.git("diff", "HEAD");
    expect(wasRun()).toBe(true);
  });

  it("C25 runs no program of a submodule", async () => {
    const inner = await newRepository("inner");
    inner.write("a.txt", "one\n");
    inner.commit();
    const outer = await newRepository("outer");
    outer.git("submodule", "--quiet", "add", inner.dir, "sub");
    outer.commit();
    const { script, wasRun } = trap(outer.dir);
    const sub = repositoryAt(join(outer.dir, "sub"));
    sub.git("config", "core.fsmonitor", script);
    sub.git("config", "filter.evil.clean", script);
    outer.write(".git/modules/sub/info/attributes", "* filter=evil\n");
    sub.write("a.txt", "two\n");
    outer.git("config", "submodule.sub.ignore", "none");
    outer.git("config", "diff.ignoreSubmodules", "none");
    outer.git("config", "diff.submodule", "diff");
    await look(outer.dir);
    expect(wasRun()).toBe(false);
  });

  it("C25 does not fetch what a partial clone lacks", async () => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.commit();
    const { script, wasRun } = trap(repository.dir);
    const blob = repository.git("rev-parse", "HEAD:a.txt").trim();
    const settings = {
      "remote.origin.url": `ext::${script}`,
      "remote.origin.promisor": "true",
      "remote.origin.partialCloneFilter": "blob:none",
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "protocol.ext.allow": "always",
    };
    for (const [key, value] of Object.entries(settings)) repository.git("config", key, value);
    repository.write("a.txt", "two\n");
    rmSync(join(repository.dir, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    const { notes } = await look(repository.dir);
    expect(notes.join()).toContain("the patch is left out");
    expect(wasRun()).toBe(false);
  });

  it("C25 reads no file outside of its folder", async () => {
    const home = await temporaryFolder();
    writeFileSync(join(home, "diary.txt"), "private thoughts\n");
    const dir = join(home, "work");
    mkdirSync(dir);
    const repository = repositoryAt(dir);
    repository.git("init", "--quiet");
    repository.write("diary.txt", "x\n");
    repository.commit();
    repository.git("config", "core.worktree", home);
    expect(await causeOf(dir)).toContain("somewhere else");
    // A work tree given by a link is outside, too.
    const linked = await newRepository();
    linked.write("a/diary.txt", "x\n");
    linked.commit();
    rmSync(join(linked.dir, "a"), { recursive: true });
    symlinkSync(home, join(linked.dir, "a"));
    expect((await look(linked.dir)).dirtyPatch).not.toContain("private thoughts");
  });
});

describe("a patch", () => {
  it("C27 has no files that hold secrets, and no tokens", async () => {
    const repository = await newRepository();
    const files = [".env", "conf/.env.local", "deep/down/tls.pem", "ID_RSA", "x/.ssh/config", "Secrets.YAML"];
    for (const file of files) repository.write(file, "old\n");
    repository.write("train.py", "x = 1\n");
    repository.write("secrets.py", "x = 1\n");
    repository.commit();
    for (const file of files) repository.write(file, "planted-secret\n");
    repository.write("train.py", `x = 2\napi_key = "planted-secret-1"\n`);
    repository.write("secrets.py", "import os\n");
    const { dirtyPatch, notes } = await look(repository.dir);
    expect(dirtyPatch).not.toContain("planted-secret");
    expect(dirtyPatch).toContain("+x = 2");
    expect(dirtyPatch).toContain("+import os");
    expect(notes).toEqual([
      "the patch has credentials in it; they are redacted",
      "a part of the patch is left out: 6 files that may hold secrets",
    ]);
  });

  it("C26 is left out when it is too large, with a note", async () => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.commit();
    repository.write("a.txt", "x\n".repeat(2_000_000));
    const { dirtyPatch, notes } = await look(repository.dir);
    expect(dirtyPatch).toBe("");
    expect(notes).toEqual(["the patch is left out: it has more than 1 MiB"]);
  });

  it("C26 has a note when it is not UTF-8", async () => {
    const repository = await newRepository();
    repository.write("a.txt", Buffer.from("caf\xe9\n", "latin1"));
    repository.commit();
    repository.write("a.txt", Buffer.from("caf\xe8\n", "latin1"));
    const { dirtyPatch, notes } = await look(repository.dir);
    expect(dirtyPatch).toContain("+caf\ufffd");
    expect(notes.join()).toContain("not UTF-8");
  });

  it("C26 a git that hangs is ended at the deadline, in any of its calls", async () => {
    const repository = await newRepository();
    repository.write("a.txt", "one\n");
    repository.commit();
    repository.write("a.txt", "two\n");
    for (const word of ["--show-toplevel", "--list", "--verify", "symbolic-ref", "diff", "status"]) {
      const env = await fakeProgram(
        "git",
        `for one in "$@"; do [ "$one" = "${word}" ] && exec sleep 60; done; PATH="\${PATH#*:}" exec git "$@"`,
      );
      const started = performance.now();
      const answer = await readGit(repository.dir, { timeoutMs: 400, env });
      expect(performance.now() - started).toBeLessThan(40_000);
      const said = "cause" in answer ? answer.cause : answer.git.notes.join();
      expect(said, word).toMatch(/longer than \d+ ms/);
    }
  });
});
