import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./folders.ts";

/** A real repository in its own folder, made by the real git with no configuration of this machine. */
export interface Repository {
  dir: string;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  /** All that is there, tracked and committed. */
  commit(message?: string): string;
}

export async function newRepository(name = "work", ...initOptions: string[]): Promise<Repository> {
  const dir = join(await temporaryFolder(), name);
  mkdirSync(dir);
  const repository = repositoryAt(dir);
  repository.git("init", "--quiet", "--initial-branch=main", ...initOptions);
  return repository;
}

export function repositoryAt(dir: string): Repository {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "protocol.file.allow=always", ...args], {
      cwd: dir,
      encoding: "utf8",
      timeout: 60_000,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_AUTHOR_NAME: "A",
        GIT_AUTHOR_EMAIL: "a@example.org",
        GIT_COMMITTER_NAME: "A",
        GIT_COMMITTER_EMAIL: "a@example.org",
      },
    });
  return {
    dir,
    git,
    write(path, content) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    },
    commit(message = "change") {
      git("add", "--all", "--force");
      git("commit", "--quiet", "--message", message);
      return git("rev-parse", "HEAD").trim();
    },
  };
}
