import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openInstallFiles } from "#server/web/install-files.ts";
import { startServer } from "#server/testing/servers.ts";
import type { Server } from "#server/serve.ts";
import { writeClientWheel } from "../../../tools/package/client-wheel.ts";
import { ROOT } from "../../../tools/sources.ts";
import { PACKAGE, python } from "../python.ts";

const run = promisify(execFile);
const COMMAND_MS_MAX = 200_000;

/** Facts of wheels, as Python reads them. */
const READ_WHEELS = `
import email, json, sys, zipfile
from pip._vendor.packaging.requirements import Requirement
def plain(name, value): return name, str(Requirement(value)) if name == "Requires-Dist" else value
found = []
for path in sys.argv[1:]:
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None
    files = {name: archive.read(name).decode() for name in archive.namelist()}
    info = next(name.split("/")[0] for name in files if ".dist-info/" in name)
    metadata = email.message_from_string(files.pop(info + "/METADATA"))
    wheel = email.message_from_string(files.pop(info + "/WHEEL"))
    record = sorted(line.split(",")[0] for line in files.pop(info + "/RECORD").split())
    del metadata["Dynamic"], wheel["Generator"]
    headers = sorted(plain(name, value) for name, value in metadata.items())
    found.append({"files": files, "record": record, "wheel": sorted(wheel.items()), "headers": headers, "readme": metadata.get_payload()})
print(json.dumps(found))
`;

describe("the package of the Python client", () => {
  let folder: string;
  let dist: string;
  let wheel: string;
  let server: Server;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "cairn-install-"));
    dist = join(folder, "dist");
    wheel = await writeClientWheel(dist);
    server = await startServer([], { install: openInstallFiles(dist) });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  /** A repository with the sources of the package, outside the checkout. */
  async function clone(name: string): Promise<string> {
    const top = join(folder, name);
    mkdirSync(join(top, "sdk"), { recursive: true });
    cpSync(join(ROOT, ".gitignore"), join(top, ".gitignore"));
    cpSync(PACKAGE, join(top, "sdk", "python"), {
      recursive: true,
      filter: (path) => !/(?:__pycache__|\.egg-info|\.mypy_cache|\.ruff_cache|\/build|\/dist)$/.test(path),
    });
    const git = (...words: string[]) =>
      run("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: top });
    await git("init", "-q");
    await git("add", "-A");
    await git("commit", "-qm", "all");
    return top;
  }

  function pip(words: readonly string[], cwd: string) {
    return run(python(), ["-m", "pip", "--disable-pip-version-check", ...words], {
      cwd,
      timeout: COMMAND_MS_MAX,
    });
  }

  it("T220 has what setuptools would write", async () => {
    const top = await clone("for-wheel");
    await pip(
      ["wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", "built", "./sdk/python"],
      top,
    );
    const theirs = join(top, "built", basename(wheel));
    const { stdout } = await run(python(), ["-c", READ_WHEELS, wheel, theirs], { maxBuffer: 64 << 20 });
    const [ours, expected] = JSON.parse(stdout) as Record<string, unknown>[];
    expect(Object.keys(ours!["files"] as object).toSorted()).toEqual(
      Object.keys(expected!["files"] as object).toSorted(),
    );
    expect(ours).toEqual(expected);
  });

  it("T234 an installation from the checkout leaves nothing untracked in it", async () => {
    const top = await clone("for-checkout");
    const options = [
      "--no-deps",
      "--no-index",
      "--no-build-isolation",
      "-q",
      "--target",
      join(folder, "target"),
    ];
    await pip(["install", ...options, "./sdk/python"], top);
    const { stdout } = await run("git", ["status", "--porcelain"], { cwd: top });
    expect(stdout).toBe("");
  });

  it("T233 is installed into an empty environment, from the server or from a file, and its README works there", async () => {
    const here = join(folder, "walk");
    mkdirSync(here);
    await run(python(), ["-m", "venv", join(here, "venv")], { timeout: COMMAND_MS_MAX });
    const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
    // The extra has its own test, with the packages that it brings.
    const [before, , ...after] = readme.split(/^(?=## The server|## TorchX)/m);
    const blocks = [...`${before}${after.join("")}`.matchAll(/^```(\w+)\n(.*?)^```/gms)];
    const script = ["set -e", "trap 'echo failed: $BASH_COMMAND >&2' ERR"];
    for (const [, language, text] of blocks) {
      if (language === "python") writeFileSync(join(here, /^# (\S+)/.exec(text!)![1]!), text!);
      if (language === "sh") script.push(text!.replaceAll("http://HOST:4700", server.listening.url));
    }
    // What a registry would be asked for comes from the built file.
    const lines = script
      .join("\n")
      .replace("pip install cairn-tracker", `pip install --find-links ${dist} cairn-tracker`);
    expect(lines).toContain(`--find-links ${server.listening.url}/install/ cairn-tracker`);
    const env = {
      HOME: here,
      PATH: `${join(here, "venv", "bin")}:${process.env["PATH"]}`,
      PIP_NO_INDEX: "1",
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
    };
    const { stdout } = await run("bash", ["-c", lines], { cwd: here, env, timeout: COMMAND_MS_MAX });
    expect(stdout).toContain("Successfully installed cairn-tracker-0.1.0");
    expect(stdout).toContain("No problems found.");
    expect(stdout).toMatch(/^first +✓ finished/m);
    expect(stdout).toMatch(/^trained$/m);
    expect(stdout).toMatch(/^✓ first \(\w{16}\): \d+ of \d+ envelopes, 0 gaps, 100 points read back$/m);
    expect(stdout).toContain("nothing to deliver in");
    const serving = run("bash", ["-c", "cairn serve"], { cwd: here, env });
    await expect(serving).rejects.toMatchObject({
      stderr: 'cairn: `cairn serve` needs pip install "cairn-tracker[server]"\n',
    });
    const link = `${server.listening.url}/install/${basename(wheel)}`;
    const target = join(here, "target");
    await run("bash", ["-c", `pip install -q --target ${target} ${link}`], { cwd: here, env });
    expect(readFileSync(join(target, "cairn", "version.py"), "utf8")).toContain("0.1.0");
  });
});
