import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import { PACKAGE, runPython } from "./python.ts";

let folder: string;

beforeAll(() => {
  folder = makeFolder();
  cpSync(PACKAGE, join(folder, "source"), {
    recursive: true,
    filter: (path) => !/(?:__pycache__|\.egg-info|\/build|\/dist)$/.test(path),
  });
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("what is published", () => {
  it("Y17 a wheel and a source archive can be built, and either can be installed", async () => {
    // The two hooks of PEP 517 that every installer calls.
    const build =
      "import os, setuptools.build_meta as build; os.makedirs('dist', exist_ok=True); print(build.build_sdist('dist')); print(build.build_wheel('dist'))";
    const source = join(folder, "source");
    const built = await runPython(["-c", build], { cwd: source });
    expect(built.status, built.output).toBe(0);
    const files = readdirSync(join(source, "dist")).toSorted();
    expect(files).toEqual(["cairn_tracker-0.1.0-py3-none-any.whl", "cairn_tracker-0.1.0.tar.gz"]);
    for (const file of files) {
      const target = join(folder, `from-${file}`);
      mkdirSync(target);
      const options = ["--no-index", "--no-deps", "--no-build-isolation", "-q", "--target", target];
      const installed = await runPython(["-m", "pip", "install", ...options, join(source, "dist", file)], {
        cwd: folder,
      });
      expect(installed.status, installed.output).toBe(0);
      const program = [
        "import cairn.run, cairn.start, cairn.capture.system, cairn.capture.console, importlib.metadata as metadata",
        "found = metadata.distribution('cairn-tracker')",
        "print(found.version, found.requires, [(point.group, point.name) for point in found.entry_points])",
      ].join("\n");
      const used = await runPython(["-S", "-c", program], { path: [target], cwd: folder });
      expect(used.output).toBe("0.1.0 None [('torchx.tracker', 'cairn')]\n");
      for (const path of [
        "cairn/py.typed",
        "cairn/capture/secret-rules.json",
        "torchx_plugins/tracker/cairn.py",
      ]) {
        expect(readdirSync(join(target, path, "..")), path).toContain(path.split("/").at(-1));
      }
      expect(readdirSync(target)).not.toContain("tests");
      // A namespace package: others put their plugins beside ours.
      expect(readdirSync(join(target, "torchx_plugins"))).not.toContain("__init__.py");
    }
  });

  it("Y18 the type hints pass mypy --strict", async () => {
    const { status, output } = await runPython(["-m", "mypy", "--strict"], { cwd: join(folder, "source") });
    expect(status, output).toBe(0);
    expect(output).toContain("no issues found");
  });
});
