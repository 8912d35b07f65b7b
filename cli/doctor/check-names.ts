import { execFile } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { printable } from "../output/text.ts";
import { ok, warn, type Finding } from "./finding.ts";

/**
 * The plain name "cairn" belongs to other projects on npm and PyPI. Whether that name means this program and this
 * client on this machine; nothing foreign is run or imported to find out.
 */
const PYTHON_MS_MAX = 5_000;
const SCRIPT_BYTES_MAX = 4_096;
/** How far the package of a program is above its file. */
const FOLDERS_UP = 4;
/** What pip makes for the entry point of our wheel. */
const OWN_ENTRY = /from cairn\.command import/;

/** The command `cairn` that a shell would find; no finding where there is none. */
export function checkCommand(env: NodeJS.ProcessEnv): Finding[] {
  const file = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "cairn"))
    .find(isProgram);
  if (file === undefined) return [];
  if (isOwnCommand(file)) return [ok("command", file)];
  return [
    warn(
      "command",
      `${printable(file)} is another program with the name cairn`,
      "put the folder with this one before it in PATH, or call this one by its path",
    ),
  ];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isOwnCommand(file: string): boolean {
  if (OWN_ENTRY.test(beginningOf(file))) return true;
  let folder = dirname(realpathSync(file));
  for (let up = 0; up < FOLDERS_UP; up++, folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) continue;
    try {
      const { name, private: isPrivate } = JSON.parse(readFileSync(manifest, "utf8")) as Record<
        string,
        unknown
      >;
      // The checkout has the plain name, too, but is not published.
      return name === "cairn-tracker" || (name === "cairn" && isPrivate === true);
    } catch {
      return false;
    }
  }
  return false;
}

function beginningOf(file: string): string {
  const bytes = Buffer.alloc(SCRIPT_BYTES_MAX);
  const descriptor = openSync(file, "r");
  try {
    return bytes.toString("latin1", 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Finds the package without importing it. A file of ours distinguishes it from other packages with the same name. */
const FIND_PACKAGE = `
import importlib.util, json, os
spec = importlib.util.find_spec("cairn")
places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec else []
own = any(os.path.isfile(os.path.join(place, "torchx_tracker.py")) for place in places)
print(json.dumps({"place": places[0] if places else "", "own": own}))
`;

/** The package `cairn` of the Python that a shell would find; no finding where there is none. */
export async function checkPythonPackage(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let found: { place: string; own: boolean };
  try {
    const { stdout } = await promisify(execFile)("python3", ["-c", FIND_PACKAGE], {
      env,
      // Not a folder where somebody keeps a file cairn.py.
      cwd: "/",
      timeout: PYTHON_MS_MAX,
    });
    found = JSON.parse(stdout) as typeof found;
  } catch {
    // Without Python nothing can be wrong with it.
    return [];
  }
  if (found.place === "") return [];
  if (found.own) return [ok("python package", found.place)];
  return [
    warn(
      "python package",
      `\`import cairn\` loads ${printable(found.place)}, which belongs to another project`,
      "pip uninstall cairn, then install cairn-tracker (the start page of a server has the line)",
    ),
  ];
}
