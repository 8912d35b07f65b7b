import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { ROOT } from "./sources.ts";

/** Something a suite cannot do without. */
export interface Need {
  name: string;
  isMet(): boolean;
}

export interface Suite {
  name: string;
  config: "vitest.config.ts" | "vitest.e2e.config.ts";
  /** Patterns of its test files. Every test file belongs to exactly one suite. */
  files: readonly string[];
  needs: readonly Need[];
  /** Why it is no failure when CI cannot run it. */
  mayLack?: string;
}

/** The Python that tests use: the one in .venv, made by .ci/run, or else the system's. */
export function pythonCommand(): string {
  const own = join(ROOT, ".venv", "bin", "python");
  return existsSync(own) ? own : "python3";
}

/** A Python with torch, made by .ci/run; or the one CAIRN_TEST_PYTHON names. */
export function torchPythonCommand(): string {
  return process.env["CAIRN_TEST_PYTHON"] ?? join(ROOT, ".venv", "torch", "bin", "python");
}

/** Modules of a nightly build of TorchX, beside the release that `pythonCommand` has. */
export const torchxNightly: string = join(ROOT, ".venv", "torchx-nightly");

function program(name: string): Need {
  return {
    name,
    isMet: () =>
      (process.env["PATH"] ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name))),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function pythonModules(...modules: string[]): Need {
  return modulesOf(pythonCommand, modules);
}

function modulesOf(command: () => string, modules: readonly string[]): Need {
  return {
    name: `python3 with ${modules.join(", ")}`,
    isMet: () => {
      try {
        execFileSync(command(), ["-c", `import ${modules.join(", ")}`], {
          stdio: "ignore",
          timeout: 60_000,
        });
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** A disk that is full must be a small one, mounted where nobody else sees it. */
const OWN_MOUNTS: Need = {
  name: "the right to mount in a namespace of its own (unshare -m, as root)",
  isMet: () => {
    try {
      execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", tmpdir()], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  },
};

const TORCHX_NIGHTLY: Need = { name: "torchx-nightly", isMet: () => existsSync(torchxNightly) };

const LINUX: Need = { name: "Linux", isMet: () => process.platform === "linux" };

/**
 * All suites of `npm test`. Tests that need a program the machine may lack have a folder of their own
 * in e2e/ and a row here; the others stand directly in e2e/.
 */
export const suites: readonly Suite[] = [
  {
    name: "unit",
    config: "vitest.config.ts",
    files: ["{base,core,wire,store,blob,sdk,cli,web,tools}/**/*.test.ts"],
    needs: [],
  },
  { name: "server", config: "vitest.config.ts", files: ["server/**/*.test.ts"], needs: [] },
  { name: "e2e", config: "vitest.e2e.config.ts", files: ["e2e/*.test.ts"], needs: [] },
  { name: "sdk", config: "vitest.e2e.config.ts", files: ["e2e/sdk/**/*.test.ts"], needs: [] },
  // Pseudo-terminals come from both.
  {
    name: "cli",
    config: "vitest.e2e.config.ts",
    files: ["e2e/cli/**/*.test.ts"],
    needs: [pythonModules("pty"), program("script")],
  },
  {
    name: "trackers",
    config: "vitest.e2e.config.ts",
    files: ["e2e/trackers/**/*.test.ts"],
    needs: [pythonModules("torchx", "fsspec", "mlflow", "flask", "sqlalchemy"), TORCHX_NIGHTLY],
  },
  {
    name: "python",
    config: "vitest.e2e.config.ts",
    files: ["e2e/python/*.test.ts"],
    needs: [pythonModules("setuptools", "pip", "mypy"), program("git")],
  },
  {
    name: "python-torchx",
    config: "vitest.e2e.config.ts",
    files: ["e2e/python/torchx/*.test.ts"],
    needs: [pythonModules("torchx", "fsspec", "aiohttp", "setuptools"), TORCHX_NIGHTLY],
  },
  {
    name: "python-torch",
    config: "vitest.e2e.config.ts",
    files: ["e2e/python/torch/*.test.ts"],
    needs: [modulesOf(torchPythonCommand, ["torch", "torchmetrics", "torchx", "setuptools"])],
    mayLack:
      "torch takes 5 GB, most of it for graphics cards; without it e2e/python tries what merely looks like a metric",
  },
  {
    name: "clients",
    config: "vitest.e2e.config.ts",
    files: ["e2e/clients/**/*.test.ts"],
    needs: [program("curl"), pythonModules("grpc", "grpc_tools", "grpc_reflection", "sqlmap")],
  },
  {
    name: "faults",
    config: "vitest.e2e.config.ts",
    files: ["e2e/faults/**/*.test.ts"],
    needs: [program("gcc"), program("strace"), program("nsenter"), OWN_MOUNTS],
  },
  {
    name: "browser",
    config: "vitest.e2e.config.ts",
    files: ["e2e/browser/**/*.test.ts"],
    needs: [program("chromium")],
  },
  // Reads the memory of processes where Linux tells it.
  { name: "aborts", config: "vitest.e2e.config.ts", files: ["e2e/aborts/*.test.ts"], needs: [LINUX] },
  { name: "load", config: "vitest.e2e.config.ts", files: ["e2e/load/**/*.test.ts"], needs: [LINUX] },
];
