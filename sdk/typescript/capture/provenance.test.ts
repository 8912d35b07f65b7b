import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { arch, hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectProvenance, isWorthArchiving, startCollecting, type CollectOptions } from "./provenance.ts";
import { REDACTED } from "./secrets/secret-rules.ts";
import { fakeProgram, temporaryFolder } from "./testing/folders.ts";
import { H200_MODEL } from "./testing/recorded.ts";
import { newRepository } from "./testing/repository.ts";
import { dose } from "../../../tools/dose.ts";

const PATIENT = { gitTimeoutMs: 30_000, gpuTimeoutMs: 30_000 };
const PATH = process.env["PATH"];

async function environmentOf(options: CollectOptions): Promise<Record<string, string>> {
  const { provenance } = await collectProvenance({ ...PATIENT, env: { PATH }, ...options });
  return provenance.environment ?? {};
}

function write(dir: string, path: string, content: unknown): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), typeof content === "string" ? content : JSON.stringify(content));
}

describe("collectProvenance", () => {
  it("C28 names machine, system and Node", async () => {
    const environment = await environmentOf({ dir: await temporaryFolder() });
    expect(environment).toMatchObject({ host: hostname(), arch: arch(), node: process.version });
    expect(environment["os"]).toMatch(/^\w+ \S+/);
    expect(Number(environment["cpu.count"])).toBeGreaterThan(0);
    expect(Number(environment["memory.bytes"])).toBeGreaterThan(1 << 20);
    expect(Object.keys(environment).filter((key) => key.startsWith("note:"))).toEqual([]);
  });

  it("C28 names GPUs and their driver", async () => {
    const env = await fakeProgram(
      "nvidia-smi",
      `printf '%s1, NVIDIA H100, 580.159.04, [N/A]\\n' '${H200_MODEL}'`,
    );
    expect(await environmentOf({ dir: await temporaryFolder(), env })).toMatchObject({
      "gpu.0": "NVIDIA H200",
      "gpu.0.memory.bytes": String(143771 * (1 << 20)),
      "gpu.1": "NVIDIA H100",
      "gpu.driver": "580.159.04",
    });
  });

  it("C28 names packages as they are installed", async () => {
    const dir = await temporaryFolder();
    write(dir, "package.json", {
      dependencies: { a: "^1.0.0", "@x/b": "^2.0.0", c: "git+https://me:planted@host/c.git" },
      devDependencies: { d: "*" },
    });
    write(dir, "package-lock.json", { packages: { "": {}, "node_modules/a": { version: "1.0.1" } } });
    write(dir, "node_modules/.package-lock.json", {
      packages: {
        "node_modules/a": { version: "1.2.3" },
        "node_modules/@x/b": { version: "2.3.4" },
        "node_modules/a/node_modules/z": { version: "9.9.9" },
        "node_modules/transitive": { version: "0.0.1" },
        "node_modules/linked": { link: true },
      },
    });
    write(dir, "node_modules/d/package.json", { version: "4.5.6" });
    mkdirSync(join(dir, "deep/er"), { recursive: true });
    const environment = await environmentOf({ dir: join(dir, "deep/er"), host: false });
    expect(environment).toEqual({
      "package:a": "1.2.3",
      "package:@x/b": "2.3.4",
      "package:c": "git+https://host/c.git",
      "package:d": "4.5.6",
      "package:transitive": "0.0.1",
    });
  });

  it("C28 reads the lock file where nothing is installed, and ignores a broken one", async () => {
    const dir = await temporaryFolder();
    write(dir, "package.json", { dependencies: { a: "^1.0.0", b: "~2" } });
    write(dir, "package-lock.json", { packages: { "node_modules/a": { version: "1.0.1" } } });
    expect(await environmentOf({ dir, host: false })).toEqual({ "package:a": "1.0.1", "package:b": "~2" });
    write(dir, "package-lock.json", "{");
    expect(await environmentOf({ dir, host: false })).toEqual({ "package:a": "^1.0.0", "package:b": "~2" });
    write(dir, "package.json", { dependencies: "none" });
    expect(await environmentOf({ dir, host: false })).toEqual({});
  });

  it("C23 records only listed variables", async () => {
    const env = {
      PATH,
      CUDA_VISIBLE_DEVICES: "0,1",
      WORLD_SIZE: "8",
      SLURM_JOB_ID: "4711",
      NCCL_DEBUG: "INFO",
      HOME: "/home/user",
      MY_SETTING: "x",
      RANK: "3",
      SLURM_PROCID: "3",
      SLURM_JWT: "planted",
      TORCHX_TRACKER_X_CONFIG: "planted",
      TORCHX_SECRET: "planted",
      NODE_OPTIONS: "--title=https://me:planted@host",
      SLURM_JOB_COMMENT: "Bearer planted-token",
      TORCH_LOGS: "x".repeat(2000),
    };
    const environment = await environmentOf({ dir: await temporaryFolder(), env, host: false });
    expect(environment).toEqual({
      "env:CUDA_VISIBLE_DEVICES": "0,1",
      "env:NCCL_DEBUG": "INFO",
      "env:SLURM_JOB_ID": "4711",
      "env:WORLD_SIZE": "8",
    });
  });

  it("C24 records code, command and where in the repository it ran", async () => {
    const repository = await newRepository();
    repository.write("examples/train.ts", "one\n");
    const commit = repository.commit();
    repository.git("remote", "add", "origin", "git@example.org:a/b.git");
    repository.write("examples/train.ts", "two\n");
    const dir = join(repository.dir, "examples");
    const command = ["node", "train.ts", "--lr", "0.1", "--token", "planted"];
    const { provenance, archive } = await collectProvenance({ ...PATIENT, dir, env: { PATH }, command });
    expect(provenance.code).toMatchObject({ repository: "git@example.org:a/b.git", commit, branch: "main" });
    expect(provenance.code?.dirtyPatch).toContain("+two");
    expect(provenance.command).toEqual(["node", "train.ts", "--lr", "0.1", "--token", REDACTED]);
    expect(provenance.environment).toMatchObject({ directory: "examples" });
    expect(archive).toBeUndefined();
  });

  it("C24 records the command of this process by default", async () => {
    const { provenance } = await collectProvenance({ ...PATIENT, dir: await temporaryFolder() });
    expect(provenance.command?.[0]).toBe(process.execPath);
    expect(provenance.command?.length).toBe(process.execArgv.length + process.argv.length);
  });

  it("C26 collects no part that is switched off", async () => {
    const repository = await newRepository();
    repository.write("a", "1");
    repository.commit();
    repository.write("a", "2");
    const off = { host: false, packages: false, gpu: false, variables: false };
    const without = await collectProvenance({ dir: repository.dir, git: false, ...off, command: [] });
    expect(without).toEqual({ provenance: { command: [], environment: {} } });
    const noPatch = await collectProvenance({ ...PATIENT, dir: repository.dir, patch: false, ...off });
    expect(noPatch.provenance.code).toMatchObject({ branch: "main", dirtyPatch: "" });
  });

  it("C26 leaves out parts that take too long or fail, with a note, and has the rest", async () => {
    const repository = await newRepository();
    repository.write("a", "1");
    repository.commit();
    const slow = await fakeProgram("nvidia-smi", "exec sleep 60");
    const both = await fakeProgram("git", "exec sleep 60");
    const env = { ...slow, PATH: `${slow.PATH.split(":")[0]}:${both.PATH}` };
    const started = performance.now();
    const { provenance } = await collectProvenance({
      dir: repository.dir,
      env,
      gitTimeoutMs: 300,
      gpuTimeoutMs: 300,
      archive: { target: join(repository.dir, "..", "x.tar.gz"), sizeBytesMax: 0 },
    });
    expect(performance.now() - started).toBeLessThan(40_000);
    expect(provenance.code).toEqual({ patchLeftOut: "git took longer than 300 ms" });
    expect(provenance.environment).toMatchObject({
      host: hostname(),
      "note:git": "left out: git took longer than 300 ms",
      "note:gpu": "left out: it took longer than 300 ms",
      "note:archive": expect.stringContaining("the largest are"),
    });
  });

  it("C242 has what is known at any time, and says what is missing when nothing more will come", async () => {
    const repository = await newRepository();
    const env = { ...(await fakeProgram("git", "exec sleep 60")), NODE_ENV: "test" };
    const collecting = startCollecting({ dir: repository.dir, env, gitTimeoutMs: 500 });
    expect(collecting.soFar().command?.[0]).toBe(process.execPath);
    await expect.poll(() => collecting.soFar().environment).toMatchObject({ "env:NODE_ENV": "test" });
    await expect.poll(() => collecting.soFar("too early").code).toEqual({ patchLeftOut: "too early" });
    expect(collecting.soFar().code).toBeUndefined();
    expect(collecting.soFar("too early").environment).toMatchObject({ "note:git": "left out: too early" });
    expect(Object.keys(collecting.soFar().environment!)).not.toContain("note:git");
    const { provenance } = await collecting.whole;
    expect(provenance.code).toEqual({ patchLeftOut: "git took longer than 500 ms" });
    expect(collecting.soFar("too late")).toEqual(provenance);
  });

  it("C243 names the user of the operating system", async () => {
    const { provenance } = await collectProvenance({ ...PATIENT, dir: await temporaryFolder() });
    expect(provenance.user).toBe(userInfo().username);
  });

  it("C26 survives a missing directory and an endless command", async () => {
    const command = Array.from({ length: 5000 }, () => "x".repeat(100));
    const { provenance } = await collectProvenance({
      dir: "/nonexistent/dir",
      command: [...command, "\ud800"],
    });
    expect(provenance.command).toHaveLength(1000);
    expect(provenance.environment?.["note:command"]).toBe("cut off after 1000 words");
    const long = await collectProvenance({ dir: "/nonexistent", command: ["x".repeat(1 << 20), "\ud800"] });
    expect(long.provenance.command?.[0]?.length).toBeLessThan(70_000);
    expect(long.provenance.command?.[1]).toBe("\ufffd");
    const huge = await collectProvenance({
      dir: "/nonexistent",
      command: command.map(() => "x".repeat(5_000)),
    });
    expect(huge.provenance.command).toHaveLength(209);
    expect(huge.provenance.environment?.["note:command"]).toBe("cut off after 209 words");
  });

  it("C30 writes an archive to the given path", async () => {
    const repository = await newRepository();
    repository.write("a", "1");
    const folder = await temporaryFolder();
    const target = join(folder, "code.tar.gz");
    const { archive } = await collectProvenance({ ...PATIENT, dir: repository.dir, archive: { target } });
    expect(archive).toMatchObject({ path: target, files: 1 });
    expect(readdirSync(folder)).toEqual(["code.tar.gz"]);
  });

  it("C30 by default a directory is archived only inside a repository", async () => {
    const repository = await newRepository();
    mkdirSync(join(repository.dir, "sub"));
    expect(await isWorthArchiving(join(repository.dir, "sub"))).toBe(true);
    expect(await isWorthArchiving(await temporaryFolder())).toBe(false);
    expect(await isWorthArchiving("/")).toBe(false);
  });
});

describe("planted secrets", () => {
  it("C22, C23, C27: are never recorded", async () => {
    const secret = fc
      .string({ minLength: 12, maxLength: 30, unit: fc.constantFrom(..."abcdefghXYZ0123456789".split("")) })
      .map((text) => `Zq9x${text}`);
    const name = fc.constantFrom(
      "HF_TOKEN",
      "AWS_SECRET_ACCESS_KEY",
      "DB_PASSWORD",
      "SLURM_API_KEY",
      "TORCHX_AUTH",
    );
    const repository = await newRepository();
    repository.write("train.py", "x = 1\n");
    repository.write(".env", "x = 1\n");
    repository.write("package.json", JSON.stringify({ name: "x" }));
    repository.commit();
    await fc.assert(
      fc.asyncProperty(secret, name, async (value, variable) => {
        repository.git("config", "remote.origin.url", `https://me:${value}@example.org/a.git`);
        repository.write("train.py", `x = 2\napi_key = "${value}"\n# ${value} in ${variable}\n`);
        repository.write(".env", `${variable}=${value}\n`);
        repository.write(
          "package.json",
          JSON.stringify({ dependencies: { a: `https://${value}@host/a.tgz` } }),
        );
        const { provenance } = await collectProvenance({
          ...PATIENT,
          dir: repository.dir,
          gpu: false,
          env: { PATH, [variable]: value, NODE_OPTIONS: `--title=${value}`, LANG: value, MY_SETTING: value },
          command: [
            "node",
            "train.ts",
            value,
            `--x=${value}`,
            "--token",
            value,
            `--url=https://h/?sig=${value}`,
          ],
        });
        expect(provenance.code?.commit).not.toBe("");
        expect(provenance.code?.dirtyPatch).toContain("+x = 2");
        expect(inspect(provenance, { depth: 9, maxStringLength: null })).not.toContain(value);
      }),
      { numRuns: dose(5, 50) },
    );
  });
});
