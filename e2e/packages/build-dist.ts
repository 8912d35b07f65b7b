import { buildPackages } from "../../tools/package/build-packages.ts";
import { DIST } from "./installed.ts";

/** Runs once, before any test file: the packages that all of them install. */
export default async function buildDist(): Promise<void> {
  await buildPackages(DIST);
}
