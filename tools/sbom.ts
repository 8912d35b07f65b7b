/**
 * Writes the components of Cairn as CycloneDX 1.6 (JSON), for scanners: `npm run sbom`, or `npm run sbom -- --out
 * FILE`. The same tree gives the
 * same bytes.
 *
 * It has all runtime components: packages of the server, of the command line and of the TypeScript client, those that
 * are built into
 * the pages, Node itself, and the Python client. Build and test tools are not.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { parse as parseToml } from "smol-toml";

import { findReferences, packageName } from "./layers.ts";
import { type Lock, type LockedPackage, locate, packageNameOf, readLock, readManifest } from "./lockfile.ts";
import { NODE_BINARIES, NODE_VERSION } from "./node-binaries.ts";
import { readSources, ROOT } from "./sources.ts";

export interface Component {
  type: "application" | "library" | "platform";
  "bom-ref": string;
  group?: string;
  name: string;
  version?: string;
  scope?: "required" | "optional";
  hashes?: { alg: "SHA-256" | "SHA-512"; content: string }[];
  licenses?: { expression: string }[];
  cpe?: string;
  purl?: string;
  components?: Component[];
}

export interface Bom {
  bomFormat: "CycloneDX";
  specVersion: "1.6";
  serialNumber: string;
  version: 1;
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface PythonProject {
  name: string;
  version: string;
  license: string;
  dependencies: string[];
}

async function makeBom(): Promise<Bom> {
  const [manifest, lock, python] = await Promise.all([readManifest(), readLock(), readPythonProject()]);
  const { name, version, license } = manifest;
  const root: Component = {
    type: "application",
    "bom-ref": `pkg:generic/${name}@${version}`,
    name,
    version,
    licenses: [{ expression: license }],
    purl: `pkg:generic/${name}@${version}`,
  };
  const roots = new Set([
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.optionalDependencies),
    ...(await packagesOfPages()).filter((used) => manifest.devDependencies[used] !== undefined),
  ]);
  const components = new Map<string, Component>();
  const dependencies = new Map<string, string[]>([[root["bom-ref"], []]]);
  const add = (from: string, by: string, wanted: Iterable<string>): void => {
    for (const one of wanted) {
      const folder = locate(lock, from, one);
      // An optional one that is not installed.
      if (folder === undefined) continue;
      const component = componentOf(folder, lock.packages[folder]!);
      const ref = component["bom-ref"];
      dependencies.get(by)!.push(ref);
      if (components.has(ref)) continue;
      components.set(ref, component);
      dependencies.set(ref, []);
      add(folder, ref, wantedBy(lock, folder));
    }
  };
  add("", root["bom-ref"], roots);
  addPython(python, root["bom-ref"], components, dependencies);
  const body = {
    metadata: { ...timestamp(), component: root },
    components: [...components.values()].sort((a, b) => compare(a["bom-ref"], b["bom-ref"])),
    dependencies: [...dependencies]
      .map(([ref, dependsOn]) => ({ ref, dependsOn: [...new Set(dependsOn)].sort(compare) }))
      .sort((a, b) => compare(a.ref, b.ref)),
  };
  return { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: serialOf(body), version: 1, ...body };
}

/** Packages that the pages import, which are part of the built pages. */
async function packagesOfPages(): Promise<string[]> {
  const sources = await readSources(["web/src/**/*.{ts,tsx}"]);
  const names = [...sources]
    .filter(([file]) => !/\.(?:test|bench)\.tsx?$|\/testing\//.test(file))
    .flatMap(([file, text]) => findReferences(file, text))
    .map(({ specifier }) => packageName(specifier));
  return [...new Set(names)];
}

function wantedBy(lock: Lock, folder: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = lock.packages[folder]!;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

function componentOf(folder: string, { version, integrity, license, optional }: LockedPackage): Component {
  const name = packageNameOf(folder);
  const slash = name.indexOf("/");
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const sha256 = NODE_BINARIES[name];
  return {
    type: "library",
    "bom-ref": purl,
    ...(slash > 0 && { group: name.slice(0, slash) }),
    name: name.slice(slash + 1),
    version: version!,
    scope: optional === true ? "optional" : "required",
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity!.slice(7), "base64").toString("hex") }],
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    purl,
    ...(sha256 !== undefined && { components: [nodeBinary(name, sha256)] }),
  };
}

/** Scanners find it by this: advisories are about Node, not about the npm package. */
function nodeBinary(carrier: string, sha256: string): Component {
  return {
    type: "platform",
    "bom-ref": `${carrier}/bin/node@${NODE_VERSION}`,
    name: "node",
    version: NODE_VERSION,
    hashes: [{ alg: "SHA-256", content: sha256 }],
    licenses: [{ expression: "MIT" }],
    cpe: `cpe:2.3:a:nodejs:node.js:${NODE_VERSION}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${NODE_VERSION}`,
  };
}

async function readPythonProject(): Promise<PythonProject> {
  const file = parseToml(await readFile(join(ROOT, "sdk", "python", "pyproject.toml"), "utf8"));
  return file["project"] as unknown as PythonProject;
}

/** Its dependencies are ranges, so they have a name only. */
function addPython(
  { name, version, license, dependencies: declared }: PythonProject,
  root: string,
  components: Map<string, Component>,
  dependencies: Map<string, string[]>,
): void {
  const client = `pkg:pypi/${name}@${version}`;
  components.set(client, {
    type: "library",
    "bom-ref": client,
    name,
    version,
    scope: "required",
    licenses: [{ expression: license }],
    purl: client,
  });
  dependencies.get(root)!.push(client);
  dependencies.set(client, []);
  for (const requirement of declared) {
    const needed = /^[\w.-]+/
      .exec(requirement)![0]
      .toLowerCase()
      .replace(/[-_.]+/g, "-");
    const purl = `pkg:pypi/${needed}`;
    components.set(purl, { type: "library", "bom-ref": purl, name: needed, scope: "required", purl });
    dependencies.get(client)!.push(purl);
    dependencies.set(purl, []);
  }
}

/** SOURCE_DATE_EPOCH, or else the time of the commit; absent if both are unknown. */
function timestamp(): { timestamp?: string } {
  try {
    const git = () => execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, stdio: "pipe" });
    const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? String(git()));
    return { timestamp: new Date(seconds * 1000).toISOString() };
  } catch {
    return {};
  }
}

/** A UUID (version 8) of the content. */
function serialOf(body: object): string {
  const digest = createHash("sha256").update(JSON.stringify(body)).digest();
  digest[6] = (digest[6]! & 0x0f) | 0x80;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const hex = digest.toString("hex", 0, 16);
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const { values } = parseArgs({ options: { out: { type: "string", default: "cairn.cdx.json" } } });
const bom = await makeBom();
// The folder where npm was called.
const file = resolve(process.env["INIT_CWD"] ?? process.cwd(), values.out);
await writeFile(file, `${JSON.stringify(bom, undefined, 2)}\n`);
console.log(`${bom.components.length} components in ${values.out}`);
