/**
 * The wheel of the Python client, from `sdk/python` and its pyproject.toml, as setuptools would build it. Every server
 * offers it for download, so it is built where there may be no Python.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse as parseToml } from "smol-toml";

import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../sources.ts";
import { type Wheel, type WheelMetadata, writeWheel } from "./wheel.ts";

export const CLIENT_FOLDER = join(ROOT, "sdk", "python");

interface PythonProject {
  name: string;
  version: string;
  description: string;
  readme: string;
  "requires-python": string;
  license: string;
  "license-files": string[];
  keywords: string[];
  classifiers: string[];
  dependencies: string[];
  "optional-dependencies": Record<string, string[]>;
  scripts: Record<string, string>;
  "entry-points": Record<string, Record<string, string>>;
  urls?: Record<string, string>;
}

interface Setuptools {
  packages: { find: { include: string[] } };
  /** Files other than modules, by package; `*` is every package. */
  "package-data": Record<string, string[]>;
}

/** Files of `sdk/python` that the wheel is made of, from its top. */
export function clientSources(): string[] {
  const { setuptools } = readProject();
  const { include } = setuptools.packages.find;
  const data = setuptools["package-data"]["*"]!;
  const patterns = include.flatMap((folder) => ["*.py", ...data].map((name) => `${folder}/**/${name}`));
  return globSync(patterns, { cwd: CLIENT_FOLDER })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();
}

/** Writes `cairn_tracker-VERSION-py3-none-any.whl` into the folder and returns its path. */
export async function writeClientWheel(folder: string): Promise<string> {
  const { project } = readProject();
  checkVersions(project);
  const fromClient = (path: string) => [path, { file: join(CLIENT_FOLDER, path) }] as const;
  const wheel: Wheel = {
    metadata: metadataOf(project),
    files: new Map(clientSources().map(fromClient)),
    licenses: new Map(project["license-files"].map(fromClient)),
    entryPoints: { console_scripts: project.scripts, ...project["entry-points"] },
    folder,
  };
  return writeWheel(wheel);
}

function readProject(): { project: PythonProject; setuptools: Setuptools } {
  const file = parseToml(readFileSync(join(CLIENT_FOLDER, "pyproject.toml"), "utf8"));
  const { setuptools } = file["tool"] as unknown as { setuptools: Setuptools };
  return { project: file["project"] as unknown as PythonProject, setuptools };
}

/** package.json has the version; what repeats it must not differ. */
function checkVersions(project: PythonProject): void {
  const { version } = packageJson;
  const module = readFileSync(join(CLIENT_FOLDER, "cairn", "version.py"), "utf8");
  const server = `cairn-tracker-server==${version}`;
  if (project.version !== version) {
    throw new Error(`sdk/python/pyproject.toml has version ${project.version}, package.json ${version}`);
  }
  if (!module.includes(`__version__ = "${version}"`)) {
    throw new Error(`sdk/python/cairn/version.py does not have version ${version} of package.json`);
  }
  if (!project["optional-dependencies"]["server"]?.includes(server)) {
    throw new Error(`sdk/python/pyproject.toml does not name ${server} in the extra "server"`);
  }
}

function metadataOf(project: PythonProject): WheelMetadata {
  return {
    name: project.name,
    version: project.version,
    summary: project.description,
    license: project.license,
    requiresPython: project["requires-python"],
    keywords: project.keywords,
    classifiers: project.classifiers,
    dependencies: project.dependencies,
    extras: project["optional-dependencies"],
    ...(project.urls === undefined ? {} : { urls: project.urls }),
    readme: readFileSync(join(CLIENT_FOLDER, project.readme), "utf8"),
  };
}
