/** Builds the packages that people install: `npm run package`, or `npm run package -- --out FOLDER`. */
import { statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { formatBytes } from "#lang/words/numbers.ts";
import { buildPackages } from "./package/build-packages.ts";
import { ROOT } from "./sources.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: join(ROOT, "dist") } } });
const folder = resolve(values.out);
const start = performance.now();
console.log("Building the packages …");
await buildPackages(folder, (path) =>
  console.log(`${relative(process.cwd(), path)}  ${formatBytes(statSync(path).size)}`),
);
console.log(`Built in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
