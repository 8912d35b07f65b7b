import { readFileSync } from "node:fs";
import { join } from "node:path";

import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../sources.ts";
import { CLIENT_FOLDER } from "./client-wheel.ts";
import type { PackageFiles } from "./tarball.ts";
import { writeWheel } from "./wheel.ts";

const MODULE = "cairn_tracker_server";
const README = `# cairn-tracker-server

The server and the command line of the Cairn experiment tracker as compiled JavaScript, for the package \`cairn-tracker\`.
Do not install it by itself: \`pip install "cairn-tracker[server]"\` brings it along together with the Node that runs it.
`;

/** Writes `cairn_tracker_server-VERSION-py3-none-any.whl`: the files of `cairn-tracker` as a Python package. */
export async function writeServerWheel(app: PackageFiles, folder: string): Promise<string> {
  const files = new Map<string, Uint8Array>();
  for (const [path, content] of app) files.set(`${MODULE}/app/${path}`, content);
  const module = readFileSync(join(ROOT, "tools", "package", "server_wheel", "__init__.py"), "utf8");
  files.set(`${MODULE}/__init__.py`, Buffer.from(module.replace("VERSION", packageJson.version)));
  files.set(`${MODULE}/py.typed`, Buffer.alloc(0));
  return writeWheel({
    metadata: {
      name: "cairn-tracker-server",
      version: packageJson.version,
      summary: "Server, pages and command line of the Cairn experiment tracker, for cairn-tracker[server].",
      license: packageJson.license,
      requiresPython: ">=3.9",
      readme: README,
    },
    files,
    licenses: new Map([["LICENSE", { file: join(CLIENT_FOLDER, "LICENSE") }]]),
    folder,
  });
}
