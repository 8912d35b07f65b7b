/**
 * Checks the dependencies of this project and of tools/checkers: that each package in package-lock.json is fixed by its hash, that no package
 * has a script or a native build that was not reviewed, and that the Node in node_modules is the known one. Run it with
 * `node tools/supply.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Lock, type Manifest, packageNameOf, readLock, readManifest } from "./lockfile.ts";
import { checkNodeBinaries, NODE_BINARIES, NODE_VERSION } from "./node-binaries.ts";
import { CHECKERS, ROOT } from "./sources.ts";

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/** The problems of the two files, each with a hint. */
export function checkLock(manifest: Manifest, lock: Lock): string[] {
  const complaints: string[] = [];
  const complain = (what: string, wayOut: string) => void complaints.push(`${what}: ${wayOut}`);
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies", "overrides"] as const) {
    for (const [name, version] of Object.entries(manifest[kind])) {
      if (!EXACT.test(version)) {
        complain(`package.json has ${name} ${version} in ${kind}`, "give one exact version");
      }
      if (kind !== "overrides" && lock.packages[""]?.[kind]?.[name] !== version) {
        complain(`package-lock.json does not have ${name} ${version} in ${kind}`, "run npm install");
      }
    }
  }
  const scripted = new Set<string>();
  for (const [folder, found] of Object.entries(lock.packages)) {
    if (folder === "") continue;
    const name = packageNameOf(folder);
    if (!SHA512.test(found.integrity ?? "")) {
      complain(`${folder} has no SHA-512 in package-lock.json`, "remove its entry and run npm install");
    }
    if (!EXACT.test(found.version ?? "") || found.link === true) {
      complain(`${folder} is not a published version`, "take one from the registry");
    }
    if (found.name !== undefined && found.name !== name) {
      complain(`${folder} is another package, ${found.name}`, "install it under its own name");
    }
    if (found.resolved !== undefined) {
      complain(`${folder} names the host it came from`, "run npm install --omit-lockfile-registry-resolved");
    }
    if (found.hasInstallScript === true) scripted.add(name);
  }
  for (const name of scripted) {
    if (manifest.allowScripts[name] === undefined) complain(scriptOf(name), LOOK_AT_SCRIPT);
  }
  for (const name of Object.keys(manifest.allowScripts)) {
    if (!scripted.has(name))
      complain(`allowScripts has ${name}, which has no script`, "remove it from package.json");
  }
  return complaints;
}

const LOOK_AT_SCRIPT =
  "remove the package, or read the script and put it into allowScripts of package.json, false if it need not run";

function scriptOf(name: string): string {
  return `${name} runs a script when it is installed`;
}

/** The manifests of installed packages, independent of the lock file. Those for other platforms are not installed. */
export function checkInstalled({ allowScripts }: Manifest, lock: Lock, root: string): string[] {
  const complaints: string[] = [];
  for (const folder of Object.keys(lock.packages)) {
    const file = join(root, folder, "package.json");
    if (folder === "" || !existsSync(file)) continue;
    const name = packageNameOf(folder);
    const { scripts = {} } = JSON.parse(readFileSync(file, "utf8")) as { scripts?: Record<string, string> };
    if (INSTALL_SCRIPTS.some((script) => script in scripts) && allowScripts[name] === undefined) {
      complaints.push(`${scriptOf(name)}: ${LOOK_AT_SCRIPT}`);
    }
    if (existsSync(join(root, folder, "binding.gyp"))) {
      complaints.push(
        `${folder} has a binding.gyp, which npm compiles against the wrong Node: take a package with a ready binary`,
      );
    }
  }
  return complaints;
}

/** Whether tools/node-binaries.ts has the versions of package.json. */
export function checkNodeVersions({ optionalDependencies }: Manifest): string[] {
  const wanted = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("node-"));
  const known = Object.keys(NODE_BINARIES).filter((name) => optionalDependencies[name] === undefined);
  return [
    ...wanted
      .filter(([name, version]) => version !== NODE_VERSION || NODE_BINARIES[name] === undefined)
      .map(([name, version]) => `tools/node-binaries.ts does not have ${name} ${version}: ${NEW_NODE}`),
    ...known.map((name) => `package.json does not have ${name}: remove it from tools/node-binaries.ts`),
  ];
}

const NEW_NODE = "put in its version and its SHA-256, as CONTRIBUTING.md says";

if (import.meta.main) {
  const [manifest, lock] = await Promise.all([readManifest(), readLock()]);
  const node = await checkNodeBinaries(join(ROOT, "node_modules"));
  const [checkers, checkersLock] = await Promise.all([readManifest(CHECKERS), readLock(CHECKERS)]);
  const complaints = [
    ...checkLock(manifest, lock),
    ...checkInstalled(manifest, lock, ROOT),
    ...checkLock(checkers, checkersLock),
    ...checkInstalled(checkers, checkersLock, CHECKERS),
    ...checkNodeVersions(manifest),
    ...node.complaints,
  ];
  for (const complaint of complaints) console.log(complaint);
  const packages = Object.keys({ ...lock.packages, ...checkersLock.packages }).length - 1;
  const about = node.checked === 0 ? "Node is not from a package here" : `Node ${NODE_VERSION} checked`;
  console.log(`${packages} packages, ${about}, ${complaints.length} complaints`);
  if (complaints.length > 0) process.exitCode = 1;
}
