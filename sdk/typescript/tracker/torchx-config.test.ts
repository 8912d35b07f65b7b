import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PythonConfig } from "./python-config.ts";
import { configuredTrackers, findTorchxConfigs } from "./torchx-config.ts";
import { cpuMs } from "#base/cpu-ms.ts";

describe("the trackers of .torchxconfig", () => {
  let dir: string;
  let home: string;
  let cwd: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "cairn-torchxconfig-"));
    home = join(dir, "home");
    cwd = join(dir, "project");
  });
  beforeEach(async () => {
    for (const each of [home, cwd]) {
      await rm(each, { recursive: true, force: true });
      await mkdir(each);
    }
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const at = (path: string, text: string | Buffer) => writeFile(join(path, ".torchxconfig"), text);
  const configured = (env: Record<string, string> = {}) =>
    configuredTrackers({ env: { HOME: home, ...env }, cwd });

  it("X14 the value is the factory, and the key where it is empty", async () => {
    await at(
      cwd,
      "[torchx:tracker]\ncairn = cairn\nmlflow =\nmine = ./tracker.ts:create\n[tracker:mine]\nconfig = x y\n",
    );
    expect(await configured()).toEqual(
      new Map([
        ["cairn", { factory: "cairn", config: null }],
        ["mlflow", { factory: "mlflow", config: null }],
        ["mine", { factory: "./tracker.ts:create", config: "x y" }],
      ]),
    );
  });

  it("X14 what is set at home overrides the project, key by key", async () => {
    await at(home, "[torchx:tracker]\na = home\n[tracker:a]\nconfig = home\n");
    await at(
      cwd,
      "[torchx:tracker]\nb = project\na = project\n[tracker:a]\nconfig = project\n[tracker:b]\nconfig = b\n",
    );
    expect(await configured()).toEqual(
      new Map([
        ["a", { factory: "home", config: "home" }],
        ["b", { factory: "project", config: "b" }],
      ]),
    );
  });

  it("X14 the environment overrides the files", async () => {
    await at(
      cwd,
      "[torchx:tracker]\na = factory-a\nb =\n[tracker:a]\nconfig = file\n[tracker:c]\nconfig = c\n",
    );
    expect(await configured({ TORCHX_TRACKERS: "c,a", TORCHX_TRACKER_A_CONFIG: "env" })).toEqual(
      new Map([
        ["c", { factory: "c", config: "c" }],
        ["a", { factory: "factory-a", config: "env" }],
      ]),
    );
  });

  it("X14 TORCHXCONFIG names the only file, or none", async () => {
    await at(home, "[torchx:tracker]\na =\n");
    const other = join(dir, "other.ini");
    await writeFile(other, "[torchx:tracker]\nb =\n");
    expect([...(await configured({ TORCHXCONFIG: other })).keys()]).toEqual(["b"]);
    expect(await configured({ TORCHXCONFIG: "" })).toEqual(new Map());
    await expect(configured({ TORCHXCONFIG: join(dir, "absent") })).rejects.toThrow(
      /cannot use TORCHXCONFIG ".*absent"/,
    );
    await expect(findTorchxConfigs({ env: { TORCHXCONFIG: dir } })).rejects.toThrow("is not a file");
    expect(await findTorchxConfigs({ env: { HOME: home }, cwd })).toEqual([join(home, ".torchxconfig")]);
  });

  it.each([
    ["a = 1\n", "line 1: there is no [section] before it"],
    ["\ufeff[a]\n", "line 1: there is no [section] before it"],
    ["[a]\nb = 1\n[a]\n", 'line 3: duplicate section "a"'],
    ["[a]\nb = 1\nb: 2\n", 'line 3: duplicate option "b"'],
    ["[a]\nb\n", 'line 2: it has neither "=" nor ":"'],
    ["[a]\n= b\n", "line 2: it has no name"],
    ["[torchx:tracker]\na = %(b)s\n", 'refers to "b", which does not exist'],
    ["[torchx:tracker]\na = 100%\n", 'a "%" without a reference'],
    ["[torchx:tracker]\na = %(a)s\n", "refers to itself"],
  ])("X14 names file and fault of %j", async (text, fault) => {
    await at(cwd, text);
    await expect(configured()).rejects.toThrow(`cannot read "${join(cwd, ".torchxconfig")}": `);
    await expect(configured()).rejects.toThrow(fault);
  });

  it("X14 refuses invalid UTF-8", async () => {
    await at(cwd, Buffer.from([0x5b, 0x61, 0x5d, 0xff]));
    await expect(configured()).rejects.toThrow("cannot read");
  });

  it("X14 a megabyte of spaces takes no time", () => {
    const started = cpuMs();
    const config = PythonConfig.parse(`[a]\nb = x${" ".repeat(2 ** 20)}y${" ".repeat(2 ** 20)}\n`);
    expect(config.items("a").get("b")).toHaveLength(2 ** 20 + 2);
    expect(cpuMs() - started).toBeLessThan(2_000);
  });
});
