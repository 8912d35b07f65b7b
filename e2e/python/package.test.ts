import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import { PACKAGE, runPython } from "./python.ts";

const WHEEL = "cairn_tracker-0.1.0-py3-none-any.whl";

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
    expect(files).toEqual([WHEEL, "cairn_tracker-0.1.0.tar.gz"]);
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
        "needed = [one for one in found.requires or [] if 'extra ==' not in one]",
        "print(found.version, needed, [(point.group, point.name) for point in found.entry_points])",
      ].join("\n");
      const used = await runPython(["-S", "-c", program], { path: [target], cwd: folder });
      expect(used.output).toBe("0.1.0 [] [('console_scripts', 'cairn'), ('torchx.tracker', 'cairn')]\n");
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

  it("Y1 needs nothing but Python and is loaded when it is used", async () => {
    const installed = join(folder, `from-${WHEEL}`);
    const program = [
      "import sys",
      "before = set(sys.modules)",
      "import cairn",
      "cairn.init",
      "new = {name.split('.')[0] for name in set(sys.modules) - before}",
      "foreign = sorted(name for name in new if name != 'cairn' and name not in sys.stdlib_module_names)",
      "assert not foreign, foreign",
      "assert not {'http', 'ssl', 'torch', 'numpy', 'torchx'} & new, new",
      "assert cairn.__file__.startswith(sys.argv[1]), cairn.__file__",
      "assert len(new) < 60, len(new)",
      "print('alone')",
    ].join("\n");
    // -S leaves out site-packages: there is nothing else to find.
    const { output } = await runPython(["-S", "-c", program, installed], { path: [installed], cwd: folder });
    expect(output).toBe("alone\n");
  });

  it("Y18 the type hints pass mypy --strict", async () => {
    const { status, output } = await runPython(["-m", "mypy", "--strict"], { cwd: join(folder, "source") });
    expect(status, output).toBe(0);
    expect(output).toContain("no issues found");
  });
});
